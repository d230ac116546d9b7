/**
 * What an outcome did to the scores of an agent, told with its reasons: which work, for whom, how
 * it ended, and for each score whether it counted, why not, and what it was before and after.
 *
 *   H1  A change follows from the trail alone: whoever follows it has the same changes (P-2).
 *   H2  Of each agent the latest are kept, so many and no more. Older ones are in the trail.
 */
import type { AgentId, CorrelationId, Instant, OwnerId, WorkId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import type { Ending, Outcome } from './outcome.ts'
import type { Move, Moved } from './trust.ts'

export type ScoreChange = {
  /** Of the fact that completed the outcome. */
  readonly seq: number
  readonly correlation: CorrelationId
  readonly at: Instant
  readonly agent: AgentId
  readonly work: WorkId
  readonly hirerOwner: OwnerId
  /** Absent when the hirer is not a registered agent. */
  readonly hirerAgent?: AgentId
  readonly ending: Ending
  readonly window: Move
  readonly running: Move
}

export function changeOf(
  outcome: Outcome,
  { window, running }: Moved,
  cause: { readonly seq: number; readonly correlation: CorrelationId },
): ScoreChange {
  const { agent, work, hirerOwner, hirerAgent, ending, settledAt } = outcome
  return {
    ...cause,
    at: settledAt,
    agent,
    work,
    hirerOwner,
    ...(hirerAgent === undefined ? {} : { hirerAgent }),
    ending,
    window,
    running,
  }
}

/** Oldest first. */
export function keepLatest(
  kept: readonly ScoreChange[],
  change: ScoreChange,
): readonly ScoreChange[] {
  return [...kept.slice(1 - LIMITS.scoreChanges), change]
}

export type ChangePage = {
  /** Latest first. */
  readonly changes: readonly ScoreChange[]
  /** Where the next page goes on; absent on the last one. */
  readonly nextBefore?: number
}

/** The latest that stand before this fact, or the latest of all. */
export function pageOf(
  kept: readonly ScoreChange[],
  {
    before = Number.POSITIVE_INFINITY,
    limit,
  }: { readonly before?: number; readonly limit: number },
): ChangePage {
  const left = kept.filter(({ seq }) => seq < before)
  const changes = left.slice(-limit).reverse()
  const last = changes.at(-1)
  return left.length > changes.length && last !== undefined
    ? { changes, nextBefore: last.seq }
    : { changes }
}
