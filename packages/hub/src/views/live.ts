/**
 * The fan-out of the live feed: one follower of both logs for all readers of this hub.
 *
 *   L1  A reader gets every event behind its place that it asked for and may hear, in the one
 *       order, none twice: first from the store, page by page, then from what the follower reads.
 *       It changes over in one step, at a place that the follower still has at hand.
 *   L2  The bytes of an event are made once for each topic, and those of several events once for
 *       all readers that hear the same.
 *   L3  Nothing waits for a reader. One that has not taken a full buffer is cut off, and resumes.
 *   L4  With nobody listening nothing is read.
 *   L5  Who has lost its standing (a token revoked, a key changed) hears nothing more.
 */
import {
  encodeLiveAudit,
  encodeLiveCut,
  encodeLiveEvent,
  encodeLiveGap,
  encodeLiveWithheld,
  type LiveEnd,
  writeLiveBeat,
  writeLiveFrame,
} from '@chimera/dialects/chimera'
import type { AgentId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  type Audience,
  aboutFact,
  aboutPost,
  decideTopic,
  LIVE_BEGINNING,
  type LiveAbout,
  type LiveEntry,
  type LiveGap,
  type LivePlace,
  type LiveTopic,
} from '@chimera/domain/live'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import type { Guard } from '../guard.ts'
import type { LiveLog } from '../ports/live.ts'
import { furthest, isBehind, isPostPast } from './live-place.ts'

/** Where the bytes go. */
export type LiveSink = {
  /** Bytes that were not taken yet. */
  readonly waiting: () => number
  readonly write: (bytes: Buffer) => void
  /** When some were taken, or nobody takes any more. */
  readonly room: () => Promise<void>
  readonly end: (last: Buffer) => void
  readonly gone: () => boolean
}

export type LiveListener = {
  readonly audience: Audience
  readonly from: LivePlace
  readonly gap?: LiveGap | undefined
  /** By what it was let in; without these it hears nothing more. */
  readonly token?: string | undefined
  readonly agent?: AgentId | undefined
  readonly endsAt: Instant
  /** Who shares the places of one caller. */
  readonly name: string
}

export type Live = {
  /** Whether there is a place for one more of this caller. */
  readonly hasRoom: (name: string) => boolean
  /** Answers how to leave. */
  readonly open: (sink: LiveSink, listener: LiveListener) => () => void
  /** Reads what is new, if anybody listens. */
  readonly pull: () => Promise<void>
  /** Something was appended here; soon is soon enough. */
  readonly nudge: () => void
  readonly beat: () => void
  readonly close: () => void
  readonly size: () => number
}

export type LiveOptions = {
  readonly log: LiveLog
  readonly guard: Guard
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Log
  /** Seals what is new; it pulls when that is done. */
  readonly settle: () => Promise<void>
  readonly most: number
}

type Event = {
  readonly entry: LiveEntry
  readonly about: LiveAbout
  readonly frames: Map<LiveTopic, Buffer>
}

type Member = {
  readonly sink: LiveSink
  readonly listener: LiveListener
  readonly posts: boolean
  /** How far it was written to; what lies behind it is not written again. */
  at: LivePlace
  wroteAt: Instant
  left: boolean
}

type Group = { readonly audience: Audience; readonly members: Set<Member> }

