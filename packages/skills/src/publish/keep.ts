/**
 * What a publisher must not forget: one record for each content on each platform, from the used
 * approval to the post. A port, and the one in memory; the store's `createPlanned` and the file
 * beside this are others.
 *
 *   K1  A record is changed only over the version that the changer has read, so that one of several
 *       instances has it in hand.
 *   K2  Records are never taken away: that content is out is known for ever.
 */
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { PublishPlatform } from '@chimera/dialects/skills/words'
import type { Digest, Instant } from '@chimera/domain/ids'
import type { ApprovalUsed } from '../approvals/desk.ts'
import type { Posted } from './platform.ts'

/**
 * `ready`: nothing was handed over, or the platform surely has nothing. `sending`: somebody has it
 * in hand until its lease is over, and after that nobody knows. `unknown`: nobody knows, and the
 * platform is asked. `posted` and `failed` are ends; from `failed` a new approval leads on.
 */
export type Stage = 'ready' | 'sending' | 'unknown' | 'posted' | 'failed'

export type Planned = {
  readonly stage: Stage
  readonly content: ContentPackage
  readonly bytes: Digest
  readonly platform: PublishPlatform
  readonly scheduledAt?: Instant
  readonly acceptedAt: Instant
  readonly approval: ApprovalUsed
  /** The digest of the approval's token: a repeat with the same one need not be judged again. */
  readonly token: Digest
  /** How often the platform said no, or could not say. */
  readonly failures: number
  readonly holder?: string
  readonly leaseUntil?: Instant
  /** When it was last handed over. */
  readonly sentAt?: Instant
  readonly posted?: KeptPost
}

export type KeptPost = Posted & { readonly publishedAt: Instant }

export type PlannedRecord = {
  readonly key: string
  readonly version: number
  /** When somebody must look at it; absent: nobody must. */
  readonly wakeAt?: Instant
  readonly kept: Planned
}

export type PublicationKeep = {
  /** Whose plan it is, for as long as the records last; part of the name of an approval's use. */
  readonly planner: string
  readonly find: (key: string) => Promise<PlannedRecord | undefined>
  /** The one that is there: this one, unless there was one. */
  readonly add: (record: Omit<PlannedRecord, 'version'>) => Promise<PlannedRecord>
  /** K1: undefined where the version is no longer the present one. */
  readonly change: (record: PlannedRecord) => Promise<PlannedRecord | undefined>
  /** Whose time has come, the longest due first. */
  readonly due: (now: Instant, limit: number) => Promise<readonly PlannedRecord[]>
}

/** Where the records of one process lie. */
export type Shelf = {
  readonly find: (key: string) => Promise<PlannedRecord | undefined>
  /** It counts once this is done. */
  readonly put: (record: PlannedRecord) => Promise<void>
  /** Whatever somebody must look at, now or later. */
  readonly awake: () => Iterable<PlannedRecord>
}

/** For as long as the process lasts. */
export function createMemoryKeep({ planner }: { readonly planner: string }): PublicationKeep {
  const records = new Map<string, PlannedRecord>()
  return keepOn(planner, {
    find: async (key) => records.get(key),
    put: async (record) => void records.set(record.key, record),
    awake: () => records.values(),
  })
}

export function keepOn(planner: string, shelf: Shelf): PublicationKeep {
  // One after another: what is being written is not yet there for the next.
  let turn: Promise<unknown> = Promise.resolve()
  function inTurn<Value>(run: () => Promise<Value>): Promise<Value> {
    const next = turn.then(run)
    turn = next.catch(() => undefined)
    return next
  }
  async function put(record: PlannedRecord): Promise<PlannedRecord> {
    await shelf.put(record)
    return record
  }

  return {
    planner,
    find: shelf.find,
    add: (record) =>
      inTurn(async () => (await shelf.find(record.key)) ?? put({ ...record, version: 1 })),
    change: (record) =>
      inTurn(async () => {
        const { version } = record
        if ((await shelf.find(record.key))?.version !== version) return undefined
        return put({ ...record, version: version + 1 })
      }),
    due: async (now, limit) =>
      [...shelf.awake()]
        .filter(({ wakeAt }) => wakeAt !== undefined && wakeAt <= now)
        .sort((one, other) => (one.wakeAt ?? 0) - (other.wakeAt ?? 0))
        .slice(0, limit),
  }
}
