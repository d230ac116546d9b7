/** What Fastify or a failing part threw, as something that the caller can act on. */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'

// When to come back to an agent that fails: about the time in which it restarts.
const RETRY_MS = 2_000

export function isFault({ refusal }: Refused<Refusal>): boolean {
  return refusal === 'service_unavailable'
}

export function refusalOf(error: unknown, now: Instant): Refused<Refusal> {
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return refuse('message_oversized', { figures: { mostBytes: LIMITS.bodyBytes } })
  }
  if (statusCode >= 400 && statusCode < 500) {
    const expected = 'one JSON value as application/json'
    return refuse('message_malformed', { issues: [{ path: '', expected, got: 'something else' }] })
  }
  return refuse('service_unavailable', { retryAt: now + RETRY_MS })
}
