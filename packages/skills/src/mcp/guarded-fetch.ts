/**
 * The guarded client as the `fetch` that the MCP client takes: every address that it dials is
 * judged, and every answer is read whole up to a bound.
 *
 *   G1  No redirect is followed: headers with keys go where the user sent them and nowhere else.
 *   G2  A stream that the server would hold open for its own news is not asked for: nobody listens.
 */
import type { GuardedClient } from '@chimera/host/guarded/client'
import { GuardFailure } from '@chimera/host/guarded/failure'

export type FetchBounds = {
  readonly bodyBytes: number
  /** For one request; whoever asks usually gives up before. */
  readonly totalMs: number
}

type Method = 'GET' | 'POST' | 'DELETE'
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

// The end of a session is told, and not waited for any longer.
const GOODBYE_MS = 1_000
// What has no body by its nature; `Response` refuses one there.
const BODILESS = new Set([204, 205, 304])

export function guardedFetch(guard: GuardedClient, bounds: FetchBounds): Fetch {
  const { bodyBytes, totalMs } = bounds
  return async (url, init = {}) => {
    const method = methodOf(init.method)
    // G2.
    if (method === 'GET') return new Response(null, { status: 405 })
    const withinMs = method === 'DELETE' ? Math.min(totalMs, GOODBYE_MS) : totalMs
    const outcome = await guard.request({
      url: String(url),
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' && { body: init.body }),
      ...(init.signal && { signal: init.signal }),
      limits: {
        bodyBytes,
        totalMs: withinMs,
        headersMs: withinMs,
        pauseMs: withinMs,
        redirects: 0,
      },
    })
    if (!outcome.ok) throw new GuardFailure(outcome.failure.code, outcome.failure.detail)
    const { status, headers, body } = outcome
    if (status < 200 || status > 599) throw new GuardFailure('network', `status ${status}`)
    return new Response(BODILESS.has(status) ? null : Buffer.from(body), { status, headers })
  }
}

function methodOf(method = 'GET'): Method {
  if (method === 'GET' || method === 'POST' || method === 'DELETE') return method
  throw new TypeError(`${method} is no method of MCP`)
}
