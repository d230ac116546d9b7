/**
 * The HTTP status of a refusal, judged by who does what on seeing it: the caller fixes (400, 409,
 * 413, 422), proves who it is (401), gives up (403, 404, 410), pays (402), or waits (429, 503).
 */
import { REFUSALS, type Refusal, type RefusalKind } from '@chimera/domain/refusals'

const BY_KIND: Record<RefusalKind, number> = {
  invalid: 400,
  unproven: 401,
  forbidden: 403,
  unknown: 404,
  conflict: 409,
  unaffordable: 402,
  full: 503,
  closed: 503,
  late: 422,
  unsupported: 400,
}

/** Where the kind alone would send the caller the wrong way. */
const BY_NAME: Partial<Record<Refusal, number>> = {
  message_oversized: 413,
  input_invalid: 422,
  output_invalid: 422,
  webhooks_exhausted: 409,
  address_refused: 422,
  rate_exceeded: 429,
  agents_exhausted: 409,
  aliases_exhausted: 409,
  message_early: 425,
  message_expired: 401,
  reservation_lapsed: 410,
  transition_illegal: 422,
  reason_missing: 422,
  approval_expired: 401,
}

export function statusOf(refusal: Refusal): number {
  return BY_NAME[refusal] ?? BY_KIND[REFUSALS[refusal].kind]
}

/** What an edge sends back, whatever carries it. */
export type Answer<Body> = { readonly status: number; readonly body: Body }
