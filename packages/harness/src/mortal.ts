/**
 * What a process has of its surroundings, in a form that can be taken from it at once: a crash in a
 * process that others share.
 *
 *   D1  After the end no timer runs and no call comes back, whatever was under way.
 *   D2  What was kept before the end is there for whoever comes next.
 */
import { type Clock, sleeper, type Timer } from '@chimera/host/clock'

export type Life = {
  readonly clock: Clock
  /** The same port, for as long as this life lasts. */
  readonly lend: <Port extends object>(port: Port) => Port
  readonly end: () => void
  /** So that what it holds open can be closed in good order. */
  readonly closeDown: () => void
}

export function beginLife(clock: Clock): Life {
  let alive = true
  const timers = new Set<Timer>()

  const after: Clock['after'] = (ms, run) => {
    if (!alive) return { cancel: () => undefined }
    const timer = clock.after(ms, () => {
      timers.delete(timer)
      run()
    })
    timers.add(timer)
    return {
      cancel: () => {
        timers.delete(timer)
        timer.cancel()
      },
    }
  }

  async function whileAlive<Value>(value: Value | Promise<Value>): Promise<Value> {
    const come = await value
    return alive ? come : never()
  }

  return {
    clock: { now: clock.now, after, sleep: sleeper(after) },
    lend: (port) =>
      new Proxy(port, {
        get(target, name): unknown {
          const member: unknown = Reflect.get(target, name)
          if (typeof member !== 'function') return member
          return (...given: readonly unknown[]): unknown => {
            if (!alive) return never()
            const come: unknown = Reflect.apply(member, target, given)
            return come instanceof Promise ? whileAlive(come) : come
          }
        },
      }),
    end: () => {
      alive = false
      for (const timer of timers) timer.cancel()
      timers.clear()
    },
    closeDown: () => {
      alive = true
    },
  }
}

const never = (): Promise<never> => new Promise(() => undefined)
