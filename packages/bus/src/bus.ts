/**
 * The bus over any broker: what waits, what is sent again and what is taken up again after a loss
 * is put together here once, so that it is the same in one process and over NATS. The port says
 * what is promised.
 */
import { createDesk } from './desk.ts'
import { startDialling } from './dialling.ts'
import { Failure } from './failure.ts'
import { following } from './following.ts'
import { beingHanded } from './handing.ts'
import { createLanes } from './lanes.ts'
import { BUS_LIMITS, type BusLimits } from './limits.ts'
import type { BusChance, BusClock, Delivery, Dial, Link } from './link.ts'
import { checkMessage, type Headers, type Message, type Received } from './message.ts'
import { createOutbox } from './outbox.ts'
import {
  type BucketPlan,
  checkGroup,
  checkKey,
  checkPlans,
  type StreamPlan,
  streamOf,
} from './plan.ts'
import type { Bucket, Bus, BusEvent, BusState, RequestOptions } from './port.ts'
import { isSubject } from './subjects.ts'

export type BusOptions = {
  readonly dial: Dial
  readonly clock: BusClock
  readonly chance: BusChance
  readonly streams?: readonly StreamPlan[]
  readonly buckets?: readonly BucketPlan[]
  readonly limits?: Partial<BusLimits>
}

