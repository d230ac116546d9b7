/**
 * From received bytes to the one JSON value that they can mean.
 *
 * A signature covers the value, so bytes that two readers could read differently are refused before
 * anybody verifies them.
 *
 *   V1  Bytes are valid UTF-8, within the size and depth limits, and hold exactly one JSON object.
 *   V2  No name occurs twice in an object: readers differ in which one they take.
 *   V3  The value is what was received: nothing is added, dropped or converted.
 */
import { isUtf8 } from 'node:buffer'
import { type Refused, refuse } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'

/** A JSON object as it came. What its fields mean is the dialects' affair. */
export type ReceivedMessage = { readonly [field: string]: unknown }

export type Reading =
  | { readonly ok: true; readonly message: ReceivedMessage }
  | Refused<'message_oversized' | 'message_malformed'>

export function readMessage(bytes: Uint8Array): Reading {
  if (bytes.length > LIMITS.bodyBytes) {
    return refuse('message_oversized', {
      figures: { bytes: bytes.length, most: LIMITS.bodyBytes },
    })
  }
  if (!isUtf8(bytes)) return malformed('valid UTF-8', 'other bytes')

  const { members, depth } = measure(bytes)
  if (depth > LIMITS.jsonDepth) return malformed(`depth ≤ ${LIMITS.jsonDepth}`, `${depth}`)

  const value = parse(bytes)
  if (!isObject(value)) return malformed('one JSON object', 'something else')
  if (countMembers(value) !== members) return malformed('each name once', 'a name twice')
  return { ok: true, message: value }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  } catch {
    return undefined
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPENING = 0x7b
const CLOSING = 0x7d
// Brackets differ from braces by this bit alone.
const BRACE_BIT = 0x20

/** Counts outside strings. Of what is not JSON the figures mean nothing, and `parse` says so. */
function measure(bytes: Uint8Array): { readonly members: number; readonly depth: number } {
  let members = 0
  let depth = 0
  let deepest = 0
  let quoted = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (quoted) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) quoted = false
    } else if (byte === QUOTE) quoted = true
    else if (byte === COLON) members += 1
    else if ((byte | BRACE_BIT) === OPENING) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if ((byte | BRACE_BIT) === CLOSING) depth -= 1
  }
  return { members, depth: deepest }
}

/** V2: `JSON.parse` keeps the last of two equal names, so fewer are left than colons were seen. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let members = 0
  if (Array.isArray(value)) {
    for (const member of value) members += countMembers(member)
    return members
  }
  for (const name of Object.keys(value)) {
    members += 1 + countMembers((value as ReceivedMessage)[name])
  }
  return members
}

const isObject = (value: unknown): value is ReceivedMessage =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const malformed = (expected: string, got: string): Refused<'message_malformed'> =>
  refuse('message_malformed', { issues: [{ path: '', expected, got }] })
