/**
 * Ties the hub to the bus: what it says goes out under the documents' subjects, what agents say
 * there is taken in, and hubs of one database tell each other what they know.
 *
 *   C1  What a hub says itself bears a mark, and no hub takes it in again. Whoever forges the mark
 *       silences only its own message.
 *   C2  What came from the bus is not said there again, and what came by a notice is not told on.
 *   C3  The broker being away stops nothing. Posts that others took in are read from the database
 *       meanwhile, and once more when the broker is back, so that all directories agree again.
 *   C4  Heartbeats are told together, the latest of each agent; everything else within some
 *       milliseconds.
 */
import { HUB_NOTICES, placeOf } from '@chimera/dialects/topics'
import type { AgentId, CorrelationId, Instant, MessageId } from '@chimera/domain/ids'
import type { Timer } from '@chimera/host/clock'
import type { Metrics } from '@chimera/host/metrics'
import type { KeyPair } from '@chimera/identity/keys'
import type { Hub } from './act/hub.ts'
import { keepAgreeing, showFigures } from './agree.ts'
import { hearNotice } from './hearsay.ts'
import { type Intake, intakes } from './intake.ts'
import { createNoticeReader, encodeNotice } from './notice.ts'
import type { Heard, Topic } from './ports/bus.ts'
import type { Carried, Carrier, Hearing, Share } from './ports/carrier.ts'
import type { WatchHands } from './watch.ts'

export type CarryOptions = WatchHands & {
  readonly carrier: Carrier
  readonly heard: Heard
  readonly metrics: Metrics
  /** Tells this hub from the others. */
  readonly name: string
  readonly uuid: () => string
  readonly key: KeyPair | undefined
  /** The broker lets agents speak under their own subjects only. */
  readonly held: boolean
  readonly catchUp: Share['catchUp']
  readonly readAnew: Share['readAnew']
}

export type Carry = {
  readonly share: Share
  /** How far this hub has followed the trail. */
  readonly sealed: (seq: number) => void
  /** From now on what is heard is taken in; what came before has waited. */
  readonly begin: (hub: Hub) => void
}

const QUEUE = 'hubs'
const TOPICS: readonly Topic[] = ['presence', 'capability', 'identity', 'status', 'reputation']
const MARK = 'hub:'
// Long enough for what comes together, too short to be noticed.
const SOON_MS = 5
// An agent that only beats does so every 30 s, and is let go after 90 s.
const BEATS_MS = 500
// Far below what the bus takes, and above the largest single message.
const NOTICE_CHARS = 128 * 1_024
const MOST_BEATS = 1_000
// As many as the store writes at once, and some of them at the same time.
const TOGETHER = 500
const BATCHES_AT_ONCE = 4
const NOTICES_TOGETHER = 64
const AGAIN_MS = 1_000

