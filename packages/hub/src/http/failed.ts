/** What Fastify or a failing part threw, as something that the caller can act on. */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import { Denied } from './access.ts'

// When to come back to a service that fails: about the time in which a database restarts.
const RETRY_MS = 2_000

/** Something failed that somebody should look at; a refusal that was decided is none. */
export function isFault(error: unknown, { refusal }: Refused<Refusal>): boolean {
  return refusal === 'service_unavailable' && !(error instanceof Denied)
}

export function refusalOf(error: unknown, now: Instant): Refused<Refusal> {
  if (error instanceof Denied) return withRetry(error.refused, now)
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return refuse('message_oversized', { figures: { mostBytes: LIMITS.bodyBytes } })
  }
  if (statusCode >= 400 && statusCode < 500) {
    const issue = {
      path: '',
      expected: 'one JSON value as application/json',
      got: 'something else',
    }
    return refuse('message_malformed', { issues: [issue] })
  }
  return refuse('service_unavailable', { retryAt: now + RETRY_MS })
}

/** Whoever is told to come back is told when. */
function withRetry(refused: Refused<Refusal>, now: Instant): Refused<Refusal> {
  const { refusal, particulars } = refused
  if (refusal !== 'service_unavailable' || particulars.retryAt !== undefined) return refused
  return refuse(refusal, { ...particulars, retryAt: now + RETRY_MS })
}
