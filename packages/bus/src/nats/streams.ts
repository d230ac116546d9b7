/**
 * Streams over JetStream: made as planned, written to with acknowledgement, read on from a place.
 */
import {
  AckPolicy,
  type ConsumerMessages,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import { errors, nanos } from '@nats-io/transport-node'
import { Failure, reasonOf } from '../failure.ts'
import type { Delivery, Kept, StreamHead } from '../link.ts'
import type { StreamPlan } from '../plan.ts'
import type { Stored } from '../port.ts'
import { deliveryOf } from './headers.ts'

// A follower holds at most so many: 16 MiB of the largest messages.
const READ_AT_ONCE = 64
// A pull that got nothing ends then and is made again.
const PULL_MS = 30_000
// Two missed ones mean that the reader is gone at the broker, and it is made again.
const HEARTBEAT_MS = 5_000
// A reader that nobody pulls from is forgotten by the broker; its place is the follower's own.
const READER_MS = 60_000

export async function makeStream(manager: JetStreamManager, plan: StreamPlan): Promise<void> {
  const limits = {
    subjects: [...plan.subjects],
    max_age: nanos(plan.keepMs),
    max_msgs: plan.keepMessages,
    max_bytes: plan.keepBytes,
    duplicate_window: nanos(plan.dedupeMs),
    num_replicas: plan.replicas ?? 1,
  }
  const fixed = {
    name: plan.name,
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    // What was said is not taken back.
    deny_delete: true,
    deny_purge: true,
  }
  try {
    await manager.streams.add({ ...fixed, ...limits })
  } catch (error) {
    if (!isApi(error, NAME_IN_USE)) throw error
    await manager.streams.update(plan.name, limits)
  }
}

// "Stream name already in use with a different configuration".
const NAME_IN_USE = 10_058

function isApi(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code
}

/** What the broker says about a message that it was asked to keep; undefined for anything else. */
export function readAck({ bytes }: Delivery): Stored | Failure | undefined {
  const ack = parse(bytes)
  if (ack === undefined) return undefined
  const { stream, seq, duplicate, error } = ack
  if (typeof stream === 'string' && typeof seq === 'number' && error === undefined) {
    return { stream, seq, repeated: duplicate === true }
  }
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  const said = 'description' in error ? String(error.description) : String(error.code)
  // By the broker's own numbers: 5xx is its trouble and may pass, 4xx is the message's.
  return new Failure(Number(error.code) >= 500 ? 'broker_lacking' : 'stream_refused', said)
}

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

export async function headOf(manager: JetStreamManager, stream: string): Promise<StreamHead> {
  try {
    const { state, created } = await manager.streams.info(stream)
    // An empty stream counts its first from 0 until something was ever kept.
    return { first: Math.max(1, state.first_seq), last: state.last_seq, born: created }
  } catch (error) {
    throw failureOf(error, stream)
  }
}

export type Reading = {
  readonly manager: JetStreamManager
  readonly client: JetStreamClient
  readonly stream: string
  readonly from: number
  readonly until: AbortSignal
}

export async function* readStream(reading: Reading): AsyncGenerator<Kept, void> {
  const { manager, client, stream, from, until } = reading
  let messages: ConsumerMessages | undefined
  const stop = (): void => messages?.stop()
  until.addEventListener('abort', stop, { once: true })
  try {
    const { name } = await manager.consumers.add(stream, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      inactive_threshold: nanos(READER_MS),
      mem_storage: true,
      num_replicas: 1,
    })
    const reader = await client.consumers.get(stream, name)
    while (!until.aborted) {
      messages = await reader.fetch({
        max_messages: READ_AT_ONCE,
        expires: PULL_MS,
        idle_heartbeat: HEARTBEAT_MS,
      })
      for await (const message of messages) {
        if (until.aborted) return
        const at = Math.floor(message.info.timestampNanos / 1e6)
        const { subject, data, headers } = message
        const carried = { subject, data, ...(headers && { headers }) }
        yield { seq: message.seq, at, delivery: deliveryOf(carried) }
      }
    }
  } catch (error) {
    if (!until.aborted) throw failureOf(error, stream)
  } finally {
    until.removeEventListener('abort', stop)
    stop()
  }
}

export function failureOf(cause: unknown, what: string): Failure {
  if (cause instanceof Failure) return cause
  const detail = `${what}: ${reasonOf(cause)}`
  if (isApi(cause, JetStreamApiCodes.StreamNotFound)) {
    return new Failure('stream_unknown', detail, { cause })
  }
  const deeper = cause instanceof Error ? cause.cause : undefined
  if ([cause, deeper].some((each) => each instanceof errors.PermissionViolationError)) {
    return new Failure('subject_forbidden', detail, { cause })
  }
  if (cause instanceof errors.TimeoutError) return new Failure('request_timeout', detail, { cause })
  if (cause instanceof errors.ClosedConnectionError || cause instanceof errors.RequestError) {
    return new Failure('broker_away', detail, { cause })
  }
  return new Failure('broker_lacking', detail, { cause })
}
