/**
 * A broker in this process: several buses may dial it, as several hubs would dial NATS. What is
 * sent is delivered before `send` returns, in the order of subscribing; of a queue, each in its
 * turn.
 *
 * It can be stopped and started again, for tests of what happens meanwhile: streams and buckets
 * stay, connections do not.
 */
import { createAsking } from '../asking.ts'
import { Failure } from '../failure.ts'
import type {
  BusClock,
  Delivery,
  Dial,
  DialOptions,
  Kept,
  Link,
  Listened,
  Listening,
} from '../link.ts'
import type { Message } from '../message.ts'
import { type StreamPlan, streamOf } from '../plan.ts'
import type { Bucket, Stored } from '../port.ts'
import { createMemoryBucket } from './buckets.ts'
import { createHanding } from './handing.ts'
import { createMemoryKeep, type StreamKeep } from './keep.ts'
import { createListenings } from './listenings.ts'

export type Broker = {
  readonly dial: Dial
  /** Cuts every connection, and takes no new one until it is started. */
  readonly stop: () => void
  readonly start: () => void
}

export type BrokerOptions = {
  readonly clock: BusClock
  readonly keep?: StreamKeep
}

// As many as one round of a broker's pull, so that a follower never holds more.
const READ_AT_ONCE = 64

export function createBroker({ clock, keep = createMemoryKeep() }: BrokerOptions): Broker {
  const listenings = createListenings()
  const turns = new Map<string, number>()
  const streams = new Map<string, StreamPlan>()
  const buckets = new Map<string, Bucket>()
  const cuts = new Set<(reason: string) => void>()
  const readers = new Set<() => void>()
  const handing = createHanding(keep, clock)
  let running = true
  let links = 0

  /** To how many it went. */
  function route(delivery: Delivery): number {
    const queues = new Map<string, Listening[]>()
    let reached = 0
    for (const listening of listenings.to(delivery.subject)) {
      if (listening.queue === undefined) {
        reached += 1
        listening.deliver(delivery)
      } else {
        queues.set(listening.queue, [...(queues.get(listening.queue) ?? []), listening])
      }
    }
    for (const [queue, members] of queues) {
      const turn = turns.get(queue) ?? 0
      turns.set(queue, turn + 1)
      reached += 1
      members[turn % members.length]?.deliver(delivery)
    }
    return reached
  }

  function deliveryOf({ subject, bytes, headers = {} }: Message, replyTo?: string): Delivery {
    // A copy: the sender may use its buffer again.
    const copied = { subject, bytes: new Uint8Array(bytes), headers }
    return replyTo === undefined ? copied : { ...copied, replyTo }
  }

  async function append(delivery: Delivery): Promise<Stored> {
    const plan = planOf(delivery.subject)
    if (plan === undefined) throw new Failure('nobody_listens', delivery.subject)
    const placed = await keep.append(plan.name, delivery, clock.now())
    for (const wake of readers) wake()
    handing.wake()
    return { stream: plan.name, ...placed }
  }

  function planOf(subject: string): StreamPlan | undefined {
    return streamOf({ streams: [...streams.values()], buckets: [] }, subject)
  }

  async function makePlanned({ plans }: DialOptions): Promise<void> {
    for (const plan of plans.streams) {
      await keep.plan(plan)
      streams.set(plan.name, plan)
    }
    for (const plan of plans.buckets) {
      if (!buckets.has(plan.name)) buckets.set(plan.name, createMemoryBucket(plan, clock.now))
    }
  }

  async function* read(
    stream: string,
    from: number,
    until: readonly AbortSignal[],
  ): AsyncGenerator<Kept, void> {
    const over = AbortSignal.any([...until])
    for (let next = from; !over.aborted; ) {
      let wake = (): void => {}
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      readers.add(wake)
      over.addEventListener('abort', wake, { once: true })
      try {
        const batch = await keep.read(stream, next, READ_AT_ONCE)
        for (const kept of batch) {
          if (over.aborted) return
          next = kept.seq + 1
          yield kept
        }
        if (batch.length === 0) await woken
      } finally {
        readers.delete(wake)
        over.removeEventListener('abort', wake)
      }
    }
  }

  async function dial(options: DialOptions): Promise<Link> {
    if (!running) throw new Failure('broker_away', 'the in-process broker is stopped')
    await makePlanned(options)
    links += 1
    const inbox = `_INBOX.${links}`
    const mine = new Set<Listening>()
    const gone = new AbortController()
    let lose = (_reason: string): void => {}
    const lost = new Promise<string>((resolve) => {
      lose = resolve
    })

    const asking = createAsking({
      clock,
      inbox,
      most: options.requests,
      send: (message, replyTo) => {
        const delivery = deliveryOf(message, replyTo)
        // As on a wire, the answer never comes before the asking has returned.
        if (route(delivery) === 0) queueMicrotask(() => asking.nobody(replyTo))
      },
    })

    function listen(listening: Listening): Listened {
      const own = { ...listening }
      mine.add(own)
      listenings.add(own)
      const stop = (): void => {
        mine.delete(own)
        listenings.delete(own)
      }
      return { stop, drain: async () => stop() }
    }

    function cut(reason: string): void {
      cuts.delete(cut)
      for (const each of mine) listenings.delete(each)
      gone.abort()
      asking.abandon(reason)
      lose(reason)
    }

    function alive(): void {
      if (gone.signal.aborted) throw new Failure('broker_away', 'the link was lost')
    }

    listen({ pattern: `${inbox}.*`, deliver: asking.answered, refused: () => {} })
    cuts.add(cut)
    return {
      send: (message) => {
        if (gone.signal.aborted) return
        const delivery = deliveryOf(message)
        route(delivery)
        // Said plainly, so nobody waits for it to be kept.
        if (planOf(message.subject)) append(delivery).catch(() => {})
      },
      listen,
      ask: asking.ask,
      append: async (message) => {
        alive()
        const delivery = deliveryOf(message)
        const stored = await append(delivery)
        if (!stored.repeated) route(delivery)
        // Kept, but the connection is gone that the answer would have come by.
        if (gone.signal.aborted) throw new Failure('answer_lost', message.subject)
        return stored
      },
      head: async (stream) => {
        alive()
        return keep.head(stream, clock.now())
      },
      read: (stream, from, signal) => read(stream, from, [signal, gone.signal]),
      handOut: (asked, signal) => handing.handOut(asked, AbortSignal.any([signal, gone.signal])),
      bucket: (name) => {
        const found = buckets.get(name)
        if (found === undefined) throw new Failure('bucket_unknown', name)
        return found
      },
      flush: async () => alive(),
      lost,
      close: async () => cut('closed'),
    }
  }

  return {
    dial,
    stop: () => {
      running = false
      for (const cut of cuts) cut('the in-process broker was stopped')
    },
    start: () => {
      running = true
    },
  }
}
