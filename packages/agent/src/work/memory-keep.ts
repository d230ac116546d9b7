/**
 * A keep in memory, for development and for tests; and the part that a keep with a file under it
 * has in common with it.
 *
 *   M1  Where there is a file, what has ended lies in it, and its name alone is in memory; the
 *       latest are at hand for a while, since whoever asked asks again soon.
 */
import type { Instant, TaskId, WorkId } from '@chimera/domain/ids'
import { hasLostLetter } from '@chimera/domain/work/kept'
import type { Lying } from '@chimera/skill/journal'
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
  readonly first: readonly (KeptWork | Ended)[]
  /** Where it lies, if that is where it stays. */
  readonly write: (kept: KeptWork) => Soon<Ended | undefined>
  readonly fetch?: (ended: Ended) => Promise<KeptWork>
}

/** What is known of ended work that lies in the file. */
export type Ended = Lying<EndedName>
export type EndedName = Pick<KeptWork, 'scope' | 'forgetAt'> & {
  readonly work: WorkId
  readonly task: TaskId
  readonly requester: string
}

const MOST = 100_000
/** The latest that ended: as many as usually run at once, and so are asked about again soon. */
const AT_HAND = 16
const NOWHERE: Shelf = { durable: false, first: [], write: () => undefined }

/** Undefined: it has not ended, or somebody has still to be told, or it may be asked for anew. */
export function endedName(kept: KeptWork): EndedName | undefined {
  if (isUnfinished(kept) || hasLostLetter(kept) || isOpenAgain(kept)) return undefined
  const { scope, forgetAt } = kept
  const { work, task, requester } = nameOf(kept)
  return { scope, work, task, requester, ...(forgetAt !== undefined && { forgetAt }) }
}

/** For development and tests: gone with the process. */
export function createMemoryKeep(options: MemoryKeepOptions): Keep {
  return keepOn(NOWHERE, options).keep
}

export type KeepOn = { readonly keep: Keep; readonly entries: () => Iterable<KeptWork | Ended> }