export function createCarry(options: CarryOptions): Carry {
  const { carrier, heard, clock, log, stop, metrics, name, key } = options
  const readNotice = createNoticeReader(key)
  // Before anything is read from the store, so that nothing falls between the two.
  const notices = carrier.subscribe(HUB_NOTICES)
  const hearings = new Set<Hearing>([notices])
  const dropped = metrics.counter({
    name: 'bus_messages_refused_total',
    help: 'Messages of agents on the bus that were not taken in, by topic and reason',
    labels: ['topic', 'reason'],
  })
  showFigures(carrier, metrics)

  let told: string[] = []
  let toldChars = 0
  let beats = new Map<AgentId, Instant>()
  let changed = false
  let sealed = 0
  let toldSealed = 0
  let closed = false
  let timer: (Timer & { readonly dueAt: Instant }) | undefined
  /** What is being said now came from there, and does not go back (C2). */
  let origin: 'here' | 'bus' | 'notice' = 'here'

  function flush(): void {
    timer?.cancel()
    timer = undefined
    const draft = { by: name, told, beats: [...beats], sealed, changed }
    told = []
    toldChars = 0
    beats = new Map()
    changed = false
    toldSealed = Math.max(toldSealed, sealed)
    carrier.publish({ subject: HUB_NOTICES, bytes: encodeNotice(draft, key) })
  }

  function within(ms: number): void {
    if (closed) return
    const dueAt = clock.now() + ms
    if (timer !== undefined && timer.dueAt <= dueAt) return
    timer?.cancel()
    timer = { ...clock.after(ms, flush), dueAt }
  }

  function tell(topic: Topic, message: object): void {
    if (topic === 'reputation') return
    const text = JSON.stringify({ topic, at: clock.now(), message })
    if (toldChars + text.length > NOTICE_CHARS) flush()
    told.push(text)
    toldChars += text.length
    within(SOON_MS)
  }

  function say(topic: Topic, message: object): void {
    const place = placeOf(topic, message)
    if (place === undefined) return
    const { subject, correlation } = place
    const id = `${MARK}${options.uuid()}` as MessageId
    const bytes = Buffer.from(JSON.stringify(message))
    const headers = { id, ...(isHeader(correlation) && { correlation }) }
    if (topic !== 'reputation') return void carrier.publish({ subject, bytes, headers })
    // The trail has it, and the next one says it anew.
    carrier.store({ subject, bytes, headers }).catch((error: unknown) => {
      log.warn({ err: error, subject }, 'a reputation was not kept on the bus')
    })
  }

  for (const topic of TOPICS) {
    heard.subscribe(topic, (message) => {
      if (closed) return
      if (origin === 'here') say(topic, message)
      if (origin !== 'notice') tell(topic, message)
    })
  }

  /** A hub that says what it takes in to those who listen here, and not where it came from. */
  function from(source: 'bus' | 'notice', hub: Hub): Hub {
    const publish: Hub['publish'] = (topic, message) => {
      origin = source
      try {
        hub.publish(topic, message)
      } finally {
        origin = 'here'
      }
    }
    return { ...hub, publish }
  }

  async function takeIn({ topic, take }: Intake, hub: Hub, carried: Carried): Promise<void> {
    if (carried.headers.id?.startsWith(MARK)) return
    try {
      const outcome = await take(hub, carried)
      if (outcome.ok) return
      dropped.add({ topic, reason: outcome.refusal })
    } catch (error) {
      // The next post is some seconds away; what was acknowledged nowhere is lost nowhere.
      dropped.add({ topic, reason: 'failed' })
      log.debug({ err: error, topic }, 'a message of the bus was not taken in')
    }
  }

  /** Goes on when it was cut off for being slow: what it missed is in the database. */
  async function keepHearing(
    first: Hearing,
    again: () => Hearing,
    hear: (hearing: Hearing) => Promise<void>,
  ): Promise<void> {
    for (let hearing = first; ; hearing = again()) {
      try {
        await hear(hearing)
        return
      } catch (error) {
        log.warn({ err: error }, 'what is said on the bus was not all heard')
        hearings.delete(hearing)
        await clock.sleep(AGAIN_MS, stop.stopping).catch(() => undefined)
      }
      if (stop.stopping.aborted) return
    }
  }

  function opened(pattern: string, queue?: string): Hearing {
    const hearing = carrier.subscribe(pattern, queue === undefined ? {} : { queue })
    hearings.add(hearing)
    return hearing
  }

  async function hearAgents(each: Intake, hub: Hub, hearing: Hearing): Promise<void> {
    const running = new Set<Promise<unknown>>()
    for await (const batch of hearing.batches(TOGETHER)) {
      const taken: Promise<unknown> = Promise.all(batch.map((one) => takeIn(each, hub, one)))
      running.add(taken)
      void taken.finally(() => running.delete(taken))
      if (running.size >= BATCHES_AT_ONCE) await Promise.race(running)
    }
    await Promise.all(running)
  }

  async function hearHubs(hub: Hub, hearing: Hearing): Promise<void> {
    for await (const batch of hearing.batches(NOTICES_TOGETHER)) {
      let behind = false
      for (const { bytes } of batch) {
        const notice = readNotice(bytes)
        if (notice === undefined) log.debug({ bytes: bytes.length }, 'no notice of a hub')
        if (notice === undefined || notice.by === name) continue
        hearNotice(hub, notice)
        toldSealed = Math.max(toldSealed, notice.sealed)
        behind ||= notice.changed || notice.sealed > hub.scores.seq()
      }
      // The next look is a second away if this one fails.
      if (behind) await options.catchUp().catch(() => undefined)
    }
  }

  function begin(hub: Hub): void {
    const fromBus = from('bus', hub)
    const fromHubs = from('notice', hub)
    const loops = intakes({ held: options.held || key === undefined }).map((each) => {
      const open = () => opened(each.pattern, QUEUE)
      return keepHearing(open(), open, (hearing) => hearAgents(each, fromBus, hearing))
    })
    loops.push(
      keepHearing(
        notices,
        () => opened(HUB_NOTICES),
        (hearing) => hearHubs(fromHubs, hearing),
      ),
    )
    loops.push(keepAgreeing(hub, options))
    stop.register({
      name: 'carrying',
      close: async () => {
        if (timer !== undefined) flush()
        closed = true
        for (const each of hearings) each.close()
        await Promise.all(loops)
      },
    })
  }

  return {
    share: {
      beat(agent, at) {
        beats.set(agent, at)
        within(beats.size >= MOST_BEATS ? 0 : BEATS_MS)
      },
      changed() {
        changed = true
        within(SOON_MS)
      },
      catchUp: options.catchUp,
      readAnew: options.readAnew,
      broker: carrier.state,
    },
    sealed(seq) {
      sealed = Math.max(sealed, seq)
      if (sealed > toldSealed) within(SOON_MS)
    },
    begin,
  }
}

/** For a hub without a broker. */
export function carryNothing(reading: Pick<Share, 'catchUp' | 'readAnew'>): Carry {
  const nothing = (): void => undefined
  const broker = () => ({ type: 'none' }) as const
  return {
    share: { ...reading, beat: nothing, changed: nothing, broker },
    sealed: nothing,
    begin: nothing,
  }
}

// As the bus has it: one line of visible characters, not too many.
const HEADER = /^[\x21-\x7e]([\x20-\x7e]{0,254}[\x21-\x7e])?$/

const isHeader = (text: CorrelationId | undefined): text is CorrelationId =>
  text !== undefined && HEADER.test(text)
