/**
 * The one text of a JSON value (RFC 8785), so that two machines sign and hash the same bytes.
 *
 *   N1  Equal values have equal bytes, whatever the order of their keys.
 *   N2  What is not JSON has no canonical form: NaN, Infinity, undefined, holes, functions, dates,
 *       class instances and lone surrogates are refused, not dropped or turned into something else.
 */
import { hash } from 'node:crypto'
import type { Digest } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { Failure } from './failure.ts'

// Printable ASCII that JSON writes as it is.
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
// With the `u` flag this matches only a surrogate that has no partner.
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * Of a value made by our own code: what is not plain JSON is a bug, and thrown. Written here and
 * not by a library, because it takes half the time, and next to signing and verifying this is what
 * agents and directories spend most on. The tests hold it to the text of the library.
 */
export function canonicalText(value: unknown): string {
  try {
    return write(value, undefined, LIMITS.jsonDepth)
  } catch {
    // There is none, and a slower look says why.
    throw new Failure('value_not_json', findProblem(value, '', 0) ?? 'the value itself')
  }
}

/**
 * Of a value that `JSON.parse` made, without one of its fields.
 *
 * What JSON can spell but RFC 8785 refuses (`1e999`, `"\ud800"`) and what is too deep to walk comes
 * back as undefined.
 */
export function canonicalParsed(value: unknown, omitted?: string): string | undefined {
  try {
    return write(value, omitted)
  } catch {
    return undefined
  }
}

export function canonicalBytes(value: unknown): Uint8Array {
  return Buffer.from(canonicalText(value), 'utf8')
}

export function canonicalDigest(value: unknown): Digest {
  return hash('sha256', canonicalText(value), 'hex') as Digest
}

export function digestOf(bytes: Uint8Array): Digest {
  return hash('sha256', bytes, 'hex') as Digest
}

function write(value: unknown, omitted?: string, depth = Number.POSITIVE_INFINITY): string {
  if (depth < 0) throw new Failure('value_not_json', 'too deep')
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number' && Number.isFinite(value)) return `${value}`
  if (typeof value === 'boolean' || value === null) return `${value}`
  if (typeof value !== 'object') throw new Failure('value_not_json', typeof value)
  let text = ''
  if (Array.isArray(value)) {
    for (const member of value)
      text += `${text === '' ? '' : ','}${write(member, undefined, depth - 1)}`
    return `[${text}]`
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Failure('value_not_json', 'not a plain object')
  }
  for (const name of inOrder(Object.keys(value))) {
    if (name === omitted) continue
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name]
    text += `${text === '' ? '' : ','}${quote(name)}:${write(member, undefined, depth - 1)}`
  }
  return `{${text}}`
}

// Up to so many are put in order where they stand, which needs no other list.
const FEW = 20

/** By UTF-16 code units, as RFC 8785 asks: so the plain comparison goes, and the plain sort. */
function inOrder(names: string[]): readonly string[] {
  if (names.length > FEW) return names.sort()
  for (let at = 1; at < names.length; at += 1) {
    const name = names[at] ?? ''
    let to = at
    for (; to > 0; to -= 1) {
      const before = names[to - 1] ?? ''
      if (before <= name) break
      names[to] = before
    }
    names[to] = name
  }
  return names
}

function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  if (LONE_SURROGATE.test(text)) throw new Failure('value_not_json', 'a lone surrogate')
  return JSON.stringify(text)
}

/** Where the first thing is that is not JSON, and what it is. The depth also ends a cycle. */
function findProblem(value: unknown, path: string, depth: number): string | undefined {
  if (depth > LIMITS.jsonDepth) return `${path}: deeper than ${LIMITS.jsonDepth}`
  switch (typeof value) {
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : `${path}: ${value}`
    case 'string':
      return LONE_SURROGATE.test(value) ? `${path}: a lone surrogate` : undefined
    case 'object':
      break
    default:
      return `${path}: ${typeof value}`
  }
  if (value === null) return undefined
  if (Array.isArray(value)) {
    // By index: `forEach` and `entries` treat holes differently, and a hole is not JSON.
    for (let at = 0; at < value.length; at += 1) {
      const problem = findProblem(value[at], `${path}/${at}`, depth + 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return `${path}: not a plain object`
  for (const [name, member] of Object.entries(value)) {
    if (LONE_SURROGATE.test(name)) return `${path}: a lone surrogate in a name`
    const problem = findProblem(member, `${path}/${name}`, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}
