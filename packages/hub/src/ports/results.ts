/** Results of work, their content for as long as it is kept, and what else work leaves behind. */
import type { AgentId, HoldId, Instant, OwnerId, TaskId, WorkId } from '@chimera/domain/ids'
import type { Hold, Movement } from '@chimera/domain/money/ledger'
import type { EndReported, Result, ResultRecorded } from '@chimera/domain/work/result'
import type { KeptReservation } from './slots.ts'

export type KeptResult = Result & {
  /** Absent when it was deleted. */
  readonly report?: EndReported
  /** When the books are next asked for it; absent when nothing is owed. */
  readonly settleAt?: Instant
}

export type ResultName = { readonly agent: AgentId; readonly work: WorkId }

export type ResultQuery = {
  readonly agent: AgentId
  readonly work?: WorkId
  readonly task?: TaskId
  /** Only those that this owner's agents gave or asked for. */
  readonly party?: OwnerId
  readonly before?: { readonly recordedAt: Instant; readonly work: WorkId }
  readonly limit: number
}

/** Everything under one key that concerns one party, each the latest first. */
export type WorkTraces = {
  readonly holds: readonly Hold[]
  readonly results: readonly KeptResult[]
  readonly payments: readonly Movement[]
  readonly reservations: readonly KeptReservation[]
}

export type Results = {
  readonly find: (name: ResultName) => Promise<KeptResult | undefined>
  /** Together with its fact; answers whether it was the first under its name. */
  readonly record: (result: KeptResult, fact: ResultRecorded) => Promise<boolean>
  /** Those that still have their content, the latest first. */
  readonly list: (query: ResultQuery) => Promise<readonly KeptResult[]>
  /** Notes the hold, and when the books are asked (again); never, when that is left out. */
  readonly owe: (
    name: ResultName,
    owed: { readonly hold?: HoldId; readonly settleAt?: Instant },
  ) => Promise<void>
  readonly unsettled: (now: Instant, limit: number) => Promise<readonly KeptResult[]>
  readonly deleteContent: (name: ResultName) => Promise<void>
  /** Of what was recorded before; answers how many. */
  readonly deleteContentBefore: (at: Instant) => Promise<number>
  /** Whatever was held for an agent under these names, what stands first. */
  readonly holdsFor: (agent: AgentId, tasks: readonly TaskId[]) => Promise<readonly Hold[]>
  /** By the key of its requester; of everybody if no party is named. */
  readonly trace: (sought: {
    readonly task: TaskId
    readonly party?: OwnerId
  }) => Promise<WorkTraces>
}