/** Opened at once, whether the broker is there or not: the state tells (B5). */
export function openBus(options: BusOptions): Bus {
  const { clock, chance } = options
  const limits: BusLimits = { ...BUS_LIMITS, ...options.limits }
  const plans = { streams: options.streams ?? [], buckets: options.buckets ?? [] }
  checkPlans(plans)

  const listeners = new Set<(event: BusEvent) => void>()
  const tell = (event: BusEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event)
      } catch (error) {
        // Its mistake must not look like a loss of the broker, and must not be lost either.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
  let state: BusState = { type: 'away', since: clock.now(), reason: 'not dialled yet' }
  let told = false
  let link: Link | undefined
  let phase: 'open' | 'draining' | 'closed' = 'open'
  const ending = new AbortController()
  const waiters = new Set<() => void>()
  const requests = new Set<Promise<unknown>>()

  const outbox = createOutbox({
    limits,
    onDropped: (messages) => tell({ type: 'dropped', messages }),
  })
  const lanes = createLanes({ limits, clock, chance })
  const desk = createDesk({ limits, received, tell })

  function use(next: Link | undefined): void {
    link = next
    desk.use(next)
    outbox.use(next)
    lanes.use(next)
  }

  const dialling = startDialling({
    dial: () =>
      options.dial({
        plans,
        messageBytes: limits.messageBytes,
        requests: limits.requests,
        forbidden: (detail) => tell({ type: 'forbidden', detail }),
      }),
    limits,
    clock,
    chance,
    up: (next) => {
      state = { type: 'connected', since: clock.now() }
      told = true
      use(next)
      for (const wake of waiters) wake()
      tell(state)
    },
    away: (reason) => {
      if (link !== undefined) use(undefined)
      const since = state.type === 'away' ? state.since : clock.now()
      const known = told && state.type === 'away'
      state = { type: 'away', since, reason }
      told = true
      if (!known) tell(state)
    },
  })

  function received(delivery: Delivery): Received {
    const { subject, bytes, headers, replyTo } = delivery
    if (replyTo === undefined || !isSubject(replyTo)) return { subject, bytes, headers }
    const reply = (answer: Uint8Array, answerHeaders?: Headers): void => {
      say({ subject: replyTo, bytes: answer, ...(answerHeaders && { headers: answerHeaders }) })
    }
    return { subject, bytes, headers, reply }
  }

  /** An answer may still be given while the bus drains; nothing else is said then. */
  function say(message: Message): 'sent' | 'buffered' {
    checkMessage(message, limits.messageBytes)
    if (phase === 'closed') throw closedFailure()
    return outbox.publish(message)
  }

  function mustBeOpen(): void {
    if (phase !== 'open') throw closedFailure()
  }

  function linkNow(): Link {
    mustBeOpen()
    if (link === undefined) {
      throw new Failure('broker_away', state.type === 'away' ? state.reason : state.type)
    }
    return link
  }

  function connected(until: AbortSignal): Promise<Link | undefined> {
    return waitFor(until, (done) => {
      const wake = (): void => done()
      if (link !== undefined) done()
      else waiters.add(wake)
      return () => waiters.delete(wake)
    }).then(() => (until.aborted ? undefined : link))
  }

  function pause(until: AbortSignal): Promise<void> {
    const ms = limits.redialMs * (0.5 + chance.fraction())
    return waitFor(until, (done) => clock.after(ms, done).cancel)
  }

  /** Of whoever reads a stream that was planned. */
  function untilEnd(stream: string, signal: AbortSignal | undefined): AbortSignal {
    if (!plans.streams.some(({ name }) => name === stream)) {
      throw new Failure('stream_unknown', stream)
    }
    return signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
  }

  async function request(message: Message, asked: RequestOptions): Promise<Received> {
    checkMessage(message, limits.messageBytes)
    const answer = linkNow().ask(message, asked)
    const ended: Promise<unknown> = answer.then(
      () => requests.delete(ended),
      () => requests.delete(ended),
    )
    requests.add(ended)
    return received(await answer)
  }

  function bucket(name: string): Bucket {
    if (!plans.buckets.some((each) => each.name === name)) {
      throw new Failure('bucket_unknown', name)
    }
    const over = (): Bucket => linkNow().bucket(name)
    const checked = (key: string, bytes: Uint8Array): Bucket => {
      checkKey(key)
      if (bytes.length > limits.messageBytes) throw new Failure('message_too_large', key)
      return over()
    }
    return {
      put: async (key, bytes) => checked(key, bytes).put(key, bytes),
      add: async (key, bytes) => checked(key, bytes).add(key, bytes),
      get: async (key) => checked(key, NOTHING).get(key),
      remove: async (key) => checked(key, NOTHING).remove(key),
      all: async () => over().all(),
    }
  }

  async function settle(): Promise<void> {
    await desk.drain()
    await Promise.all([lanes.drained(), outbox.drained(), ...requests])
    // A link that is lost now has nothing left to lose.
    await link?.flush().catch(() => {})
  }

  async function drain(): Promise<void> {
    phase = 'draining'
    ending.abort()
    const enough = new AbortController()
    const limit = clock.after(limits.drainMs, () => enough.abort())
    void settle().finally(() => enough.abort())
    await waitFor(enough.signal, () => () => {})
    limit.cancel()
    phase = 'closed'
    desk.close()
    lanes.close()
    await dialling.close()
    use(undefined)
    state = { type: 'closed', since: clock.now() }
    tell(state)
    listeners.clear()
  }

  let closing: Promise<void> | undefined
  return {
    publish: (message) => {
      mustBeOpen()
      return say(message)
    },
    store: async (message) => {
      mustBeOpen()
      checkMessage(message, limits.messageBytes)
      const plan = streamOf(plans, message.subject)
      if (plan === undefined) throw new Failure('stream_unknown', message.subject)
      return lanes.store(message, plan)
    },
    subscribe: (pattern, subscribing = {}) => {
      mustBeOpen()
      return desk.subscribe(pattern, subscribing)
    },
    follow: (stream, follow) => {
      const until = untilEnd(stream, follow.signal)
      return following({ ...follow, stream, until, connected, pause, received })
    },
    handOut: (stream, { group, pattern, signal }) => {
      checkGroup({ group, pattern })
      const until = untilEnd(stream, signal)
      return beingHanded({ stream, group, pattern, until, connected, pause, received })
    },
    request,
    bucket,
    flush: async () => {
      linkNow()
      await outbox.drained()
      await linkNow().flush()
    },
    state: () => state,
    figures: () => ({
      buffered: outbox.waiting(),
      dropped: outbox.dropped(),
      unconfirmed: lanes.waiting(),
      ...desk.figures(),
    }),
    watch: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => {
      closing ??= drain()
      return closing
    },
  }
}

const NOTHING = new Uint8Array()

const closedFailure = (): Failure => new Failure('bus_closed', 'the bus was closed')

/** Waits for `done` to be called or the signal to abort; cleans up either way. */
function waitFor(until: AbortSignal, begin: (done: () => void) => () => void): Promise<void> {
  return new Promise((resolve) => {
    if (until.aborted) return resolve()
    let cleanUp = (): void => {}
    const done = (): void => {
      until.removeEventListener('abort', done)
      cleanUp()
      resolve()
    }
    until.addEventListener('abort', done, { once: true })
    cleanUp = begin(done)
  })
}
