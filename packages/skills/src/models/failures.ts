/**
 * What an SDK throws, in our words. Only its status, its time to wait and a short code are read:
 * the rest may hold what was asked, or a key that a server echoed.
 */
import type { Instant } from '@chimera/domain/ids'
import { ModelFailure } from './model.ts'

const CODE = /^[A-Za-z][A-Za-z_]{2,39}$/
/** A longer wait than this is not waited for anyway. */
const LONGEST_WAIT_MS = 3_600_000

export function failureFrom(error: unknown, now: Instant): ModelFailure {
  if (error instanceof ModelFailure) return error
  const { statusCode, data, responseHeaders = {} } = membersOf(error)
  if (typeof statusCode !== 'number') return new ModelFailure('unavailable', 'no answer')
  const detail = [`status ${statusCode}`, ...codeIn(data)].join(', ')
  if (statusCode === 401 || statusCode === 403) return new ModelFailure('unauthorised', detail)
  if (statusCode === 429) {
    const retryAfterMs = waitIn(responseHeaders, now)
    return new ModelFailure(
      'rate_limited',
      detail,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    )
  }
  if (statusCode >= 500 || statusCode === 408) return new ModelFailure('unavailable', detail)
  return new ModelFailure('unusable', detail)
}

type Members = {
  readonly statusCode?: unknown
  readonly data?: unknown
  readonly responseHeaders?: Readonly<Record<string, string>>
}
const membersOf = (error: unknown): Members =>
  typeof error === 'object' && error !== null ? error : {}

/** `model_not_found`, `RESOURCE_EXHAUSTED`: letters only, so that no key passes for one. */
function codeIn(data: unknown): readonly string[] {
  const { error }: { readonly error?: unknown } = Object(data)
  const { code, status, type }: Readonly<Record<string, unknown>> = Object(error)
  const said = [code, status, type].find((each) => typeof each === 'string' && CODE.test(each))
  return typeof said === 'string' ? [said] : []
}

/** Seconds or a date, as HTTP has it. */
function waitIn(headers: Readonly<Record<string, string>>, now: Instant): number | undefined {
  const said = headers['retry-after']
  if (said === undefined) return undefined
  const ms = /^\d{1,6}$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - now
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.round(ms)), LONGEST_WAIT_MS) : undefined
}
