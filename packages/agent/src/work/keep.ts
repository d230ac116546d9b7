/**
 * What is kept of work, so that nothing runs twice, no promised result is lost, and a repeat finds
 * what was answered (OC-12, P-4). The store's `Keep` fits this port as it is.
 *
 *   K1  One piece of work under one scope: of two that are entered at once, one is kept and the
 *       other finds it.
 *   K2  What has a time to be forgotten is forgotten then, and not before; what has none stays.
 *   K3  Nothing that must be remembered is dropped for room: when there is none, that is said.
 *   K4  Where instances share it, each unfinished piece of work is in the hands of one of them.
 *       Whoever lost it and saves it is told so, and changes nothing.
 */
import type { AgentId, TaskId, WorkId } from '@chimera/domain/ids'
import type { KeptWork } from '@chimera/domain/work/kept'
import type { Soon } from '@chimera/skill/soon'

export type { Door, KeptWork, Letter, Requester } from '@chimera/domain/work/kept'
export { isOpenAgain, isOver, isUnfinished } from '@chimera/domain/work/kept'

export type Keep = {
  /** Whether it outlives the process: then what runs at a stop is left for the next one. */
  readonly durable: boolean
  readonly find: (scope: string) => Soon<KeptWork | undefined>
  readonly byWork: (id: WorkId) => Soon<KeptWork | undefined>
  /** The latest under this name; two requesters may use the same. */
  readonly byTask: (task: TaskId, requester?: string) => Soon<KeptWork | undefined>
  /** Undefined: it is kept now. Else what was there before, unless that is open again. */
  readonly enter: (kept: KeptWork) => Soon<KeptWork | undefined>
  /**
   * Enters work that may run again, so that it can begin while it is written down: what ends in
   * the meantime is one change and not two. Its scope is taken at once, and nobody finds it before
   * `kept` says that it is; if that fails, it was never there. Undefined: it goes the usual way.
   */
  readonly enterEarly?: (kept: KeptWork) => { readonly kept: Promise<void> } | undefined
  /** `lost`: it is in other hands by now (K4). */
  readonly save: (kept: KeptWork) => Soon<'saved' | 'lost'>
  /** What has not ended, and what somebody has still to be told, the oldest first. */
  readonly unfinished: () => Promise<readonly KeptWork[]>
  /** What has a letter that was given up. */
  readonly lost: () => Promise<readonly KeptWork[]>
  /** Where many agents share it: the part of this one, in the hands of a new instance. */
  readonly of?: (agent: AgentId) => Keep
  readonly shared?: Shared
}

/** Several instances of one agent on one keep. */
export type Shared = {
  /** Who has said nothing for so long has died, and its work goes to others. */
  readonly leaseMs: number
  /**
   * Says that this instance lives; due some times in each lease. What it does not know to have
   * (`knows`), twice in a row, was given to it by an answer that got lost, and is for others.
   */
  readonly renew: (knows: (id: WorkId) => boolean) => Promise<Renewed>
  /** What dead instances left, and so many at most that living ones have not begun. */
  readonly takeOver: (room: number) => Promise<readonly Taken[]>
  /** Takes this one into one's hands, unless another instance is at it. */
  readonly take: (id: WorkId) => Promise<KeptWork | undefined>
  /** Whoever is at it is to cancel it: it hears so at its next renewal. */
  readonly wishCancelled: (id: WorkId) => Promise<void>
  /** Nothing here is in anybody's hands any more, and others may have it at once. */
  readonly leave: () => Promise<void>
}

export type Taken = {
  readonly kept: KeptWork
  /** Somebody wished it cancelled when another one was at it. */
  readonly cancel: boolean
}

export type Renewed = {
  /** What was in one's hands and is in others' now. */
  readonly lost: readonly WorkId[]
  /** What is to be cancelled. */
  readonly cancel: readonly WorkId[]
}

/** There is no room for another piece of work. */
export class KeepFull extends Error {
  override readonly name = 'KeepFull'
  readonly code = 'keep_full'
}