export function keepOn(shelf: Shelf, { now, most = MOST }: MemoryKeepOptions): KeepOn {
  /** In the order of their coming, so that the oldest are met first. */
  const byScope = new Map<string, KeptWork | Ended>()
  /** Of those that lie in the file, the latest (M1). */
  const atHand = new Map<string, KeptWork>()
  const scopeOfWork = new Map<WorkId, string>()
  /** A set only where there are several: nearly every task has one scope. */
  const scopesOfTask = new Map<TaskId, string | Set<string>>()
  /** Between looking and writing nobody else comes under the same scope. */
  const turns = new Map<string, Promise<unknown>>()

  /** Scopes of what was entered early and is not written down yet. */
  const claimed = new Map<string, WorkId>()

  function isOver(entry: KeptWork | Ended): boolean {
    const { forgetAt } = 'rest' in entry ? entry.rest : entry
    return forgetAt !== undefined && forgetAt <= now()
  }

  function put(entry: KeptWork | Ended): void {
    const { scope, work, task } = nameOf(entry)
    byScope.set(scope, entry)
    scopeOfWork.set(work, scope)
    const scopes = scopesOfTask.get(task)
    if (scopes === undefined) scopesOfTask.set(task, scope)
    else if (typeof scopes !== 'string') scopes.add(scope)
    else if (scopes !== scope) scopesOfTask.set(task, new Set([scopes, scope]))
  }

  /** M1. */
  function keepAtHand(kept: KeptWork): void {
    atHand.delete(kept.scope)
    atHand.set(kept.scope, kept)
    const [oldest] = atHand.keys()
    if (atHand.size > AT_HAND && oldest !== undefined) atHand.delete(oldest)
  }

  function drop(entry: KeptWork | Ended): void {
    const { scope, work: id, task } = nameOf(entry)
    byScope.delete(scope)
    atHand.delete(scope)
    scopeOfWork.delete(id)
    const scopes = scopesOfTask.get(task)
    if (typeof scopes === 'object') scopes.delete(scope)
    if (scopes === scope || (typeof scopes === 'object' && scopes.size === 0)) {
      scopesOfTask.delete(task)
    }
  }

  function present(scope: string | undefined): KeptWork | Ended | undefined {
    const entry = scope === undefined ? undefined : byScope.get(scope)
    if (entry === undefined || !isOver(entry)) return entry
    drop(entry)
    return undefined
  }

  function whole(entry: KeptWork | Ended | undefined): Soon<KeptWork | undefined> {
    if (entry === undefined || !('rest' in entry)) return entry
    return atHand.get(entry.rest.scope) ?? shelf.fetch?.(entry)
  }

  const lookUp = (scope: string | undefined): Soon<KeptWork | undefined> => whole(present(scope))

  function forgetOver(): void {
    for (const entry of byScope.values()) if (isOver(entry)) drop(entry)
  }

  function makeRoom(): void {
    if (byScope.size < most) return
    forgetOver()
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
    const earlier = present(kept.scope)
    if (earlier !== undefined && ('rest' in earlier || !isOpenAgain(earlier))) return whole(earlier)
    makeRoom()
    const take = (ended: Ended | undefined): undefined => {
      if (earlier !== undefined) drop(earlier)
      put(ended ?? kept)
      if (ended !== undefined) keepAtHand(kept)
    }
    const written = shelf.write(kept)
    return isPromise(written) ? written.then(take) : take(written)
  }

  function workUnder(scope: string): WorkId | undefined {
    const entry = byScope.get(scope)
    return entry && nameOf(entry).work
  }

  function enterEarly(kept: KeptWork): { readonly kept: Promise<void> } | undefined {
    const { scope } = kept
    if (present(scope) !== undefined || turns.has(scope) || claimed.has(scope)) return undefined
    makeRoom()
    const written = shelf.write(kept)
    if (!isPromise(written)) return undefined
    const { work } = kept.work.ask
    claimed.set(scope, work)
    const take = (): void => {
      claimed.delete(scope)
      // Its end may be there already.
      if (workUnder(scope) !== work) put(kept)
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
    if ((workUnder(scope) ?? claimed.get(scope)) !== work) return 'lost'
    const take = (ended: Ended | undefined): 'saved' => {
      if (byScope.has(scope)) byScope.set(scope, ended ?? kept)
      else put(ended ?? kept)
      if (ended !== undefined) keepAtHand(kept)
      return 'saved'
    }
    const written = shelf.write(kept)
    return isPromise(written) ? written.then(take) : take(written)
  }

  function* atWork(): Generator<KeptWork> {
    for (const entry of byScope.values()) if (!('rest' in entry)) yield entry
  }

  for (const each of shelf.first) put(each)

  const keep: Keep = {
    durable: shelf.durable,
    find: lookUp,
    byWork: (id) => lookUp(scopeOfWork.get(id)),
    byTask(task, requester) {
      const known = scopesOfTask.get(task) ?? []
      const scopes = typeof known === 'string' ? [known] : [...known].reverse()
      const isTheirs = (each: KeptWork | Ended | undefined): boolean =>
        each !== undefined && (requester === undefined || nameOf(each).requester === requester)
      return whole(scopes.map(present).find(isTheirs))
    },
    enter: (kept) => inTurn(kept.scope, () => enter(kept)),
    ...(shelf.durable && { enterEarly }),
    save: (kept) => inTurn(kept.scope, () => save(kept)),
    unfinished: async () => [...atWork()].filter(isUnfinished),
    lost: async () => [...atWork()].filter(hasLostLetter),
  }
  const entries = (): Iterable<KeptWork | Ended> => {
    forgetOver()
    return byScope.values()
  }
  return { keep, entries }
}

function nameOf(entry: KeptWork | Ended): EndedName {
  if ('rest' in entry) return entry.rest
  const { work, task } = entry.work.ask
  return { scope: entry.scope, work, task, requester: entry.requester.name }
}
