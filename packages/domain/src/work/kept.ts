/**
 * A piece of work as an agent keeps it: what was asked, by whom, how it stands, and who has still
 * to be told. One shape for every place where it is kept.
 */
import type { Refused } from '../decision.ts'
import type { AgentId, HoldId, Instant, OwnerId } from '../ids.ts'
import type { Refusal } from '../refusals.ts'
import { isRemembered } from './idempotency.ts'
import type { EndReported } from './result.ts'
import { endOf, type Work, type WorkState } from './work.ts'

/** Through which door it was asked for: its answers and its result go out in the same words. */
export type Door = 'openclaw' | 'chorus' | 'skill'

/**
 * How the requester is known. `hold`: nobody signed, and the hub has a hold for exactly this task,
 * whose name only its payer could know; `open`: the hub asks nobody for proof.
 */
export type Proof = 'signed' | 'hold' | 'open'

export type Requester = {
  /** What the work is asked under, and whose keys are remembered: an agent, or an owner. */
  readonly name: string
  readonly proof: Proof
  readonly agent?: AgentId
  readonly owner?: OwnerId
}

/** Something that somebody has still to be told, or could not be. */
export type Letter = {
  /** The same at each attempt, so that a receiver knows one that it has had. */
  readonly id: string
  readonly says: 'answer' | 'result'
  readonly to: 'hub' | 'callback' | 'bus'
  readonly attempts: number
  readonly nextAt: Instant
  /** Why it was given up. */
  readonly lost?: string
}

export type KeptWork = {
  /** `scopeKey` of requester, responder and key. */
  readonly scope: string
  readonly door: Door
  readonly requester: Requester
  readonly work: Work
  readonly input: Readonly<Record<string, unknown>>
  /** The version that was resolved when it was taken on. */
  readonly skill: string
  readonly durationMs: number
  readonly callback?: string
  /** It was asked for on the bus, and what becomes of it is said there. */
  readonly bus?: true
  readonly hold?: HoldId
  /** What was wrong, of work that was refused. */
  readonly refused?: Refused<Refusal>
  /** How it ended, with the output. */
  readonly report?: EndReported
  readonly letters: readonly Letter[]
  readonly forgetAt?: Instant
}

/** It was turned away for something that may pass: the same ask is decided anew (OC-12). */
export function isOpenAgain({ work: { state } }: KeptWork): boolean {
  return state.name === 'refused' && !isRemembered(state.refusal)
}

/** There is nothing more to do, though somebody may have still to be told. */
export function isOver(state: WorkState): boolean {
  return endOf(state) !== undefined || state.name === 'refused'
}

/** It has not ended, or somebody has still to be told. */
export function isUnfinished({ work: { state }, letters }: KeptWork): boolean {
  return !isOver(state) || letters.some(({ lost }) => lost === undefined)
}

/** Somebody could not be told, and nobody tries any more. */
export function hasLostLetter({ letters }: KeptWork): boolean {
  return letters.some(({ lost }) => lost !== undefined)
}

/** Nobody is at it: it waits for a slot or for a person, so that another may as well have it. */
export function isUnbegun({ name }: WorkState): boolean {
  return name === 'deferred' || name === 'awaiting' || name === 'accepted'
}
