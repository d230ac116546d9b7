/**
 * What is kept of work, so that nothing runs twice, no promised result is lost, and a repeat finds
 * what was answered (OC-12, P-4).
 *
 *   K1  One piece of work under one scope: of two that are entered at once, one is kept and the
 *       other finds it.
 *   K2  What has a time to be forgotten is forgotten then, and not before; what has none stays.
 *   K3  Nothing that must be remembered is dropped for room: when there is none, that is said.
 */
import type { Refused } from '@chimera/domain/decision'
import type { AgentId, HoldId, Instant, OwnerId, TaskId, WorkId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { isRemembered } from '@chimera/domain/work/idempotency'
import type { EndReported } from '@chimera/domain/work/result'
import { endOf, type Work } from '@chimera/domain/work/work'

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
  readonly to: 'hub' | 'callback'
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
  readonly hold?: HoldId
  /** What was wrong, of work that was refused. */
  readonly refused?: Refused<Refusal>
  /** How it ended, with the output. */
  readonly report?: EndReported
  readonly letters: readonly Letter[]
  readonly forgetAt?: Instant
}

export type Keep = {
  /** Whether it outlives the process: then what runs at a stop is left for the next one. */
  readonly durable: boolean
  readonly find: (scope: string) => Promise<KeptWork | undefined>
  readonly byWork: (id: WorkId) => Promise<KeptWork | undefined>
  /** The latest under this name; two requesters may use the same. */
  readonly byTask: (task: TaskId, requester?: string) => Promise<KeptWork | undefined>
  /** Undefined: it is kept now. Else what was there before, unless that is open again. */
  readonly enter: (kept: KeptWork) => Promise<KeptWork | undefined>
  readonly save: (kept: KeptWork) => Promise<void>
  /** What has not ended, and what somebody has still to be told, the oldest first. */
  readonly unfinished: () => Promise<readonly KeptWork[]>
  /** What has a letter that was given up. */
  readonly lost: () => Promise<readonly KeptWork[]>
}

/** It was turned away for something that may pass: the same ask is decided anew (OC-12). */
export function isOpenAgain({ work: { state } }: KeptWork): boolean {
  return state.name === 'refused' && !isRemembered(state.refusal)
}

/** It has not ended, or somebody has still to be told. */
export function isUnfinished({ work: { state }, letters }: KeptWork): boolean {
  const isOver = endOf(state) !== undefined || state.name === 'refused'
  return !isOver || letters.some(({ lost }) => lost === undefined)
}

/** There is no room for another piece of work. */
export class KeepFull extends Error {
  override readonly name = 'KeepFull'
  readonly code = 'keep_full'
}
