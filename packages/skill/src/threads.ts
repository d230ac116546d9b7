/**
 * Skills that run in threads: one call at a time in each, each with a limit on its memory.
 *
 *   J1  A thread that does not stop soon after its signal is ended; so is one that does not react
 *       for as long as its rules say. Nothing of it runs on.
 *   J2  A thread that runs out of memory, throws outside of its call or exits takes only its own
 *       call with it.
 *   J3  A thread is used again after a call that ended by itself, and never after another.
 *
 * The limit is on JavaScript objects. Buffers lie outside of it, as Node has no limit for them.
 */
import { Worker } from 'node:worker_threads'
import { LIMITS } from '@chimera/domain/limits'
import type { Clock } from './clock.ts'
import type { SkillContext, ThreadRules } from './contract.ts'
import { readDuration } from './duration.ts'
import { SkillFailure, type Why } from './failure.ts'

export type Threads = {
  readonly run: (input: unknown, context: SkillContext) => Promise<unknown>
  /** Ends all, those at work too. */
  readonly close: () => Promise<void>
}

/** What ended a thread; `why` says it for programs. */
export class ThreadFailure extends Error {
  override readonly name = 'ThreadFailure'
  readonly why: Why

  constructor(why: Why, message: string) {
    super(message)
    this.why = why
  }
}

// The thread's module does nothing when it is imported, so something must call it.
const BOOT = `import(require('node:worker_threads').workerData.entry).then((it) => it.serve())`

/** What a thread says; nothing in it is trusted to be what it should be. */
type Word = Readonly<Record<string, unknown>>

type Thread = {
  readonly call: (input: unknown, context: SkillContext) => Promise<unknown>
  readonly isFree: () => boolean
  readonly end: (failure: ThreadFailure) => Promise<void>
}

export function createThreads(rules: ThreadRules, clock: Clock): Threads {
  const threads = new Set<Thread>()
  const ending = new Set<Promise<unknown>>()
  let closed = false

  function start(): Thread {
    const thread = startThread(rules, clock, (gone) => {
      threads.delete(thread)
      ending.add(gone)
      void gone.finally(() => ending.delete(gone))
    })
    threads.add(thread)
    return thread
  }

  return {
    async run(input, context) {
      if (closed) throw new ThreadFailure('overloaded', 'closed')
      const free = [...threads].find((each) => each.isFree())
      if (free === undefined && threads.size >= rules.threads) {
        throw new ThreadFailure('overloaded', `all ${rules.threads} threads are at work`)
      }
      return (free ?? start()).call(input, context)
    },
    async close() {
      closed = true
      for (const each of threads) void each.end(new ThreadFailure('thread_died', 'closed'))
      await Promise.all(ending)
    },
  }
}

type Task = {
  readonly context: SkillContext
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  readonly release: () => void
}

