/**
 * The trace that a request belongs to, as an id: messages that have no field for one carry it in
 * the header.
 */
import type { CorrelationId } from '@chimera/domain/ids'
import { decodeTraceparent } from '@chimera/host/traceparent'
import type { FastifyRequest } from 'fastify'

export function traceOf({ headers }: Pick<FastifyRequest, 'headers'>): CorrelationId | undefined {
  const { traceparent: header } = headers
  const trace = typeof header === 'string' ? decodeTraceparent(header) : undefined
  if (trace === undefined) return undefined
  const [, ...parts] = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(trace.traceId) ?? []
  return parts.join('-') as CorrelationId
}
