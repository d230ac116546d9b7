/**
 * The runner: gives every skill what the document asks of all of them (SK-2). It needs no hub, no
 * agent and no database; time, chance, answers, metrics and records are handed in, or are plain.
 *
 *   U1  A call always answers and never rejects: an output, or an error with its code, its recovery
 *       and what was wrong.
 *   U2  In this order: version, input, key, cache, flight, breaker, attempts, output, recovery.
 *   U3  Each call is recorded and measured once, however it came to its answer (SK-3, SK-4).
 *   U4  What is handed in may fail; a call does not fail with it.
 */
import type { Skill as Offer } from '@chimera/domain/agent/agent'
import { LIMITS } from '@chimera/domain/limits'
import type { Breaker } from '@chimera/domain/skill/breaker'
import type { Static, TSchema } from 'typebox'
import { type Answers, createMemoryAnswers } from './answers.ts'
import { createBreakers } from './breakers.ts'
import { createCache } from './cache.ts'
import {
  type CallOptions,
  type CallOutcome,
  type CallRecord,
  codeOf,
  type Examined,
  errorOf,
  type Finishing,
  finishCall,
  lookAt,
  type ReadCall,
  type RunnerEvent,
  readCall,
  readTerms,
} from './calls.ts'
import { type Chance, type Clock, createChance, createClock } from './clock.ts'
import type { Skill, SkillContext } from './contract.ts'
import { classify, type Fault, fault } from './failure.ts'
import { createFlights } from './flights.ts'
import { createLeaver, type Leaver } from './leaving.ts'
import { createMeasures, type Metrics } from './measures.ts'
import { type Ask, createPerforming } from './performing.ts'
import { createRepeats, type Ran } from './repeats.ts'
import { createShelf } from './shelf.ts'
import { createThreads, type Threads } from './threads.ts'
import type { LogLine } from './trying.ts'

export type RunnerOptions = {
  readonly skills: readonly Skill[]
  /** Who runs them: in records where the caller has no name, and part of every key's scope. */
  readonly agent?: string | (() => string)
  /** Where answers are kept under their keys: in memory unless given. */
  readonly answers?: Answers
  readonly metrics?: Metrics
  /** Takes each call's record (SK-3). */
  readonly record?: (record: CallRecord) => void
  /** Takes what skills log. */
  readonly log?: (line: LogLine) => void
  /** Hears what an operator wants to know. */
  readonly watch?: (event: RunnerEvent) => void
  readonly clock?: Clock
  readonly chance?: Chance
  /** Calls under way at once: 1000 unless given. */
  readonly calls?: number
  /** Of all cached answers: 10 000 and 64 MiB unless given. */
  readonly cache?: { readonly entries?: number; readonly bytes?: number }
}

export type Runner = {
  /** By a skill, or by name and version: `word_count`, `word_count@v1`, `word_count@v1.2`. */
  readonly run: {
    <Input extends TSchema, Output extends TSchema>(
      skill: Skill<Input, Output>,
      input: Static<Input>,
      options?: CallOptions,
    ): Promise<CallOutcome<Static<Output>>>
    (ref: string, input: unknown, options?: CallOptions): Promise<CallOutcome>
  }
  /** Whether a call would be taken, without making it. */
  readonly examine: (ref: string, input: unknown, options?: CallOptions) => Examined
  /** What is offered now, as an agent declares it. */
  readonly offers: () => readonly Offer[]
  readonly breakers: () => ReadonlyMap<string, Breaker['is']>
  /** Refuses what comes, stops what runs, and waits until all of it has ended or been left. */
  readonly close: () => Promise<void>
}

