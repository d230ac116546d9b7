/**
 * Ties the hub to the bus: what it says goes out under the documents' subjects, what agents say
 * there is taken in, and hubs of one database tell each other what they know.
 *
 *   C1  What a hub says itself bears a mark, and no hub takes it in again. Whoever forges the mark
 *       silences only its own message.
 *   C2  What came from the bus is not said there again, and what came by a notice is not told on.
 *   C3  The broker being away stops nothing. Posts that others took in are read from the database
 *       meanwhile, and once more when the broker is back, so that all directories agree again.
 *   C4  What is new is told at once, and what comes while that was just done, some milliseconds
 *       later and together: heartbeats the latest of each agent. That is in real time, whatever
 *       time the hub keeps, for others wait for it.
 */
import { HUB_NOTICES } from '@chimera/dialects/topics'
import type { AgentId, Instant } from '@chimera/domain/ids'
import { createClock, type Timer } from '@chimera/host/clock'
import type { Metrics } from '@chimera/host/metrics'
import type { KeyPair } from '@chimera/identity/keys'
import type { Hub } from './act/hub.ts'
import { type Agreeing, createAgreeing, showFigures } from './agree.ts'
import { hearNoted, hearNotice } from './hearsay.ts'
import { type Intake, intakes } from './intake.ts'
import { createNoticeReader, encodeNotice, isNoticeBy, type Notice } from './notice.ts'
import type { Heard, Topic } from './ports/bus.ts'
import type { Carried, Carrier, Hearing, Noted, Share } from './ports/carrier.ts'
import { keepTakingResults } from './results-in.ts'
import { createSaying, MARK, SAID, type SayingOptions } from './saying.ts'
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
  readonly agentsOf: SayingOptions['agentsOf']
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
// What other hubs of the database do not learn from it anyway.
const TOLD: ReadonlySet<Topic> = new Set<Topic>(['presence', 'capability', 'identity', 'status'])
// Between two notices: long enough for what comes together, too short to be noticed.
const APART_MS = 5
// A hundred thousand agents that only beat do so 3 300 times a second: twenty notices.
const BEATS_APART_MS = 50
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
  let noted = new Map<string, Noted>()
  let changed = false
  let sealed = 0
  let toldSealed = 0
  let closed = false
  const real = createClock()
  let timer: (Timer & { readonly dueAt: Instant }) | undefined
  let flushedAt = Number.NEGATIVE_INFINITY
  let agreeing: Agreeing | undefined
  /** What is being said now came from there, and does not go back (C2). */
  let origin: 'here' | 'bus' | 'notice' = 'here'

  function flush(): void {
    timer?.cancel()
    timer = undefined
    flushedAt = real.now()
    const draft = { by: name, told, beats: [...beats], noted: [...noted.values()], sealed, changed }
    told = []
    toldChars = 0
    beats = new Map()
    noted = new Map()
    changed = false
    toldSealed = Math.max(toldSealed, sealed)
    carrier.publish({ subject: HUB_NOTICES, bytes: encodeNotice(draft, key) })
  }

  /** At once, or so long after the last one. */
  function flushApart(ms: number): void {
    if (closed) return
    const now = real.now()
    // A clock that was set back must not make anybody wait.
    const dueAt = flushedAt > now ? now : Math.max(now, flushedAt + ms)
    if (timer !== undefined && timer.dueAt <= dueAt) return
    timer?.cancel()
    timer = { ...real.after(dueAt - now, flush), dueAt }
  }

  function tell(topic: Topic, message: object, received = JSON.stringify(message)): void {
    if (!TOLD.has(topic)) return
    const text = `{"topic":"${topic}","at":${clock.now()},"message":${received}}`
    if (toldChars + text.length > NOTICE_CHARS) flush()
    told.push(text)
    toldChars += text.length
    flushApart(APART_MS)
  }

  const secluded = options.held || key === undefined
  const say = createSaying({ ...options, secluded })
  for (const topic of SAID) {
    heard.subscribe(topic, (message, received) => {
      if (closed) return
      if (origin === 'here') say(topic, message)
      if (origin !== 'notice') tell(topic, message, received)
    })
  }

  /** A hub that says what it takes in to those who listen here, and not where it came from. */
  function from(source: 'bus' | 'notice', hub: Hub): Hub {
    const publish: Hub['publish'] = (topic, message, received) => {
      origin = source
      try {
        hub.publish(topic, message, received)
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
      if (outcome.ok) return hub.live.nudge()
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
      const notices = batch.flatMap(({ bytes }) => {
        if (isNoticeBy(bytes, name)) return []
        const notice = readNotice(bytes)
        if (notice === undefined) log.debug({ bytes: bytes.length }, 'no notice of a hub')
        return notice === undefined || notice.by === name ? [] : [notice]
      })
      await hearAll(hub, notices)
    }
  }

  async function hearAll(hub: Hub, notices: readonly Notice[]): Promise<void> {
    const early = notices.map((each) => hearNotice(hub, each))
    if (notices.some((each) => each.told.length > 0)) hub.live.nudge()
    for (const each of notices) toldSealed = Math.max(toldSealed, each.sealed)
    if (notices.some((each) => each.changed || each.sealed > hub.scores.seq())) {
      // The next look is a second away if this one fails.
      await options.catchUp().catch(() => undefined)
      // Those who came too early are known now, if they ever are.
      for (const each of early) hearNotice(hub, each)
      // The trail was sealed for the one that told of the change, who may not have looked since.
      noteSealed(hub.scores.seq())
    }
    const names = notices.flatMap((each) => each.noted)
    if (names.length === 0) return
    await hearNoted(hub, names).catch((error: unknown) => {
      log.warn({ err: error }, 'what another hub has noted could not be read')
      agreeing?.missed()
    })
  }

  function noteSealed(seq: number): void {
    sealed = Math.max(sealed, seq)
    if (sealed > toldSealed) flushApart(APART_MS)
  }

  function begin(hub: Hub): void {
    const fromBus = from('bus', hub)
    const fromHubs = from('notice', hub)
    const loops = intakes({ held: secluded }).map((each) => {
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
    loops.push(keepTakingResults(fromBus, { ...options, refused: dropped }))
    agreeing = createAgreeing(hub, options)
    loops.push(agreeing.run())
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
        flushApart(beats.size >= MOST_BEATS ? 0 : BEATS_APART_MS)
      },
      changed() {
        changed = true
        flushApart(APART_MS)
      },
      noted({ kind, subject }) {
        noted.set(`${kind} ${subject}`, { kind, subject })
        flushApart(APART_MS)
      },
      catchUp: options.catchUp,
      readAnew: options.readAnew,
      broker: carrier.state,
    },
    sealed: noteSealed,
    begin,
  }
}

/** For a hub without a broker. */
export function carryNothing(reading: Pick<Share, 'catchUp' | 'readAnew'>): Carry {
  const nothing = (): void => undefined
  const broker = () => ({ type: 'none' }) as const
  return {
    share: { ...reading, beat: nothing, changed: nothing, noted: nothing, broker },
    sealed: nothing,
    begin: nothing,
  }
}
