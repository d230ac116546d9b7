/**
 * Both scores of every agent, read from the sealed trail and from nothing else, so that whoever has
 * the trail gets the same (P-2, P-10).
 *
 *   V1  Facts are taken in the order of the chain, each once.
 *   V2  The view can be thrown away: following the trail from its beginning gives it again (A3).
 */
import type { Sealed } from '@chimera/domain/audit'
import type { AgentId } from '@chimera/domain/ids'
import { NO_PAIR_HISTORY, type PairHistory, pairKey } from '@chimera/domain/trust/pair-limit'
import {
  openMemory,
  readOutcome,
  type TrailMemory,
  type TrustFact,
} from '@chimera/domain/trust/trail'
import { applyOutcome, NEWCOMER, type Standing } from '@chimera/domain/trust/trust'

export type Scores = {
  readonly standingOf: (agent: AgentId) => Standing
  /** Takes the next facts of the chain. */
  readonly follow: (sealed: readonly Sealed<unknown>[]) => void
  /** The last fact that was taken. */
  readonly seq: () => number
  readonly memory: TrailMemory
}

export function createScores(): Scores {
  const standings = new Map<AgentId, Standing>()
  const pairs = new Map<string, PairHistory>()
  const memory = openMemory()
  let seq = 0

  const standingOf = (agent: AgentId): Standing => standings.get(agent) ?? NEWCOMER

  return {
    standingOf,
    follow(sealed) {
      for (const { seq: next, fact } of sealed) {
        if (next <= seq) continue
        seq = next
        // Facts of other kinds stand in the chain too; they are passed over.
        const outcome = readOutcome(memory, fact as TrustFact)
        if (outcome === undefined) continue
        const { agent, hirerAgent } = outcome
        const hirer = hirerAgent === undefined ? undefined : standingOf(hirerAgent)
        const key = pairKey(outcome)
        const pair = pairs.get(key) ?? NO_PAIR_HISTORY
        const moved = applyOutcome(standingOf(agent), outcome, hirer?.running.scoreMicro, pair)
        standings.set(agent, moved.standing)
        pairs.set(key, moved.pair)
      }
    },
    seq: () => seq,
    memory,
  }
}
