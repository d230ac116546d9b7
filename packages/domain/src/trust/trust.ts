/**
 * Standing: what an agent's settled work says about it, as two scores of the same outcomes.
 *
 *   T1  Nothing but an outcome moves a standing, and every move says why.
 *   T2  The hirer's score is the one before the settlement; the hirer's own standing does not move.
 *   T3  Whoever has the outcomes in their order arrives at the same standings (P-2): a standing
 *       holds no figure that is not derived from them.
 */
import type { AgentId } from '../ids.ts'
import type { FailureCause } from '../work/work.ts'
import { countsForRunning, countsForWindow, type Outcome, type Uncounted } from './outcome.ts'
import {
  addCounted,
  NO_PAIR_HISTORY,
  type PairHistory,
  pairKey,
  TRUST_RULES,
  type TrustRules,
} from './pair-limit.ts'
import {
  applyFailure,
  applySuccess,
  HIGHEST_MICRO,
  NO_RUNNING,
  type RunningRecord,
} from './running-score.ts'
import {
  applyToWindow,
  measureWindow,
  NO_WINDOW,
  type WindowRecord,
  windowScore,
} from './window-score.ts'

export type Standing = {
  readonly window: WindowRecord
  readonly running: RunningRecord
}
export const NEWCOMER: Standing = { window: NO_WINDOW, running: NO_RUNNING }

export type MoveReason =
  | 'done'
  | 'done_late'
  | `failed_${FailureCause}`
  /** Counted as a newcomer's, since no registered agent hired. */
  | 'hirer_unregistered'
  /** The score now stands at the end of its scale. */
  | 'highest_reached'
  | 'lowest_reached'
  /** The window was full: its oldest outcome no longer counts. */
  | 'oldest_left'
  | Uncounted

/** What an outcome did to one score; the reasons of a move that did not count say why not. */
export type Move = {
  readonly counted: boolean
  readonly beforeMicro: number
  readonly afterMicro: number
  readonly reasons: readonly MoveReason[]
}

export type Moved = {
  readonly standing: Standing
  readonly pair: PairHistory
  readonly window: Move
  readonly running: Move
}

/** `hirerMicro` and `pair` as they are before this outcome, which may say by which rules. */
export function applyOutcome(
  standing: Standing,
  outcome: Outcome,
  hirerMicro: number | undefined,
  pair: PairHistory,
  otherwise: TrustRules = TRUST_RULES,
): Moved {
  const { rules = otherwise } = outcome
  const window = moveWindow(standing.window, outcome)
  const running = moveRunning(standing.running, { outcome, hirerMicro, pair, rules })
  const paired = running.move.counted && outcome.ending.how === 'done'
  return {
    standing: { window: window.record, running: running.record },
    pair: paired ? addCounted(pair, outcome.settledAt, rules) : pair,
    window: window.move,
    running: running.move,
  }
}

/** All standings, and how much of each pair's limit is used up. */
export type TrustBook = {
  readonly standings: ReadonlyMap<AgentId, Standing>
  readonly pairs: ReadonlyMap<string, PairHistory>
}

/** For auditors: the whole book from the trail. An agent that is not in it is a newcomer. */
export function recomputeScores(
  outcomes: Iterable<Outcome>,
  rules: TrustRules = TRUST_RULES,
): TrustBook {
  const standings = new Map<AgentId, Standing>()
  const pairs = new Map<string, PairHistory>()
  for (const outcome of outcomes) {
    const { agent, hirerAgent } = outcome
    const hirer = hirerAgent === undefined ? undefined : (standings.get(hirerAgent) ?? NEWCOMER)
    const key = pairKey(outcome)
    const moved = applyOutcome(
      standings.get(agent) ?? NEWCOMER,
      outcome,
      hirer?.running.scoreMicro,
      pairs.get(key) ?? NO_PAIR_HISTORY,
      rules,
    )
    standings.set(agent, moved.standing)
    if (moved.pair.countedAt.length > 0) pairs.set(key, moved.pair)
  }
  return { standings, pairs }
}

type Moving<Kept> = { readonly record: Kept; readonly move: Move }

function moveWindow(before: WindowRecord, outcome: Outcome): Moving<WindowRecord> {
  const beforeMicro = windowScore(measureWindow(before))
  const counting = countsForWindow(outcome)
  if (!counting.counts) return { record: before, move: still(beforeMicro, counting.why) }

  const record = applyToWindow(before, outcome)
  const late = outcome.ending.how === 'done' && record.recent.at(-1)?.onTime === false
  const reasons: MoveReason[] = [late ? 'done_late' : endingReason(outcome)]
  if (record.recent.length === before.recent.length) reasons.push('oldest_left')
  const afterMicro = windowScore(measureWindow(record))
  return { record, move: { counted: true, beforeMicro, afterMicro, reasons } }
}

type Hiring = {
  readonly outcome: Outcome
  readonly hirerMicro: number | undefined
  readonly pair: PairHistory
  readonly rules: TrustRules
}

function moveRunning(before: RunningRecord, hiring: Hiring): Moving<RunningRecord> {
  const { outcome, hirerMicro, pair, rules } = hiring
  const counting = countsForRunning(outcome, pair, rules)
  if (!counting.counts) return { record: before, move: still(before.scoreMicro, counting.why) }

  const reasons: MoveReason[] = [endingReason(outcome)]
  const done = outcome.ending.how === 'done'
  if (done && hirerMicro === undefined) reasons.push('hirer_unregistered')
  const record = done ? applySuccess(before, hirerMicro) : applyFailure(before)
  if (record.scoreMicro === HIGHEST_MICRO) reasons.push('highest_reached')
  if (record.scoreMicro === 0) reasons.push('lowest_reached')
  const { scoreMicro: beforeMicro } = before
  return {
    record,
    move: { counted: true, beforeMicro, afterMicro: record.scoreMicro, reasons },
  }
}

function endingReason({ ending }: Outcome): MoveReason {
  if (ending.how === 'failed') return `failed_${ending.cause}`
  return ending.how
}

const still = (micro: number, why: Uncounted): Move => ({
  counted: false,
  beforeMicro: micro,
  afterMicro: micro,
  reasons: [why],
})
