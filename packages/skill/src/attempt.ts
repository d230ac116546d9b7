/**
 * One run of a skill's function under a time limit.
 *
 *   T1  It ends once: with what the function gives, with what it throws, at its time, or when the
 *       signal says that nobody waits. It never rejects.
 *   T2  At its time the function's own signal is aborted. What it gives later is dropped, also when
 *       it kept the event loop so busy that its result came before the timer could.
 *   T3  A function that goes on after a grace has ignored its signal. That is reported, and so is
 *       its end.
 */
import { LIMITS } from '@chimera/domain/limits'
import type { Clock } from './clock.ts'
import type { Leaving } from './leaving.ts'

export type Attempted =
  | { readonly is: 'done'; readonly value: unknown }
  | { readonly is: 'threw'; readonly error: unknown }
  | { readonly is: 'stopped'; readonly because: 'timed_out' | 'left' }

export type AttemptOptions = {
  readonly clock: Clock
  readonly timeoutMs: number
  /** Until nobody waits any longer. */
  readonly leaving: Leaving
  /** It goes on after its end (true), or no longer does (false). */
  readonly onStray: (stray: boolean) => void
}

export type Attempt = {
  readonly ended: Promise<Attempted>
  /** Whether the function itself has come to an end. */
  readonly isOver: () => boolean
}

/** The function's signal is made when it is asked for: most small ones never do. */
export function beginAttempt(
  work: (signal: () => AbortSignal) => unknown,
  { clock, timeoutMs, leaving, onStray }: AttemptOptions,
): Attempt {
  const endsAt = clock.now() + timeoutMs
  let own: AbortController | undefined
  let reason: DOMException | undefined
  let over = false
  let stray = false

  const signal = (): AbortSignal => {
    own ??= new AbortController()
    if (reason !== undefined && !own.signal.aborted) own.abort(reason)
    return own.signal
  }

  const ended = new Promise<Attempted>((resolve) => {
    let grace: { readonly cancel: () => void } | undefined
    const stop = (because: 'timed_out' | 'left'): void => {
      close()
      resolve({ is: 'stopped', because })
      reason =
        because === 'left'
          ? new DOMException(leaving.why() ?? because, 'AbortError')
          : new DOMException(because, 'TimeoutError')
      own?.abort(reason)
      grace = clock.after(LIMITS.skillGraceMs, () => {
        stray = !over
        if (stray) onStray(true)
      })
    }
    const timer = clock.after(timeoutMs, () => stop('timed_out'))
    const stay = leaving.onLeave(() => stop('left'))
    const close = (): void => {
      timer.cancel()
      stay()
    }
    const settle = (attempted: Attempted): void => {
      over = true
      grace?.cancel()
      if (stray) onStray(false)
      close()
      const late = clock.now() > endsAt
      resolve(late ? { is: 'stopped', because: 'timed_out' } : attempted)
    }
    const gave = (value: unknown): void => settle({ is: 'done', value })
    const threw = (error: unknown): void => settle({ is: 'threw', error })
    // Begun in a turn of its own, so that a function that blocks does so with its timer set.
    queueMicrotask(() => {
      try {
        const given = reason === undefined ? work(signal) : undefined
        if (isPlain(given)) gave(given)
        else Promise.resolve(given).then(gave, threw)
      } catch (error) {
        threw(error)
      }
    })
    if (leaving.hasLeft()) stop('left')
  })
  return { ended, isOver: () => over }
}

/** Nothing that could be waited for. */
const isPlain = (value: unknown): boolean =>
  (typeof value !== 'object' && typeof value !== 'function') || value === null
