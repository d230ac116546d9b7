/**
 * Both scores of every agent with the reasons of their latest changes, read from the sealed trail
 * and from nothing else, so that whoever has the trail gets the same (P-2, P-10).
 *
 *   V1  Facts are taken in the order of the chain, each once.
 *   V2  The view can be thrown away: following the trail from its beginning gives it again (A3).
 *   V3  A hirer that is an agent counts with its score before the settlement (CH-10).
 */
import type { Sealed } from '@chimera/domain/audit'
import type { AgentId } from '@chimera/domain/ids'
import { changeOf, keepLatest, type ScoreChange } from '@chimera/domain/trust/change'
import {
  NO_PAIR_HISTORY,
  type PairHistory,
  pairKey,
  TRUST_RULES,
  type TrustRules,
} from '@chimera/domain/trust/pair-limit'
import {
  openMemory,
  readOutcome,
  type TrailMemory,
  type TrustFact,
} from '@chimera/domain/trust/trail'
import { applyOutcome, NEWCOMER, type Standing } from '@chimera/domain/trust/trust'
import type { WindowRecord } from '@chimera/domain/trust/window-score'

/** A change, and the window as it stood right after it. */
export type ScoreMoved = { readonly change: ScoreChange; readonly window: WindowRecord }

export type Scores = {
  readonly standingOf: (agent: AgentId) => Standing
  /** The latest changes of its scores, oldest first. */
  readonly changesOf: (agent: AgentId) => readonly ScoreChange[]
  /** Takes the next facts of the chain; answers what they changed. */
  readonly follow: (sealed: readonly Sealed<unknown>[]) => readonly ScoreMoved[]
  /** The last fact that was taken. */
  readonly seq: () => number
  readonly memory: TrailMemory
  /** By which outcomes are counted from here on. */
  readonly rules: () => TrustRules
}

export function createScores(): Scores {
  const standings = new Map<AgentId, Standing>()
  const changes = new Map<AgentId, readonly ScoreChange[]>()
  const pairs = new Map<string, PairHistory>()
  const memory = openMemory()
  let seq = 0

  const standingOf = (agent: AgentId): Standing => standings.get(agent) ?? NEWCOMER
  const changesOf = (agent: AgentId): readonly ScoreChange[] => changes.get(agent) ?? []

  function take(sealed: Sealed<unknown>): ScoreMoved | undefined {
    // Facts of other kinds stand in the chain too; they are passed over.
    const outcome = readOutcome(memory, sealed.fact as TrustFact)
    if (outcome === undefined) return undefined
    const { agent, hirerAgent } = outcome
    const hirer = hirerAgent === undefined ? undefined : standingOf(hirerAgent)
    const key = pairKey(outcome)
    const pair = pairs.get(key) ?? NO_PAIR_HISTORY
    const moved = applyOutcome(standingOf(agent), outcome, hirer?.running.scoreMicro, pair)
    const { correlation } = sealed
    const change = changeOf(outcome, moved, { seq: sealed.seq, correlation })
    standings.set(agent, moved.standing)
    changes.set(agent, keepLatest(changesOf(agent), change))
    if (moved.pair.countedAt.length > 0) pairs.set(key, moved.pair)
    return { change, window: moved.standing.window }
  }

  return {
    standingOf,
    changesOf,
    follow(sealed) {
      const all: ScoreMoved[] = []
      for (const each of sealed) {
        if (each.seq <= seq) continue
        seq = each.seq
        const moved = take(each)
        if (moved !== undefined) all.push(moved)
      }
      return all
    },
    seq: () => seq,
    memory,
    rules: () => memory.rules ?? TRUST_RULES,
  }
}
