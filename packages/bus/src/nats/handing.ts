/**
 * A stream handed out to a group, over JetStream: the group is a durable consumer, so the broker
 * itself remembers what was dealt with, also while none of the group is there.
 */
import {
  AckPolicy,
  type ConsumerMessages,
  DeliverPolicy,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { HAND_AGAIN_MS, HANDED_AT_ONCE } from '../limits.ts'
import type { Handing, HandingOut } from '../link.ts'
import { deliveryOf } from './headers.ts'
import { failureOf } from './streams.ts'

// As a follower of a stream does.
const PULL_MS = 30_000
const HEARTBEAT_MS = 5_000
// Of all in the group together; more wait at the broker.
const UNDER_WAY = 1_000

export type NatsHanding = HandingOut & {
  readonly manager: JetStreamManager
  readonly client: JetStreamClient
  readonly until: AbortSignal
}

export async function* handOut(handing: NatsHanding): AsyncGenerator<Handing, void> {
  const { manager, client, stream, group, pattern, until } = handing
  let messages: ConsumerMessages | undefined
  const stop = (): void => messages?.stop()
  until.addEventListener('abort', stop, { once: true })
  try {
    // The same again for whoever comes second.
    await manager.consumers.add(stream, {
      durable_name: group,
      filter_subject: pattern,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(HAND_AGAIN_MS),
      deliver_policy: DeliverPolicy.All,
      max_ack_pending: UNDER_WAY,
    })
    const reader = await client.consumers.get(stream, group)
    while (!until.aborted) {
      messages = await reader.fetch({
        max_messages: HANDED_AT_ONCE,
        expires: PULL_MS,
        idle_heartbeat: HEARTBEAT_MS,
      })
      for await (const message of messages) {
        if (until.aborted) return
        const at = Math.floor(message.info.timestampNanos / 1e6)
        const { subject, data, headers } = message
        yield {
          seq: message.seq,
          at,
          delivery: deliveryOf({ subject, data, ...(headers && { headers }) }),
          done: () => message.ack(),
          again: (ms) => message.nak(ms),
        }
      }
    }
  } catch (error) {
    if (!until.aborted) throw failureOf(error, stream)
  } finally {
    until.removeEventListener('abort', stop)
    stop()
  }
}
