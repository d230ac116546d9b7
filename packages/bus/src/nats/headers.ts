/** Our three headers as NATS carries them. By the id JetStream finds repetitions. */
import { headers as createHeaders, Match, type Msg, type MsgHdrs } from '@nats-io/transport-node'
import type { Delivery } from '../link.ts'
import { type Headers, readHeaders } from '../message.ts'

const NAMES = {
  correlation: 'correlation-id',
  traceparent: 'traceparent',
  id: 'Nats-Msg-Id',
} as const satisfies Record<keyof Headers, string>

export function writeHeaders({ correlation, traceparent, id }: Headers = {}): MsgHdrs | undefined {
  if (correlation === undefined && traceparent === undefined && id === undefined) return undefined
  const written = createHeaders()
  if (correlation !== undefined) written.set(NAMES.correlation, correlation)
  if (traceparent !== undefined) written.set(NAMES.traceparent, traceparent)
  if (id !== undefined) written.set(NAMES.id, id)
  return written
}

type Carried = Pick<Msg, 'subject' | 'data' | 'headers' | 'reply'>

export function deliveryOf({ subject, data, headers, reply }: Carried): Delivery {
  // A copy: the data is a view of a buffer that is larger and may be filled again.
  const bytes = new Uint8Array(data)
  const read = headers
    ? readHeaders((name) => headers.get(NAMES[name], Match.IgnoreCase) || undefined)
    : {}
  const delivery = { subject, bytes, headers: read }
  return reply === undefined || reply === '' ? delivery : { ...delivery, replyTo: reply }
}
