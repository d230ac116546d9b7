/**
 * The atoms that all five dialects are written with: identifiers, times, money, bounded text.
 *
 *   W1  What a format accepts, its reader reads; what a reader returns, its writer writes back.
 *   W2  Money is never computed with: a JSON number becomes hundredths by its decimal digits.
 *   W3  A time without a zone means nothing and is refused; so is a day that does not exist.
 *   W4  Identifiers are compared in lower case, as RFC 9562 has it, and always written so.
 */
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { Type } from 'typebox'

export const Uuid = Type.String({ format: 'uuid' })
export const DateTime = Type.String({ format: 'date-time' })
export const Url = Type.String({ format: 'uri', maxLength: LIMITS.urlChars })
/** Credits with at most two decimals. `multipleOf: 0.01` would refuse 0.07 in most validators. */
export const Credits = Type.Number({ format: 'credits', minimum: 0 })
/** Opaque owner and orchestrator ids (CH-13). */
export const OwnerName = Type.String({ minLength: 1, maxLength: LIMITS.ownerChars })
/** A skill or capability, with its version or without (SK-5). */
export const SkillName = Type.String({ minLength: 1, maxLength: LIMITS.skillChars })
export const TraceId = Type.String({ minLength: 1, maxLength: LIMITS.keyChars })

export const textUpTo = (maxLength: number) => Type.String({ maxLength })
/** Any JSON object: payload, whose own schema is somebody else's. */
export const AnyObject = Type.Record(Type.String(), Type.Unknown())

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Eight-four-four-four-twelve and nothing around it: no `urn:uuid:`, no braces. Any version. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text)
}

export function readUuid<Id extends string>(text: string): Id {
  return text.toLowerCase() as Id
}

/** RFC 3339 with a zone, to the millisecond; undefined when the text is not such a time. */
export function readInstant(text: string): Instant | undefined {
  if (text.length < 20 || text.length > 35) return undefined
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return undefined
  if ((text.charCodeAt(10) | 32) !== LOWER_T) return undefined
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return undefined
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 7)
  const day = digits(text, 8, 10)
  const hour = digits(text, 11, 13)
  const minute = digits(text, 14, 16)
  const second = digits(text, 17, 19)
  // Comparisons with NaN are false, so every test is written to be true for good values.
  // Years below 100 mean the twentieth century to Date.UTC.
  const inRange = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
  if (!inRange || !(hour <= 23 && minute <= 59 && second <= 59)) return undefined

  let at = 19
  let millis = 0
  if (text.charCodeAt(at) === DOT) {
    const begin = at + 1
    at = begin
    while (isDigit(text.charCodeAt(at))) at += 1
    if (at === begin) return undefined
    // Three digits count; one that is not there is a nought.
    millis = Number(text.slice(begin, Math.min(at, begin + 3)).padEnd(3, '0'))
  }
  const offset = zoneOffset(text, at)
  if (Number.isNaN(offset)) return undefined
  return Date.UTC(year, month - 1, day, hour, minute, second, millis) - offset * 60_000
}

/** For text that a schema has already let through. */
export function instantOf(text: string): Instant {
  return readInstant(text) ?? Number.NaN
}

export function writeInstant(at: Instant): string {
  const text = new Date(at).toISOString()
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : text
}

/** Hundredths of a JSON number, by its shortest decimal form; undefined for a third decimal. */
export function readCents(credits: number): number | undefined {
  const match = /^(\d{1,14})(?:\.(\d{1,2}))?$/.exec(String(credits))
  if (match === null) return undefined
  const [, whole = '', part = ''] = match
  const cents = Number(whole + part.padEnd(2, '0'))
  return Number.isSafeInteger(cents) ? cents : undefined
}

/** For numbers that a schema has already let through. */
export function centsOf(credits: number): number {
  return readCents(credits) ?? Number.NaN
}

/** The JSON number whose shortest decimal form is these hundredths: read back from its digits. */
export function writeCents(cents: number): number {
  const digitsOf = String(Math.abs(cents)).padStart(3, '0')
  const text = `${digitsOf.slice(0, -2)}.${digitsOf.slice(-2)}`
  return Number(cents < 0 ? `-${text}` : text)
}

/** Absolute addresses that are dialled over HTTP. Where they may lead is judged when dialling. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\s/?#@\\]{1,255}(?:[/?#][^\s\\]*)?$/i.test(text)
}

/** Any absolute address (RFC 3986), such as `chimera://schemas/x`; no blanks, no control codes. */
export function isUri(text: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]{0,30}:(?:\/\/[^\s/?#\\]*)?[^\s\\"<>^`{|}]*$/i.test(text) && text.length > 3
  )
}

const [DASH, COLON, DOT, LOWER_T, LOWER_Z, PLUS, ZERO] = [45, 58, 46, 116, 122, 43, 48]

const isDigit = (code: number): boolean => code >= 48 && code <= 57

function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at)
    if (!isDigit(code)) return Number.NaN
    value = value * 10 + code - ZERO
  }
  return value
}

/**
 * Minutes east of UTC at this place in the text, which must end with it; NaN when it is no zone.
 */
function zoneOffset(text: string, at: number): number {
  const sign = text.charCodeAt(at)
  if ((sign | 32) === LOWER_Z) return text.length === at + 1 ? 0 : Number.NaN
  if ((sign !== PLUS && sign !== DASH) || text.length !== at + 6) return Number.NaN
  if (text.charCodeAt(at + 3) !== COLON) return Number.NaN
  const hours = digits(text, at + 1, at + 3)
  const minutes = digits(text, at + 4, at + 6)
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN
  return (hours * 60 + minutes) * (sign === PLUS ? 1 : -1)
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}