/** Runs skills as their contracts say, with no hub, agent or database. */
export function createRunner(options: RunnerOptions): Runner {
  const { skills, clock = createClock(), chance = createChance(), agent: who = 'local' } = options
  const agent = (): string => (typeof who === 'function' ? who() : who)
  const watch = (event: RunnerEvent): void => quietly(() => options.watch?.(event))
  const trouble = (port: string) => (error: unknown) => watch({ is: 'trouble', port, error })
  const guard = (port: string, run: () => void): void => {
    try {
      run()
    } catch (error) {
      trouble(port)(error)
    }
  }

  const shelf = createShelf(skills)
  const measure = options.metrics ? createMeasures(options.metrics) : undefined
  const flights = createFlights<Ran>()
  const threads = new Map<string, Threads>()
  const strays = new Map<string, number>()
  const breakers = createBreakers({ clock, chance }, (change) =>
    watch({ is: 'breaker', ...change }),
  )
  const cache = createCache({
    entries: options.cache?.entries ?? LIMITS.skillCacheEntries,
    bytes: options.cache?.bytes ?? LIMITS.skillCacheBytes,
  })
  const answers = options.answers ?? createMemoryAnswers({ clock })
  const runner = chance.uuid()
  const repeats = createRepeats({ answers, clock, runner, onTrouble: trouble('answers') })
  /** What is under way, and how its caller is told that the runner ends. */
  const pending = new Map<Promise<unknown>, Leaver>()
  let closed = false

  const perform = createPerforming({
    agent,
    clock,
    chance,
    breakers,
    cache,
    flights,
    repeats,
    log: (line) => guard('log', () => options.log?.(line)),
    strays: {
      count: (skill) => strays.get(skill) ?? 0,
      add: (skill, by) => {
        const count = (strays.get(skill) ?? 0) + by
        strays.set(skill, count)
        watch({ is: 'stray', skill, count })
      },
    },
    onEscalation: ({ skill, call }, { code, detail }) =>
      watch({ is: 'escalated', skill: skill.id, call, code, detail }),
  })

  // Written out, and not spread (decision 0082).
  function askOf({ ask, skill }: Extract<ReadCall, { readonly ok: true }>): Ask {
    const { checks, given, input, call, caller, key, hire } = ask
    return { skill, checks, run: workOf(skill), given, input, call, caller, key, hire }
  }

  function workOf({ id, work }: Skill): (input: unknown, context: SkillContext) => unknown {
    if (work.is === 'function') return work.run
    const pool = threads.get(id) ?? createThreads(work, clock)
    threads.set(id, pool)
    return pool.run
  }

  /** The caller waits until the answer, its deadline, its own signal, or the end of the runner. */
  async function wait(
    ask: Ask,
    call: CallOptions,
    leaver: Leaver,
  ): Promise<Ran & { readonly joined?: boolean }> {
    let late = false
    const { deadline, signal, leaving } = call
    const leave = (): void => leaver.leave(leaving?.why())
    // One more turn at the deadline itself: what ends with it may still be answered in its words.
    const expire = (): void => {
      late = true
      timer = clock.after(0, leave)
    }
    let timer = deadline === undefined ? undefined : clock.after(deadline - clock.now(), expire)
    signal?.addEventListener('abort', leave, { once: true })
    const stay = leaving?.onLeave(leave)
    if (signal?.aborted || leaving?.hasLeft()) leave()
    try {
      const landed = await perform(ask, {
        leaving: leaver,
        deadline: () => deadline,
        onProgress: (progress) => guard('progress', () => call.onProgress?.(progress)),
      })
      if (landed.is === 'landed') {
        return landed.joined ? { ...landed.answer, joined: true } : landed.answer
      }
      const { timeout } = ask.skill.codes
      const gone: Fault = late
        ? { code: timeout, why: 'deadline', certain: false, detail: 'deadline' }
        : fault('CANCELLED', 'cancelled', { certain: false })
      return { ok: false, fault: gone, retries: 0, from: 'run' }
    } finally {
      timer?.cancel()
      stay?.()
      signal?.removeEventListener('abort', leave)
    }
  }

  /** U3. */
  function finish(
    read: ReadCall,
    ran: Ran & { readonly joined?: boolean },
    about: Omit<Finishing, 'agent' | 'endedAt'>,
  ): CallOutcome {
    const { id, call, begunAt } = about
    const outcome = finishCall(read, ran, {
      id,
      call,
      agent: agent(),
      begunAt,
      endedAt: clock.now(),
    })
    const { record } = options
    if (record !== undefined) guard('record', () => record(outcome.record))
    const { skill } = read
    if (skill !== undefined && measure !== undefined) {
      const code = codeOf(ran)
      const counts = code === undefined ? undefined : skill.errors.get(code)?.counts
      const { durationMs } = outcome
      // The retries of a flight are those of whoever began it.
      const retries = ran.joined ? 0 : ran.retries
      guard('metrics', () => measure(skill.name, { durationMs, retries, code, counts }))
    }
    if (!ran.ok) watch({ is: 'failed', skill: outcome.skill, call: id, ...ran.fault })
    return outcome
  }

  async function run(
    asked: Skill | string,
    input: unknown,
    call: CallOptions = {},
  ): Promise<CallOutcome> {
    const id = chance.uuid()
    const begunAt = clock.now()
    const about = { id, call, begunAt }
    const read = readCall(shelf, { asked, input, id, call }, begunAt)
    const refused = (why: Fault): CallOutcome =>
      finish(read, { ok: false, fault: why, retries: 0, from: 'run' }, about)

    if (closed) return refused(fault('UNAVAILABLE', 'overloaded'))
    if (!read.ok) return refused(read.fault)
    if (pending.size >= (options.calls ?? LIMITS.skillCalls)) {
      return refused(fault('UNAVAILABLE', 'overloaded', { retryAfterMs: LIMITS.skillGraceMs }))
    }
    const leaver = createLeaver()
    const waiting = wait(askOf(read), call, leaver)
    pending.set(waiting, leaver)
    try {
      return finish(read, await waiting, about)
    } catch (error) {
      // An author's rule for a key or a cache is called outside of any attempt.
      const known = { isCode: () => false, timeout: read.skill.codes.timeout }
      return refused(classify(error, known))
    } finally {
      pending.delete(waiting)
    }
  }

  return {
    run,
    examine: (ref, input, call = {}) => {
      const now = clock.now()
      const looked = lookAt(shelf, ref, input, now)
      const told = looked.notice === undefined ? {} : { notice: looked.notice }
      if (!looked.ok) return { ok: false, error: errorOf(looked.skill, looked.fault), ...told }
      const read = readTerms(looked, '', call, now)
      if (!read.ok) return { ok: false, error: errorOf(read.skill, read.fault), ...told }
      return { ok: true, skill: read.skill, looked, ...told }
    },
    offers: () => shelf.offers(clock.now()),
    breakers: breakers.states,
    async close() {
      closed = true
      for (const leaver of pending.values()) leaver.leave()
      await Promise.all([...threads.values()].map((each) => each.close()))
      await Promise.allSettled(pending.keys())
      await flights.idle()
    },
  }
}

/** Whoever watches is not told of its own faults. */
function quietly(run: () => void): void {
  try {
    run()
  } catch {
    // There is nobody left to tell.
  }
}