function startThread(
  { module, export: name, memoryMb, blockedMs }: ThreadRules,
  clock: Clock,
  onGone: (gone: Promise<unknown>) => void,
): Thread {
  const entry = new URL('./thread-entry.js', import.meta.url).href
  const worker = new Worker(BOOT, {
    eval: true,
    workerData: { entry, module, export: name },
    // A young generation of its own size would come on top of the limit.
    resourceLimits: {
      maxOldGenerationSizeMb: memoryMb,
      maxYoungGenerationSizeMb: Math.max(1, Math.floor(memoryMb / 8)),
    },
  })
  // Between two calls a thread does not keep the process alive.
  worker.unref()
  let task: Task | undefined
  let ended = false
  let heardAt = clock.now()
  let ready = false

  const send = (order: Word): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(order)
  }

  const finish = (how: (task: Task) => void): void => {
    const done = task
    task = undefined
    done?.release()
    worker.unref()
    if (done) how(done)
  }

  async function end(failure: ThreadFailure): Promise<void> {
    if (ended) return
    ended = true
    const gone = worker.terminate()
    onGone(gone)
    finish(({ reject }) => reject(failure))
    await gone
  }

  worker.on('error', (error) => void end(deathOf(error)))
  worker.on('exit', (code) => void end(new ThreadFailure('thread_died', `exit ${code}`)))
  worker.on('messageerror', (error) => void end(new ThreadFailure('unserialisable', error.message)))
  worker.on('message', (word: Word) => {
    heardAt = clock.now()
    ready = true
    if (word.is === 'done') finish(({ resolve }) => resolve(word.value))
    else if (word.is === 'failed') finish(({ reject }) => reject(failureOf(word)))
    else if (word.is === 'hire') void hireFor(word)
    else if (task !== undefined && word.is !== 'pong' && word.is !== 'ready') {
      send({ is: 'heard', count: 1 })
      hear(word, task.context)
    }
  })

  /** The skill hires through whoever runs it: a thread has no network of its own. */
  async function hireFor({ id, skill, input, terms }: Word): Promise<void> {
    const about = { is: 'hired', id }
    try {
      const asked = [String(skill), { ...Object(input) }, { ...Object(terms) }] as const
      send({ ...about, hired: await task?.context.hire(...asked) })
    } catch (error) {
      const { message, code }: { message?: unknown; code?: unknown } = Object(error)
      if (!ended) send({ ...about, failed: { message: String(message), code: String(code) } })
    }
  }

  function watchLoop(): () => void {
    if (blockedMs === undefined) return () => undefined
    heardAt = clock.now()
    let timer = clock.after(blockedMs / 2, look)
    function look(): void {
      // How long a module takes to load is the timeout's affair.
      if (!ready) heardAt = clock.now()
      if (clock.now() - heardAt >= (blockedMs ?? 0)) {
        void end(new ThreadFailure('blocked', `no reaction for ${blockedMs} ms`))
        return
      }
      send({ is: 'ping' })
      timer = clock.after((blockedMs ?? 0) / 2, look)
    }
    return () => timer.cancel()
  }

  function call(input: unknown, context: SkillContext): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { signal } = context
      let grace: { readonly cancel: () => void } | undefined
      const abort = (): void => {
        const reason: unknown = signal.reason
        send({ is: 'abort', reason: reason instanceof Error ? reason.name : 'abort' })
        grace = clock.after(LIMITS.skillThreadGraceMs, () => {
          void end(new ThreadFailure('timed_out', 'did not stop at its signal'))
        })
      }
      const unwatch = watchLoop()
      const release = (): void => {
        unwatch()
        grace?.cancel()
        signal.removeEventListener('abort', abort)
      }
      task = { context, resolve, reject, release }
      worker.ref()
      signal.addEventListener('abort', abort, { once: true })
      send({ is: 'call', input, given: givenOf(context) })
    })
  }

  return { call, end, isFree: () => task === undefined && !ended }
}

function givenOf({ call, attempt, until, fallback, caller, key }: SkillContext) {
  return { call, attempt, until, fallback, caller, key }
}

function hear(word: Word, { progress, awaiting, log, keep }: SkillContext): void {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  const note = word.note === undefined ? [] : [text(word.note)]
  if (word.is === 'progress') progress(Number(word.share), ...note)
  else if (word.is === 'awaiting') awaiting(word.does === true, ...note)
  else if (word.is === 'keep') keep(word.partial)
  else if (word.is === 'log') {
    const { fields } = word
    const level = (['debug', 'info', 'warn', 'error'] as const).find((each) => each === word.level)
    const more = typeof fields === 'object' && fields !== null ? { ...fields } : {}
    log[level ?? 'info'](text(word.message), more)
  }
}

function failureOf({ name, message, code, wait }: Word): Error {
  const detail = typeof message === 'string' ? message : 'it threw'
  if (name === 'DataCloneError') return new ThreadFailure('unserialisable', detail)
  const retryAfter = typeof wait === 'number' || typeof wait === 'string' ? readDuration(wait) : 0
  if (typeof code === 'string' && name === 'SkillFailure') {
    return new SkillFailure(code, { detail, ...(retryAfter && { retryAfter }) })
  }
  return Object.assign(new Error(detail), { name, code })
}

function deathOf(error: Error & { readonly code?: string }): ThreadFailure {
  const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return new ThreadFailure(memory ? 'out_of_memory' : 'thread_died', error.message)
}
