/**
 * What a hub answers about instances, in both directions: the directory (who is there now, ranked
 * and explained) and the presence events (what was posted in the last 24 hours, believed or not).
 */
import type { AgentId, CorrelationId, InstanceId, Instant, PublicKey } from '@chimera/domain/ids'
import type { Part, PlannerHit } from '@chimera/domain/matching/planner-rank'
import type { Announcement, Availability, Liveness } from '@chimera/domain/presence/presence'
import { checker, reader } from '../check.ts'
import { queryChecker } from '../query.ts'
import { instantOf, readUuid, writeInstant } from '../wire.ts'
import * as wire from './schema.ts'
import { VERDICTS, VERIFICATION_WORDS, type Verdict } from './words.ts'

export type InstancesSought = {
  readonly type: 'find_instances'
  /** All of these. */
  readonly capabilities: readonly string[]
  /** Absent: every instance that is not offline. */
  readonly availability?: Availability
  readonly minSlotsFree?: number
  readonly agent?: AgentId
  readonly limit: number
  readonly offset: number
}

export type InstanceFound = {
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly availability: Availability
  readonly liveness: Liveness
  readonly capabilities: readonly string[]
  readonly slotsTotal: number
  readonly slotsFree: number
  readonly load: { readonly cpu: number; readonly mem: number }
  readonly seenAt: Instant
  readonly expiresAt: Instant
  readonly verdict: Verdict
  /** Where it takes offers; absent: at its queue. */
  readonly callback?: string
  /** What its acks are verified with. */
  readonly publicKey?: PublicKey
  readonly why: readonly string[]
}
export type InstancesFound = {
  readonly instances: readonly InstanceFound[]
  readonly total: number
}

export type EventsSought = {
  readonly type: 'read_presence_events'
  readonly agent?: AgentId
  readonly instance?: InstanceId
  readonly availability?: Availability
  /** Absent: 24 hours ago (AV-10). */
  readonly since?: Instant
  readonly until?: Instant
  /** The event that was seen last. */
  readonly after?: string
  readonly limit: number
}

export type PresenceRecord = {
  readonly id: string
  readonly announcement: Announcement
  readonly receivedAt: Instant
  readonly verdict: Verdict
  readonly signature: string
  /** As it came: what the signature is over. */
  readonly raw: Readonly<Record<string, unknown>>
}
export type EventsFound = {
  readonly events: readonly PresenceRecord[]
  /** The event to resume behind; absent on the last page. */
  readonly nextAfter?: string
}

const DEFAULT_HITS = 20
const DEFAULT_EVENTS = 100

export function decodeDirectoryQuery(query: wire.DirectoryQuery): InstancesSought {
  return {
    type: 'find_instances',
    capabilities: query.capability ?? [],
    ...(query.state !== undefined && { availability: query.state }),
    ...(query.min_slots_free !== undefined && { minSlotsFree: query.min_slots_free }),
    ...(query.agent_id !== undefined && { agent: readUuid<AgentId>(query.agent_id) }),
    limit: query.limit ?? DEFAULT_HITS,
    offset: query.offset ?? 0,
  }
}

export function encodeDirectoryQuery(search: InstancesSought): Record<string, string> {
  return {
    ...(search.capabilities.length > 0 && { capability: search.capabilities.join(',') }),
    ...(search.availability !== undefined && { state: search.availability }),
    ...(search.minSlotsFree !== undefined && { min_slots_free: `${search.minSlotsFree}` }),
    ...(search.agent !== undefined && { agent_id: search.agent }),
    limit: `${search.limit}`,
    offset: `${search.offset}`,
  }
}

export function decodeDirectory({ instances, total }: wire.Directory): InstancesFound {
  return { instances: instances.map(decodeEntry), total }
}

export function encodeDirectory({ instances, total }: InstancesFound): wire.Directory {
  return { instances: instances.map(encodeEntry), total }
}

function decodeEntry(entry: wire.InstanceEntry): InstanceFound {
  return {
    agent: readUuid<AgentId>(entry.agent_id),
    instance: readUuid<InstanceId>(entry.instance_id),
    availability: entry.state,
    liveness: entry.liveness,
    capabilities: entry.capabilities,
    slotsTotal: entry.capacity.slots_total,
    slotsFree: entry.capacity.slots_free,
    load: { cpu: entry.load.cpu, mem: entry.load.mem },
    seenAt: instantOf(entry.last_seen),
    expiresAt: instantOf(entry.expires_at),
    verdict: VERDICTS[entry.verification],
    ...(entry.callback_url !== undefined && { callback: entry.callback_url }),
    ...(entry.public_key !== undefined && { publicKey: entry.public_key as PublicKey }),
    why: entry.why,
  }
}

