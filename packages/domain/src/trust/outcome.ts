/**
 * An outcome: how a piece of work ended once it is settled, and which scores hear of it.
 *
 *   O1  Only outcomes move scores. What others say about an agent is not among the fields (P-2).
 *   O2  An outcome comes of settled work alone: a refusal, and work still open, yield none.
 *   O3  Work is settled once (CH-8), so there is one outcome of it and nothing here looks for more.
 *   O4  Cancelled work counts nowhere.
 *   O5  The window counts all the rest, within one owner too; the running score counts between
 *       different owners: every failure, and the successes that were paid for and that the limit
 *       per pair of owners still has room for (CH-12).
 */
import type { AgentId, Instant, OwnerId, WorkId } from '../ids.ts'
import type { Ended, FailureCause, Work } from '../work/work.ts'
import { hasRoom, type PairHistory, type TrustRules } from './pair-limit.ts'

/** The causes of a failure are all the agent's own doing: its word, its deadline, its silence. */
export type Ending =
  | { readonly how: 'done' }
  | { readonly how: 'failed'; readonly cause: FailureCause }
  | { readonly how: 'cancelled' }

export type Outcome = {
  readonly work: WorkId
  readonly agent: AgentId
  readonly owner: OwnerId
  readonly hirerOwner: OwnerId
  /** The agent that hired; absent when the hirer is not a registered agent. */
  readonly hirerAgent?: AgentId
  readonly ending: Ending
  /** What was captured, the fee included; 0 when nothing was. */
  readonly priceCents: number
  readonly receivedAt: Instant
  /** When the first answer went out: response time runs from receipt to here (OC-7). */
  readonly respondedAt: Instant
  readonly endedAt: Instant
  /** By the hub's clock, never the agent's: a date of its own choosing would stretch the limit. */
  readonly settledAt: Instant
  readonly deadline?: Instant
  readonly estimatedEnd?: Instant
  /** That were in force when it was settled; absent where the trail has set none. */
  readonly rules?: TrustRules
}

/** What the work itself does not say, or no longer says once it has ended. */
export type Circumstances = Pick<
  Outcome,
  'owner' | 'hirerOwner' | 'hirerAgent' | 'respondedAt' | 'settledAt' | 'estimatedEnd'
>

export function outcomeOf(work: Work, circumstances: Circumstances): Outcome | undefined {
  const { ask, state } = work
  if (state.name !== 'settled') return undefined
  const outcome = {
    ...circumstances,
    work: ask.work,
    agent: ask.agent,
    ending: endingOf(state.end),
    priceCents: state.capturedCents,
    receivedAt: ask.askedAt,
    endedAt: state.end.endedAt,
  }
  return ask.deadline === undefined ? outcome : { ...outcome, deadline: ask.deadline }
}

export type Uncounted = 'cancelled' | 'same_owner' | 'unpaid' | 'pair_limit'
export type Counting =
  | { readonly counts: true }
  | { readonly counts: false; readonly why: Uncounted }

export function countsForWindow({ ending }: Pick<Outcome, 'ending'>): Counting {
  return ending.how === 'cancelled' ? leaves('cancelled') : COUNTS
}

/** Strongest reason first. `pair` is the history of the hirer's owner with the agent's. */
export function countsForRunning(outcome: Outcome, pair: PairHistory, rules: TrustRules): Counting {
  const { ending, owner, hirerOwner, priceCents, settledAt } = outcome
  if (ending.how === 'cancelled') return leaves('cancelled')
  if (owner === hirerOwner) return leaves('same_owner')
  if (ending.how === 'failed') return COUNTS
  if (priceCents <= 0) return leaves('unpaid')
  if (!hasRoom(pair, settledAt, rules)) return leaves('pair_limit')
  return COUNTS
}

const COUNTS: Counting = { counts: true }
const leaves = (why: Uncounted): Counting => ({ counts: false, why })

function endingOf(end: Ended): Ending {
  switch (end.name) {
    case 'done':
      return { how: 'done' }
    case 'failed':
      return { how: 'failed', cause: end.cause }
    case 'cancelled':
      return { how: 'cancelled' }
  }
}
