/**
 * Turns requests away at once when the hub has more than it can answer in time (A5). What operators
 * ask is answered always: a hub that is busy is not dead, and only its metrics say why.
 *
 *   V1  A request is in flight from its first hook until its answer is ready or its connection is
 *       gone, whichever is first, so that the count never leaks.
 *   V2  It is told in the words of the dialect, before the body is read and before anything is
 *       looked up.
 */
import type { Refused } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { applyDelay, decideLoad, type LoadLimits } from '@chimera/domain/work/load'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import type { FastifyInstance } from 'fastify'
import { Denied } from './access.ts'

export type OverloadOptions = {
  readonly limits: LoadLimits
  readonly now: () => Instant
  /** How late this process is; `createLoopWatch` for the real one. */
  readonly delayMs: () => number
  readonly metrics: Metrics
  readonly log: Log
}

export type Overload = {
  /** The refusal that a request would hear now. */
  readonly look: () => Refused<'service_unavailable'> | undefined
}

export function guardOverload(app: FastifyInstance, options: OverloadOptions): Overload {
  const { limits, now, delayMs, metrics, log } = options
  const refused = metrics.counter({
    name: 'http_overload_refused_total',
    help: 'Requests that were turned away because the hub had too much to do',
  })
  let inFlight = 0
  let wasOver = false
  metrics.gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that have begun and are not answered yet',
    read: () => inFlight,
  })

  function look(): Refused<'service_unavailable'> | undefined {
    const load = { inFlight, delayMs: delayMs() }
    const decision = decideLoad(load, limits, now())
    // One line when it begins and one when it ends, not one for every request.
    if (wasOver === decision.ok) log.warn(load, decision.ok ? 'no longer overloaded' : 'overloaded')
    wasOver = !decision.ok
    return decision.ok ? undefined : decision
  }

  app.addHook('onRequest', async (request, reply) => {
    const isVital = request.routeOptions.config.vital === true
    const over = isVital ? undefined : look()
    if (over !== undefined) {
      refused.add({})
      throw new Denied(over)
    }
    if (isVital) return
    inFlight += 1
    request.inFlight = true
    reply.raw.once('close', () => leave(request))
  })
  app.addHook('onSend', async (request) => leave(request))
  app.decorateRequest('inFlight', false)

  function leave(request: { inFlight: boolean }): void {
    if (request.inFlight) inFlight -= 1
    request.inFlight = false
  }
  return { look }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Counted as begun and not yet answered. */
    inFlight: boolean
  }
}

export type LoopWatch = { readonly delayMs: () => number; readonly close: () => void }

// Ten looks a second: a sustained delay is seen in under a second, at no measurable cost.
const LOOK_MS = 100

/** How late this process's event loop runs its timers, which is how late it does everything. */
export function createLoopWatch(): LoopWatch {
  let delayMs = 0
  let dueAt = performance.now() + LOOK_MS
  const timer = setInterval(() => {
    const at = performance.now()
    delayMs = applyDelay(delayMs, at - dueAt)
    dueAt = at + LOOK_MS
  }, LOOK_MS)
  timer.unref()
  return { delayMs: () => delayMs, close: () => clearInterval(timer) }
}
