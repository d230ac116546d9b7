/**
 * A keep in memory, for development and for tests; and the part that a keep with a file under it
 * has in common with it.
 */
import type { Instant, TaskId, WorkId } from '@chimera/domain/ids'
import { hasLostLetter } from '@chimera/domain/work/kept'
import { isOpenAgain, isUnfinished, type Keep, KeepFull, type KeptWork } from './keep.ts'

export type MemoryKeepOptions = {
  readonly now: () => Instant
  /** Pieces of work at once: 100 000 unless given, about 200 MB of small ones. */
  readonly most?: number
}

/** What was there before, and where each change is written down before it counts. */
export type Shelf = {
  readonly durable: boolean
  readonly first: readonly KeptWork[]
  readonly write: (kept: KeptWork) => Promise<void>
}

const MOST = 100_000
const NOWHERE: Shelf = { durable: false, first: [], write: async () => undefined }

/** For development and tests: gone with the process. */
export function createMemoryKeep(options: MemoryKeepOptions): Keep {
  return keepOn(NOWHERE, options).keep
}

export type KeepOn = { readonly keep: Keep; readonly entries: () => Iterable<KeptWork> }

export function keepOn(shelf: Shelf, { now, most = MOST }: MemoryKeepOptions): KeepOn {
  /** In the order of their coming, so that the oldest are met first. */
  const byScope = new Map<string, KeptWork>()
  const scopeOfWork = new Map<WorkId, string>()
  const scopesOfTask = new Map<TaskId, Set<string>>()
  /** Between looking and writing nobody else comes under the same scope. */
  const turns = new Map<string, Promise<unknown>>()

  const isOver = ({ forgetAt }: KeptWork): boolean => forgetAt !== undefined && forgetAt <= now()

  function put(kept: KeptWork): void {
    const { work, task } = kept.work.ask
    byScope.set(kept.scope, kept)
    scopeOfWork.set(work, kept.scope)
    const scopes = scopesOfTask.get(task) ?? new Set()
    scopesOfTask.set(task, scopes.add(kept.scope))
  }

  function drop({ scope, work }: KeptWork): void {
    const { work: id, task } = work.ask
    byScope.delete(scope)
    scopeOfWork.delete(id)
    const scopes = scopesOfTask.get(task)
    scopes?.delete(scope)
    if (scopes?.size === 0) scopesOfTask.delete(task)
  }

  function lookUp(scope: string | undefined): KeptWork | undefined {
    const kept = scope === undefined ? undefined : byScope.get(scope)
    if (kept === undefined || !isOver(kept)) return kept
    drop(kept)
    return undefined
  }

  function makeRoom(): void {
    if (byScope.size < most) return
    for (const kept of byScope.values()) if (isOver(kept)) drop(kept)
    if (byScope.size >= most) throw new KeepFull(`${byScope.size} pieces of work are kept`)
  }

  async function inTurn<Result>(scope: string, run: () => Promise<Result>): Promise<Result> {
    const before = turns.get(scope)
    const mine = before === undefined ? run() : before.then(run, run)
    turns.set(scope, mine)
    try {
      return await mine
    } finally {
      if (turns.get(scope) === mine) turns.delete(scope)
    }
  }

  async function enter(kept: KeptWork): Promise<KeptWork | undefined> {
    const earlier = lookUp(kept.scope)
    if (earlier !== undefined && !isOpenAgain(earlier)) return earlier
    makeRoom()
    await shelf.write(kept)
    if (earlier !== undefined) drop(earlier)
    put(kept)
    return undefined
  }

  async function save(kept: KeptWork): Promise<'saved' | 'lost'> {
    // One that another ask has taken the place of is not brought back.
    if (byScope.get(kept.scope)?.work.ask.work !== kept.work.ask.work) return 'lost'
    await shelf.write(kept)
    byScope.set(kept.scope, kept)
    return 'saved'
  }

  for (const kept of shelf.first) put(kept)

  const keep: Keep = {
    durable: shelf.durable,
    find: async (scope) => lookUp(scope),
    byWork: async (id) => lookUp(scopeOfWork.get(id)),
    async byTask(task, requester) {
      const scopes = [...(scopesOfTask.get(task) ?? [])].reverse()
      return scopes
        .map(lookUp)
        .find((each) => each !== undefined && isOf(each, requester ?? each.requester.name))
    },
    enter: (kept) => inTurn(kept.scope, () => enter(kept)),
    save: (kept) => inTurn(kept.scope, () => save(kept)),
    unfinished: async () => [...byScope.values()].filter(isUnfinished),
    lost: async () => [...byScope.values()].filter(hasLostLetter),
  }
  return { keep, entries: () => byScope.values() }
}

const isOf = ({ requester }: KeptWork, name: string): boolean => requester.name === name