function encodeEntry(found: InstanceFound): wire.InstanceEntry {
  return {
    agent_id: found.agent,
    instance_id: found.instance,
    state: found.availability,
    liveness: found.liveness,
    capabilities: [...found.capabilities],
    capacity: { slots_total: found.slotsTotal, slots_free: found.slotsFree },
    load: { cpu: found.load.cpu, mem: found.load.mem },
    last_seen: writeInstant(found.seenAt),
    expires_at: writeInstant(found.expiresAt),
    verification: VERIFICATION_WORDS[found.verdict],
    ...(found.callback !== undefined && { callback_url: found.callback }),
    ...(found.publicKey !== undefined && { public_key: found.publicKey }),
    why: [...found.why],
  }
}

/** P-6: what the weighing looked at, and what put this instance behind the one above. */
export function explainPlace(hit: PlannerHit, now: Instant): readonly string[] {
  const { candidate, parts, behind } = hit
  const { slotsFree, slotsTotal, seenAt } = candidate
  const heard = Math.max(0, Math.round((now - seenAt) / 1_000))
  return [
    ...parts.map(explainPart),
    `${slotsFree} of ${slotsTotal} slots free`,
    `heard ${heard} s ago`,
    ...(behind === undefined
      ? []
      : [
          `behind ${behind.aboveInstance ?? behind.above} by ${behind.by}: ` +
            `${behind.own} against ${behind.theirs}`,
        ]),
  ]
}

const explainPart = ({ of, shareMicro, weight }: Part): string =>
  `${of} ${Math.round(shareMicro / 10_000)} %, which weighs ${weight} in 1000`

export function decodeEventsQuery(query: wire.EventsQuery): EventsSought {
  return {
    type: 'read_presence_events',
    ...(query.agent_id !== undefined && { agent: readUuid<AgentId>(query.agent_id) }),
    ...(query.instance_id !== undefined && { instance: readUuid<InstanceId>(query.instance_id) }),
    ...(query.state !== undefined && { availability: query.state }),
    ...(query.since !== undefined && { since: instantOf(query.since) }),
    ...(query.until !== undefined && { until: instantOf(query.until) }),
    ...(query.after !== undefined && { after: readUuid<string>(query.after) }),
    limit: query.limit ?? DEFAULT_EVENTS,
  }
}

export function encodeEventsQuery(search: EventsSought): Record<string, string> {
  return {
    ...(search.agent !== undefined && { agent_id: search.agent }),
    ...(search.instance !== undefined && { instance_id: search.instance }),
    ...(search.availability !== undefined && { state: search.availability }),
    ...(search.since !== undefined && { since: writeInstant(search.since) }),
    ...(search.until !== undefined && { until: writeInstant(search.until) }),
    ...(search.after !== undefined && { after: search.after }),
    limit: `${search.limit}`,
  }
}

export function decodeEvents({ events, next_after }: wire.Events): EventsFound {
  return {
    events: events.map(decodeEvent),
    ...(next_after !== undefined && { nextAfter: readUuid<string>(next_after) }),
  }
}

export function encodeEvents({ events, nextAfter }: EventsFound): wire.Events {
  return {
    events: events.map(encodeEvent),
    ...(nextAfter !== undefined && { next_after: nextAfter }),
  }
}

function decodeEvent(event: wire.PresenceEvent): PresenceRecord {
  return {
    id: readUuid<string>(event.event_id),
    announcement: {
      agent: readUuid<AgentId>(event.agent_id),
      instance: readUuid<InstanceId>(event.instance_id),
      availability: event.state,
      capabilities: event.capabilities,
      slotsTotal: event.slots_total,
      slotsFree: event.slots_free,
      load: { cpu: event.load.cpu, mem: event.load.mem },
      signedAt: instantOf(event.signed_at),
      expiresAt: instantOf(event.expires_at),
      correlation: event.trace_id as CorrelationId,
    },
    receivedAt: instantOf(event.received_at),
    verdict: VERDICTS[event.verification],
    signature: event.signature,
    raw: event.raw_message,
  }
}

function encodeEvent(record: PresenceRecord): wire.PresenceEvent {
  const { announcement } = record
  return {
    event_id: record.id,
    agent_id: announcement.agent,
    instance_id: announcement.instance,
    state: announcement.availability,
    capabilities: [...announcement.capabilities],
    slots_total: announcement.slotsTotal,
    slots_free: announcement.slotsFree,
    load: { cpu: announcement.load.cpu, mem: announcement.load.mem },
    trace_id: announcement.correlation,
    signed_at: writeInstant(announcement.signedAt),
    expires_at: writeInstant(announcement.expiresAt),
    received_at: writeInstant(record.receivedAt),
    verification: VERIFICATION_WORDS[record.verdict],
    signature: record.signature,
    raw_message: record.raw,
  }
}

export const readDirectoryQuery = reader(queryChecker(wire.DirectoryQuery), decodeDirectoryQuery)
export const readDirectory = reader(checker(wire.Directory), decodeDirectory)
export const readEventsQuery = reader(queryChecker(wire.EventsQuery), decodeEventsQuery)
export const readEvents = reader(checker(wire.Events), decodeEvents)