export function createLive(options: LiveOptions): Live {
  const { log, guard, clock, metrics, logger, settle, most } = options
  const members = new Set<Member>()
  const groups = new Map<string, Group>()
  /** What the follower has at hand: everything between `start` and `position`. */
  let ring: Event[] = []
  let start = LIVE_BEGINNING
  let position = LIVE_BEGINNING
  /** From here on posts are in the ring too. */
  let postsFrom = LIVE_BEGINNING
  /** Set while somebody listens; another one after everybody had left. */
  let warm: Promise<void> | undefined
  let reading: { readonly posts: boolean } | undefined
  let pulling: Promise<void> | undefined
  let again = false
  let nudged = false
  let pulledAt = 0
  let closed = false

  const told = metrics.counter({
    name: 'live_events_total',
    help: 'Events that the live feed has read for its readers',
  })
  const cuts = metrics.counter({
    name: 'live_cut_total',
    help: 'Readers of the live feed that the hub has cut off',
    labels: ['why'],
  })
  metrics.gauge({
    name: 'live_readers',
    help: 'Readers of the live feed',
    read: () => members.size,
  })

  const wantsPosts = (): boolean => [...members].some(({ posts }) => posts)

  function eventOf(entry: LiveEntry): Event {
    const about = entry.post ? aboutPost(entry.post) : aboutFact(entry.sealed, entry.kin)
    return { entry, about, frames: new Map() }
  }

  function frameOf(event: Event, topic: LiveTopic): Buffer {
    const made = event.frames.get(topic)
    if (made !== undefined) return made
    const { entry, about } = event
    const whole = topic === 'audit' ? encodeLiveAudit({ ...entry, about }) : undefined
    const passed = whole
      ? guard.pass('chimera/live-audit', whole)
      : guard.pass('chimera/live-event', encodeLiveEvent({ ...entry, about }, topic))
    // That there was something is told all the same, or a reader would see a hole in the chain.
    const data = passed ?? encodeLiveWithheld({ ...entry, about })
    const frame = Buffer.from(writeLiveFrame({ id: entry.place, event: topic, data }))
    event.frames.set(topic, frame)
    return frame
  }

  function chunkOf(events: readonly Event[], audience: Audience): Buffer | undefined {
    const frames: Buffer[] = []
    for (const event of events) {
      const topic = decideTopic(event.about, event.entry.sealed !== undefined, audience)
      if (topic !== undefined) frames.push(frameOf(event, topic))
    }
    return frames.length === 0 ? undefined : Buffer.concat(frames)
  }

  function write(member: Member, bytes: Buffer): void {
    if (member.left) return
    if (member.sink.waiting() > LIMITS.liveBufferBytes) {
      cut(member, 'slow')
      return
    }
    member.sink.write(bytes)
    member.wroteAt = clock.now()
  }

  function leave(member: Member): void {
    if (member.left) return
    member.left = true
    members.delete(member)
    const key = keyOf(member.listener.audience)
    const group = groups.get(key)
    group?.members.delete(member)
    if (group?.members.size === 0) groups.delete(key)
    if (members.size > 0) return
    warm = undefined
    ring = []
  }

  function cut(member: Member, why: LiveEnd): void {
    if (member.left) return
    leave(member)
    cuts.add({ why })
    const data = encodeLiveCut(why, member.at)
    const passed = guard.pass('chimera/live-cut', data)
    member.sink.end(Buffer.from(writeLiveFrame({ event: 'cut', data: passed ?? {} })))
  }

  /** What the follower has read, to all who have changed over to it. */
  function deliver(events: readonly Event[], before: LivePlace): void {
    const through = position
    for (const { audience, members: group } of groups.values()) {
      const shared = chunkOf(events, audience)
      for (const member of group) {
        // Who came from the store may be ahead of what the follower had read.
        const isLevel = member.at === before
        const fresh = isLevel ? events : events.filter((each) => isBehind(each.entry, member.at))
        const bytes = fresh.length === events.length ? shared : chunkOf(fresh, audience)
        if (bytes !== undefined) write(member, bytes)
        member.at = furthest(member.at, through)
      }
    }
    for (const { entry, about } of events) endStanding(entry, about)
  }

  /** L5. Also of those that are still catching up. */
  function endStanding({ sealed }: LiveEntry, { kind, agent }: LiveAbout): void {
    if (sealed === undefined || !STANDING.has(kind)) return
    const { id } = sealed.fact as { readonly id?: unknown }
    for (const member of members) {
      const { token, agent: own } = member.listener
      const isToken = kind === 'token_revoked' && token !== undefined && token === id
      const isAgent = kind !== 'token_revoked' && own !== undefined && own === agent
      if (isToken || isAgent) cut(member, 'revoked')
    }
  }

  function keep(events: readonly Event[], through: LivePlace): void {
    ring.push(...events)
    const excess = ring.length - LIMITS.liveRing
    if (excess > 0) {
      start = ring[excess - 1]?.entry.place ?? start
      ring = ring.slice(excess)
    }
    position = through
  }

  async function pullAll(): Promise<void> {
    for (let more = true; more; ) {
      const mine = warm
      if (mine === undefined || closed) return
      await mine
      reading = { posts: wantsPosts() }
      const page = await log.after(position, reading)
      // Everybody has left meanwhile: who came since begins anew.
      if (warm !== mine) return
      const events = page.entries.map(eventOf)
      const before = position
      keep(events, page.through)
      if (!reading.posts) postsFrom = page.through
      reading = undefined
      told.add({}, events.length)
      if (events.length > 0) deliver(events, before)
      more = page.more && events.length > 0
      if (page.more && !more) nudge()
    }
  }

  function pull(): Promise<void> {
    again = pulling !== undefined
    pulling ??= (async () => {
      try {
        do {
          again = false
          await pullAll()
        } while (again)
      } catch (error) {
        // Readers wait; the next look is a second away.
        if (!closed) logger.warn({ err: error }, 'the live feed could not be read')
      } finally {
        pulling = undefined
        reading = undefined
        pulledAt = clock.now()
      }
    })()
    return pulling
  }

  function nudge(): void {
    if (members.size === 0 || nudged || closed) return
    nudged = true
    clock.after(Math.max(0, pulledAt + LIMITS.livePullMs - clock.now()), () => {
      nudged = false
      if (members.size > 0 && !closed) void settle().catch(() => undefined)
    })
  }

  /** Behind what the follower no longer has, or has without posts, the store is asked. */
  function canChangeOver({ at, posts }: Member): boolean {
    if (at.seq < start.seq) return false
    if (!posts) return true
    const isReadWithout = reading !== undefined && !reading.posts
    return !isReadWithout && isPostPast(at, start) && isPostPast(at, postsFrom)
  }

  function changeOver(member: Member): void {
    const { audience } = member.listener
    const behind = ring.filter((each) => isBehind(each.entry, member.at))
    const bytes = chunkOf(behind, audience)
    if (bytes !== undefined) write(member, bytes)
    member.at = furthest(member.at, position)
    if (member.left) return
    const key = keyOf(audience)
    const group = groups.get(key) ?? { audience, members: new Set() }
    groups.set(key, group)
    group.members.add(member)
  }

  async function begin(): Promise<void> {
    const { now } = await log.span()
    start = now
    position = now
    postsFrom = now
  }

  async function follow(member: Member): Promise<void> {
    warm ??= begin()
    await warm
    while (!member.left && !canChangeOver(member)) {
      const page = await log.after(member.at, { posts: member.posts })
      const bytes = chunkOf(page.entries.map(eventOf), member.listener.audience)
      if (bytes !== undefined) write(member, bytes)
      member.at = page.through
      if (member.wroteAt + LIMITS.liveBeatMs <= clock.now()) write(member, beatOf(member))
      if (member.sink.waiting() > LIMITS.liveBufferBytes / 4) await roomFor(member)
    }
    if (!member.left) changeOver(member)
  }

  async function roomFor(member: Member): Promise<void> {
    const late = clock.after(LIMITS.livePatienceMs, () => cut(member, 'slow'))
    await member.sink.room()
    late.cancel()
    if (member.sink.gone()) leave(member)
  }

  const beatOf = ({ at }: Member): Buffer => Buffer.from(writeLiveBeat(at))

  return {
    hasRoom(name) {
      const own = [...members].filter(({ listener }) => listener.name === name).length
      return !closed && members.size < most && own < LIMITS.liveReadersPerCaller
    },
    open(sink, listener) {
      const posts = listener.audience.topics.includes('presence')
      const { from: at, gap } = listener
      const member: Member = { sink, listener, posts, at, wroteAt: clock.now(), left: false }
      members.add(member)
      write(member, beatOf(member))
      const passed = gap && guard.pass('chimera/live-gap', encodeLiveGap(gap))
      if (passed) {
        write(member, Buffer.from(writeLiveFrame({ id: at, event: 'gap', data: passed })))
      }
      follow(member).catch((error: unknown) => {
        logger.warn({ err: error }, 'a reader of the live feed could not catch up')
        cut(member, 'failed')
      })
      return () => leave(member)
    },
    pull,
    nudge,
    beat() {
      for (const member of members) {
        if (member.listener.endsAt <= clock.now()) cut(member, 'time')
        else write(member, beatOf(member))
      }
    },
    close() {
      closed = true
      for (const member of members) cut(member, 'stopping')
    },
    size: () => members.size,
  }
}

/** Facts after which somebody may not be let in again. */
const STANDING: ReadonlySet<string> = new Set(['token_revoked', 'key_changed', 'agent_removed'])

const keyOf = (audience: Audience): string => JSON.stringify(audience)
