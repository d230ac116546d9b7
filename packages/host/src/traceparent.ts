/**
 * The `traceparent` header of W3C Trace Context: how a trace goes from one process to the next.
 *
 *   H1  What does not follow the format is not believed, and the trace begins anew.
 *   H2  A later version is read as far as version 00 goes, as the standard asks.
 *   H3  A message that has no field for a correlation id still carries it: its trace id is made
 *       from that id, and a uuid is its own trace id.
 */
import { createHash } from 'node:crypto'
import type { CorrelationId } from '@chimera/domain/ids'
import type { Chance } from './chance.ts'

export type TraceParent = {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string
  /** 16 of them. */
  readonly spanId: string
  readonly sampled: boolean
}

const FORMAT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,256})?$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const SAMPLED = 1

export function decodeTraceparent(header: string): TraceParent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORMAT.exec(header) ?? []
  if (version === undefined || version === 'ff') return undefined
  if (version === '00' && rest !== undefined) return undefined
  if (isZero(traceId) || isZero(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED }
}

export function encodeTraceparent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`
}

/** Where a trace begins that nobody began before (H3). */
export function beginTrace(correlation: CorrelationId, chance: Chance): TraceParent {
  const spanId = Buffer.from(chance.bytes(8)).toString('hex')
  const traceId = UUID.test(correlation)
    ? correlation.replaceAll('-', '').toLowerCase()
    : createHash('sha256').update(correlation).digest('hex').slice(0, 32)
  // The all-zero uuid is an id, but not one that a trace may have.
  return {
    traceId: isZero(traceId) ? `${traceId.slice(1)}1` : traceId,
    spanId: isZero(spanId) ? `${spanId.slice(1)}1` : spanId,
    sampled: true,
  }
}

const isZero = (digits: string): boolean => /^0+$/.test(digits)
