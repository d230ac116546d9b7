/**
 * What an export of the trail claims beside the facts: how far the chain goes, every balance and
 * every score. It is not sealed; it is there to be held against what follows from the facts (P-10).
 */
import type { Head } from './audit.ts'
import type { AgentId } from './ids.ts'
import type { Side } from './money/ledger.ts'
import type { Standing } from './trust/trust.ts'
import { measureWindow, windowScore } from './trust/window-score.ts'

/** The first thing that an export says of itself. */
export const AUDIT_FORMAT = 'chimera-audit-1'

/** In millionths: of a point the running one, of one the window's. */
export type Score = { readonly runningMicro: number; readonly windowMicro: number }
export type Scores = ReadonlyMap<AgentId, Score>

export type Claims = {
  readonly head: Head
  readonly balances: ReadonlyMap<Side, number>
  readonly scores: Scores
}

/** The value of an export's first line. */
export const claimsValue = ({ head, balances, scores }: Claims): object => ({
  format: AUDIT_FORMAT,
  head: { seq: head.seq, hash: head.hash },
  balances: Object.fromEntries(balances),
  scores: Object.fromEntries(scores),
})

export function scoresOf(standings: ReadonlyMap<AgentId, Standing>): Scores {
  return new Map(
    [...standings].map(([agent, { running, window }]) => [
      agent,
      { runningMicro: running.scoreMicro, windowMicro: windowScore(measureWindow(window)) },
    ]),
  )
}
