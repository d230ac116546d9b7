/**
 * What the bus carries: bytes under a subject, with three headers. What the bytes mean is none of
 * the bus's business.
 *
 *   M1  A message that is too large or malformed is refused before anything is done with it.
 *   M2  What others sent is read leniently: a header that does not follow its form is dropped.
 */
import type { CorrelationId, MessageId } from '@chimera/domain/ids'
import { Failure } from './failure.ts'
import { checkSubject } from './subjects.ts'

export type Headers = {
  /** The id by which everything that belongs together is found. */
  readonly correlation?: CorrelationId
  /** W3C Trace Context. */
  readonly traceparent?: string
  /** The same message sent again has the same one, and a stream keeps it once. */
  readonly id?: MessageId
}

export type Message = {
  readonly subject: string
  readonly bytes: Uint8Array
  readonly headers?: Headers
}

/** One that must not be lost: it needs an id, since it may have to be sent again. */
export type DurableMessage = Message & { readonly headers: { readonly id: MessageId } }

export type Received = {
  readonly subject: string
  readonly bytes: Uint8Array
  readonly headers: Headers
  /** There when the sender waits for an answer. */
  readonly reply?: (bytes: Uint8Array, headers?: Headers) => void
}

/** What a header costs beside its text, roughly: its name and the line around it. */
const HEADER_OVERHEAD = 32
// As long as the domain's own keys may be (LIMITS.keyChars), and traceparents of later versions.
const HEADER_CHARS = 256
const HEADER = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

export function sizeOf({ bytes, headers }: Pick<Message, 'bytes' | 'headers'>): number {
  if (headers === undefined) return bytes.length
  const { correlation, traceparent, id } = headers
  return bytes.length + costOf(correlation) + costOf(traceparent) + costOf(id)
}

function costOf(text: string | undefined): number {
  return text === undefined ? 0 : text.length + HEADER_OVERHEAD
}

export function checkMessage(message: Message, mostBytes: number): void {
  checkSubject(message.subject)
  for (const [name, text] of Object.entries(message.headers ?? {})) {
    if (text !== undefined && !isHeader(text)) throw new Failure('header_malformed', name)
  }
  const size = sizeOf(message)
  if (size > mostBytes) {
    throw new Failure('message_too_large', `${message.subject}: ${size} bytes, most ${mostBytes}`)
  }
}

export function isHeader(text: string): boolean {
  return text.length <= HEADER_CHARS && HEADER.test(text)
}

/** The headers of a message from elsewhere, by how each is called there (M2). */
export function readHeaders(read: (name: keyof Headers) => string | undefined): Headers {
  const correlation = heard(read('correlation'))
  const traceparent = heard(read('traceparent'))
  const id = heard(read('id'))
  return {
    ...(correlation !== undefined && { correlation: correlation as CorrelationId }),
    ...(traceparent !== undefined && { traceparent }),
    ...(id !== undefined && { id: id as MessageId }),
  }
}

function heard(text: string | undefined): string | undefined {
  return text !== undefined && isHeader(text) ? text : undefined
}
