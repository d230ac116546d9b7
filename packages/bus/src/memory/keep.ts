/**
 * What the in-process broker keeps its streams in. This one is memory, and forgets with its
 * process; one that asks a store fits the same port.
 *
 *   K1  Places are given in the order of appending, without a hole, and never twice.
 *   K2  An id that is remembered is not kept again: the first place is the answer.
 *   K3  Beyond any limit of the plan the oldest go.
 */
import type { Instant, MessageId } from '@chimera/domain/ids'
import { Failure } from '../failure.ts'
import type { Kept, StreamHead } from '../link.ts'
import { type Message, sizeOf } from '../message.ts'
import type { StreamPlan } from '../plan.ts'

export type StreamKeep = {
  /** Makes the stream, or gives the one that is there new limits. */
  readonly plan: (plan: StreamPlan) => Promise<void>
  readonly append: (stream: string, message: Message, now: Instant) => Promise<Placed>
  readonly head: (stream: string, now: Instant) => Promise<StreamHead>
  /** From this place on, at most so many; none when there are none yet. */
  readonly read: (stream: string, from: number, most: number) => Promise<readonly Kept[]>
}

export type Placed = { readonly seq: number; readonly repeated: boolean }

type Stream = {
  plan: StreamPlan
  kept: Kept[]
  /** Where the list begins: what is before was dropped, and is cleared away now and then. */
  from: number
  bytes: number
  last: number
  readonly ids: Map<MessageId, { readonly seq: number; readonly at: Instant }>
}

const COMPACT_AT = 1_024

export function createMemoryKeep(): StreamKeep {
  const streams = new Map<string, Stream>()

  function streamCalled(name: string): Stream {
    const stream = streams.get(name)
    if (stream === undefined) throw new Failure('stream_unknown', name)
    return stream
  }

  return {
    plan: async (plan) => {
      const stream = streams.get(plan.name)
      if (stream !== undefined) stream.plan = plan
      else streams.set(plan.name, { plan, kept: [], from: 0, bytes: 0, last: 0, ids: new Map() })
    },
    append: async (name, message, now) => {
      const stream = streamCalled(name)
      forget(stream, now)
      const { subject, bytes, headers = {} } = message
      const before = headers.id === undefined ? undefined : stream.ids.get(headers.id)
      if (before !== undefined) return { seq: before.seq, repeated: true }
      const size = sizeOf(message)
      if (size > stream.plan.keepBytes) throw new Failure('stream_refused', `${size} bytes`)
      stream.last += 1
      const seq = stream.last
      stream.kept.push({ seq, at: now, delivery: { subject, bytes, headers } })
      stream.bytes += size
      if (headers.id !== undefined) stream.ids.set(headers.id, { seq, at: now })
      trim(stream, now)
      return { seq, repeated: false }
    },
    head: async (name, now) => {
      const stream = streamCalled(name)
      trim(stream, now)
      const first = stream.kept[stream.from]?.seq ?? stream.last + 1
      return { first, last: stream.last, born: name }
    },
    read: async (name, from, most) => {
      const stream = streamCalled(name)
      const first = stream.kept[stream.from]?.seq ?? stream.last + 1
      const at = stream.from + Math.max(0, from - first)
      return stream.kept.slice(at, at + most)
    },
  }
}

function trim(stream: Stream, now: Instant): void {
  const { keepMs, keepMessages, keepBytes } = stream.plan
  for (;;) {
    const oldest = stream.kept[stream.from]
    if (oldest === undefined) break
    const count = stream.kept.length - stream.from
    const over = count > keepMessages || stream.bytes > keepBytes
    if (!over && oldest.at + keepMs > now) break
    stream.from += 1
    stream.bytes -= sizeOf(oldest.delivery)
  }
  if (stream.from >= COMPACT_AT && stream.from * 2 >= stream.kept.length) {
    stream.kept = stream.kept.slice(stream.from)
    stream.from = 0
  }
}

function forget({ ids, plan }: Stream, now: Instant): void {
  for (const [id, { at }] of ids) {
    if (at + plan.dedupeMs > now) return
    ids.delete(id)
  }
}
