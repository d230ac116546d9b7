/**
 * Where answers are remembered under their keys (P-4). The store's own `Answers` fit this port as
 * they are; the one here is for development, and forgets with its process.
 *
 *   Q1  One answer per scope: of two that answer it at once, one is kept and the other finds it.
 *   Q2  What may be forgotten is forgotten at its time.
 *   Q3  Nothing that must be remembered is dropped for room: when there is none, that is said.
 */
import type { Digest, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  decideRepeat,
  isForgotten,
  type Remembered,
  type Repeat,
  type Scope,
  scopeKey,
} from '@chimera/domain/work/idempotency'
import type { Clock } from './clock.ts'

export type Once = {
  readonly scope: Scope
  readonly content: Digest
  /** Makes the answer, when there is none. It is quick: some keep a transaction open for it. */
  readonly work: () => Promise<Pick<Remembered<unknown>, 'answer' | 'forgetAt'>>
}

export type Answers = {
  readonly find: (scope: Scope, content: Digest) => Promise<Repeat<unknown>>
  /** `new` when the answer was made now. */
  readonly once: (ask: Once) => Promise<Repeat<unknown>>
  readonly forgetAt: (scope: Scope, at: Instant) => Promise<void>
  /** No other process writes here, so whatever was begun and is not under way has died. */
  readonly alone?: boolean
}

/** There is no room for another answer. */
export class AnswersFull extends Error {
  override readonly name = 'AnswersFull'
  readonly code = 'answers_full'
}

/** What was written, in order; `undefined` is a line that is no longer good. */
export type Shelf = {
  readonly entries: Map<string, Remembered<unknown>>
  /** Called before an entry counts; rejects when it cannot be kept. */
  readonly write: (scope: string, entry: Remembered<unknown>) => Promise<void>
}

export type MemoryOptions = { readonly clock: Pick<Clock, 'now'>; readonly most?: number }

export function createMemoryAnswers(options: MemoryOptions): Answers {
  return answersOn({ entries: new Map(), write: async () => undefined }, options)
}

/** Answers over a map that is written down somewhere, or nowhere. */
export function answersOn(
  { entries, write }: Shelf,
  { clock, most = LIMITS.skillAnswers }: MemoryOptions,
): Answers {
  /** Turns by scope: between looking and writing nobody else comes (Q1). */
  const turns = new Map<string, Promise<unknown>>()

  function inTurn<Result>(key: string, run: () => Promise<Result>): Promise<Result> {
    const before = turns.get(key) ?? Promise.resolve()
    const mine = before.then(run, run)
    const settled = mine.then(
      () => undefined,
      () => undefined,
    )
    turns.set(key, settled)
    void settled.finally(() => {
      if (turns.get(key) === settled) turns.delete(key)
    })
    return mine
  }

  function makeRoom(): void {
    if (entries.size < most) return
    for (const [key, entry] of entries) if (isForgotten(entry, clock.now())) entries.delete(key)
    if (entries.size >= most) throw new AnswersFull(`${entries.size} answers are kept`)
  }

  return {
    alone: true,
    async find(scope, content) {
      return decideRepeat(entries.get(scopeKey(scope)), content, clock.now())
    },
    once({ scope, content, work }) {
      const key = scopeKey(scope)
      return inTurn(key, async () => {
        const repeat = decideRepeat(entries.get(key), content, clock.now())
        if (repeat.kind !== 'new') return repeat
        entries.delete(key)
        makeRoom()
        const entry = { content, ...(await work()) }
        await write(key, entry)
        entries.set(key, entry)
        return { kind: 'new' }
      })
    },
    forgetAt(scope, at) {
      const key = scopeKey(scope)
      return inTurn(key, async () => {
        const known = entries.get(key)
        if (known === undefined) return
        const entry = { ...known, forgetAt: at }
        await write(key, entry)
        entries.set(key, entry)
      })
    },
  }
}
