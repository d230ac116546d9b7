/**
 * A keep in memory, for development and for tests; and the part that a keep with a file under it
 * has in common with it.
 */
import type { Instant, TaskId, WorkId } from '@chimera/domain/ids'
import { hasLostLetter } from '@chimera/domain/work/kept'
import { isPromise, type Soon } from '@chimera/skill/soon'
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
  readonly write: (kept: KeptWork) => Soon<void>
}

const MOST = 100_000
const NOWHERE: Shelf = { durable: false, first: [], write: () => undefined }

/** For development and tests: gone with the process. */
export function createMemoryKeep(options: MemoryKeepOptions): Keep {
  return keepOn(NOWHERE, options).keep
}

export type KeepOn = { readonly keep: Keep; readonly entries: () => Iterable<KeptWork> }

export function keepOn(shelf: Shelf, { now, most = MOST }: MemoryKeepOptions): KeepOn {
  /** In the order of their coming, so that the oldest are met first. */
  const byScope = new Map<string, KeptWork>()
  const scopeOfWork = new Map<WorkId, string>()
  /** A set only where there are several: nearly every task has one scope. */
  const scopesOfTask = new Map<TaskId, string | Set<string>>()
  /** Between looking and writing nobody else comes under the same scope. */
  const turns = new Map<string, Promise<unknown>>()

  /** Scopes of what was entered early and is not written down yet. */
  const claimed = new Map<string, WorkId>()

  const isOver = ({ forgetAt }: KeptWork): boolean => forgetAt !== undefined && forgetAt <= now()

  function put(kept: KeptWork): void {
    const { work, task } = kept.work.ask
    byScope.set(kept.scope, kept)
    scopeOfWork.set(work, kept.scope)
    const scopes = scopesOfTask.get(task)
    if (scopes === undefined) scopesOfTask.set(task, kept.scope)
    else if (typeof scopes !== 'string') scopes.add(kept.scope)
    else if (scopes !== kept.scope) scopesOfTask.set(task, new Set([scopes, kept.scope]))
  }

  function drop({ scope, work }: KeptWork): void {
    const { work: id, task } = work.ask
    byScope.delete(scope)
    scopeOfWork.delete(id)
    const scopes = scopesOfTask.get(task)
    if (typeof scopes === 'object') scopes.delete(scope)
    if (scopes === scope || (typeof scopes === 'object' && scopes.size === 0)) {
      scopesOfTask.delete(task)
    }
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

  function inTurn<Result>(scope: string, run: () => Soon<Result>): Soon<Result> {
    const before = turns.get(scope)
    const mine = before === undefined ? run() : before.then(run, run)
    if (!isPromise(mine)) return mine
    const turn = mine.then(
      () => undefined,
      () => undefined,
    )
    turns.set(scope, turn)
    void turn.finally(() => {
      if (turns.get(scope) === turn) turns.delete(scope)
    })
    return mine
  }

  function enter(kept: KeptWork): Soon<KeptWork | undefined> {
    const earlier = lookUp(kept.scope)
    if (earlier !== undefined && !isOpenAgain(earlier)) return earlier
    makeRoom()
    const take = (): undefined => {
      if (earlier !== undefined) drop(earlier)
      put(kept)
    }
    const written = shelf.write(kept)
    return isPromise(written) ? written.then(take) : take()
  }

  function enterEarly(kept: KeptWork): { readonly kept: Promise<void> } | undefined {
    const { scope } = kept
    if (lookUp(scope) !== undefined || turns.has(scope) || claimed.has(scope)) return undefined
    makeRoom()
    const written = shelf.write(kept)
    if (!isPromise(written)) return undefined
    const { work } = kept.work.ask
    claimed.set(scope, work)
    const take = (): void => {
      claimed.delete(scope)
      // Its end may be there already.
      if (byScope.get(scope)?.work.ask.work !== work) put(kept)
    }
    const leave = (error: unknown): never => {
      claimed.delete(scope)
      throw error
    }
    return { kept: written.then(take, leave) }
  }

  function save(kept: KeptWork): Soon<'saved' | 'lost'> {
    const { scope } = kept
    const { work } = kept.work.ask
    // One that another ask has taken the place of is not brought back.
    if ((byScope.get(scope)?.work.ask.work ?? claimed.get(scope)) !== work) return 'lost'
    const take = (): 'saved' => {
      if (byScope.has(scope)) byScope.set(scope, kept)
      else put(kept)
      return 'saved'
    }
    const written = shelf.write(kept)
    return isPromise(written) ? written.then(take) : take()
  }

  for (const kept of shelf.first) put(kept)

  const keep: Keep = {
    durable: shelf.durable,
    find: lookUp,
    byWork: (id) => lookUp(scopeOfWork.get(id)),
    byTask(task, requester) {
      const known = scopesOfTask.get(task) ?? []
      const scopes = typeof known === 'string' ? [known] : [...known].reverse()
      return scopes
        .map(lookUp)
        .find((each) => each !== undefined && isOf(each, requester ?? each.requester.name))
    },
    enter: (kept) => inTurn(kept.scope, () => enter(kept)),
    ...(shelf.durable && { enterEarly }),
    save: (kept) => inTurn(kept.scope, () => save(kept)),
    unfinished: async () => [...byScope.values()].filter(isUnfinished),
    lost: async () => [...byScope.values()].filter(hasLostLetter),
  }
  return { keep, entries: () => byScope.values() }
}

const isOf = ({ requester }: KeptWork, name: string): boolean => requester.name === name
