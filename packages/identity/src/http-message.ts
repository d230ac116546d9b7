/**
 * The parts of an HTTP message that a signature can speak of (RFC 9421, section 2), taken from
 * plain values, so that no server framework is needed.
 *
 *   T1  Values are taken as they travelled. A path or query is not decoded and encoded again.
 *   T2  What is ambiguous has no value: a missing field, a parameter that occurs twice, a target
 *       with a password in it.
 */

/** Names in any case; a field that came in several lines is a list of them. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>

export type HttpRequest = {
  readonly method: string
  /** Absolute, as the caller meant it: behind a proxy, the outer scheme and host. */
  readonly url: string
  readonly headers: HeaderFields
}

export type HttpResponse = { readonly status: number; readonly headers: HeaderFields }

export type HttpMessage = HttpRequest | HttpResponse

type Target = {
  readonly scheme: string
  readonly authority: string
  readonly path: string
  readonly query: string
}

// A fragment is never sent, so it is no part of a target (RFC 9110, 7.1).
const TARGET = /^(https?):\/\/([^/?#@]+)(\/[^?#]*)?(\?[^#]*)?(?:#.*)?$/i
const PRINTABLE = /^[\x21-\x7e]*$/
const DEFAULT_PORT: Readonly<Record<string, string>> = { http: '80', https: '443' }

/** The combined value of RFC 9421, 2.1: trimmed, unfolded, joined. Undefined when absent. */
export function fieldValue(headers: HeaderFields, name: string): string | undefined {
  const lines = fieldLines(headers, name)
  return lines.length === 0 ? undefined : lines.join(', ')
}

export function fieldLines(headers: HeaderFields, name: string): readonly string[] {
  const lines: string[] = []
  for (const [each, value] of Object.entries(headers)) {
    if (value === undefined || each.toLowerCase() !== name) continue
    for (const line of typeof value === 'string' ? [value] : value) lines.push(unfold(line))
  }
  return lines
}

/** The value of a component whose name begins with `@` and that takes no parameter. */
export function derivedValue(message: HttpMessage, name: string): string | undefined {
  if ('status' in message) return name === '@status' ? String(message.status) : undefined
  if (name === '@method') return message.method
  const target = readTarget(message.url)
  if (target === undefined) return undefined
  switch (name) {
    case '@target-uri':
      return `${target.scheme}://${target.authority}${target.path}${target.query}`
    case '@authority':
      return target.authority
    case '@scheme':
      return target.scheme
    case '@request-target':
      return `${target.path}${target.query}`
    case '@path':
      return target.path
    case '@query':
      // An absent query and an empty one are both the question mark alone (RFC 9421, 2.2.7).
      return target.query === '' ? '?' : target.query
    default:
      return undefined
  }
}

/** RFC 9421, 2.2.8: decoded as a form, then percent-encoded in one fixed way. */
export function queryParameter(message: HttpMessage, name: string): string | undefined {
  if ('status' in message) return undefined
  const query = readTarget(message.url)?.query
  if (query === undefined) return undefined
  const found = [...new URLSearchParams(query)].filter(([each]) => percentEncode(each) === name)
  const [only, ...more] = found
  return only === undefined || more.length > 0 ? undefined : percentEncode(only[1])
}

/** A line that begins with a blank continues the one before. Any other break is left in, and then
 *  no base takes the value. */
function unfold(line: string): string {
  const [first = '', ...others] = line.split(/\r?\n/)
  if (others.some((each) => !/^[ \t]/.test(each))) return line
  return trim([first, ...others].map(trim).join(' '))
}

/** By hand: a pattern for the end of a line takes time quadratic in the blanks before it. */
function trim(line: string): string {
  let from = 0
  let to = line.length
  while (from < to && isBlank(line.charCodeAt(from))) from += 1
  while (to > from && isBlank(line.charCodeAt(to - 1))) to -= 1
  return line.slice(from, to)
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

function readTarget(url: string): Target | undefined {
  const [whole, scheme = '', authority = '', path = '/', query = ''] = TARGET.exec(url) ?? []
  if (whole === undefined || !PRINTABLE.test(whole)) return undefined
  const lower = scheme.toLowerCase()
  return { scheme: lower, authority: normalise(authority, lower), path, query }
}

function normalise(authority: string, scheme: string): string {
  const lower = authority.toLowerCase()
  return lower.replace(/:(\d*)$/, (port: string, digits: string) =>
    digits === '' || digits === DEFAULT_PORT[scheme] ? '' : port,
  )
}

/** The form encoding's own set, which leaves `*-._` and alphanumerics; a blank is `%20`. */
const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()~]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
