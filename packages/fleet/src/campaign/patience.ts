/**
 * What is away comes back: a hub that is started again, an agent on another machine. Whoever needs
 * it waits, longer each time, and is told why by whatever it was that did not answer.
 */
import { HireFailure } from '@chimera/agent'
import { REFUSALS } from '@chimera/domain/refusals'
import { type BackoffPlan, backoffMs } from '@chimera/domain/voice/backoff'
import type { Clock } from '@chimera/skill/clock'

/** From a process that starts in seconds to a machine that is looked after by somebody. */
const WAITS: BackoffPlan = { firstMs: 500, factor: 2, mostMs: 30_000, spread: 0 }

export const waitMs = (failures: number): number => backoffMs(WAITS, { failures, chance: 0 })

/** Nobody did anything, or nobody can say yet: the same is asked for again under its name. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof HireFailure)) return false
  switch (error.code) {
    case 'hub_unanswered':
    case 'nobody_found':
    case 'outcome_unknown':
      return true
    case 'nobody_accepted':
      return error.declined.some(({ how, code }) => how === 'silent' || mayPass(code))
    case 'hub_refused':
      return error.refusal !== undefined && mayPass(error.refusal)
    default:
      return false
  }
}

const PASSING = new Set<string>(
  Object.entries(REFUSALS).flatMap(([code, { retry }]) => (retry === 'later' ? [code] : [])),
)
const mayPass = (code: string): boolean => PASSING.has(code)

export function sleepOn(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', leave)
      resolve()
    })
    const leave = (): void => {
      timer.cancel()
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
  })
}
