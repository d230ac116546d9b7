/**
 * Presence events (AV-10): every post that was received, as it was received, and whether it was
 * believed. Append-only, in partitions of a day, written in batches.
 *
 *   N1  An event is acknowledged when it is kept. The same one again is kept once.
 *   N2  What waits is bounded; beyond, the caller is told and may drop the event: the next post of
 *       the instance is some seconds away.
 *   N3  At least 24 hours are kept. Older days are dropped whole, by the owner's role alone.
 */
import type { AgentId, CorrelationId, InstanceId, Instant } from '@chimera/domain/ids'
import type { Announcement, Availability } from '@chimera/domain/presence/presence'
import { createBatching } from './batching.ts'
import type { Database } from './engine/database.ts'
import { Failure, hasCode } from './failure.ts'
import { storableText } from './storable.ts'

export type PresenceEvent = {
  readonly id: string
  readonly announcement: Announcement
  readonly receivedAt: Instant
  /** `verified`, or the refusal that the post met. */
  readonly verification: string
  readonly signature: string
  /** The message as it came. */
  readonly raw: string
}

export type PresenceQuery = {
  readonly agent?: AgentId
  readonly instance?: InstanceId
  readonly state?: Availability
  /** The last 24 hours if nothing is said. */
  readonly since?: Instant
  /** Not itself included. */
  readonly until?: Instant
  /** The event that was seen last, by its place; what stands behind it is found. */
  readonly after?: { readonly receivedAt: Instant; readonly id: string }
  /** `latest` first if nothing is said. */
  readonly first?: 'latest' | 'oldest'
  readonly limit?: number
}

export type PresenceLog = {
  readonly append: (event: PresenceEvent) => Promise<void>
  readonly find: (query: PresenceQuery) => Promise<readonly PresenceEvent[]>
  /** Makes the partitions of today and tomorrow, so that no event waits for one. */
  readonly prepare: () => Promise<void>
  /** Drops the days that ended before; answers how many. */
  readonly dropBefore: (before: Instant) => Promise<number>
}

const DAY_MS = 24 * 60 * 60 * 1_000
const MOST_TOGETHER = 500
// Ten thousand agents that post at the same moment.
const MOST_WAITING = 10_000
const MOST_FOUND = 1_000
const NO_PARTITION = '23514'

// All but `tx`, which the database gives.
const COLUMNS = `
  event_id, agent_id, instance_id, state, capabilities, slots_total, slots_free, load_cpu,
  load_mem, trace_id, signed_at, expires_at, received_at, verification, signature, raw`

const INSERT = `
  INSERT INTO presence_events (${COLUMNS})
  SELECT ${COLUMNS} FROM json_populate_recordset(NULL::presence_events, $1::json)
  ON CONFLICT DO NOTHING`

export type PresenceLogOptions = {
  readonly database: Database
  readonly clock: { readonly now: () => Instant }
  /** Batches at a time; 1 by default. Two events of one instance are never in two of them. */
  readonly lanes?: number
}

export function createPresenceLog({ database, clock, lanes = 1 }: PresenceLogOptions): PresenceLog {
  const makeDay = (at: Instant) => database.query('SELECT chimera_presence_day($1)', [at])

  async function write(events: readonly Written[]): Promise<readonly true[]> {
    const text = `[${events.map(({ row }) => row).join(',')}]`
    try {
      await database.query(INSERT, [text])
    } catch (error) {
      if (!hasCode(error, 'statement_failed') || error.sqlState !== NO_PARTITION) throw error
      const days = new Set(events.map(({ receivedAt }) => receivedAt - (receivedAt % DAY_MS)))
      for (const day of days) await makeDay(day)
      await database.query(INSERT, [text])
    }
    return events.map(() => true)
  }

  const batching = createBatching<Written, true>({
    run: write,
    most: MOST_TOGETHER,
    mostWaiting: MOST_WAITING,
    lanes: { count: lanes, namesOf: ({ instance }) => [instance] },
  })

  return {
    async append(event) {
      // Looked at alone, so that it does not take others with it, and written down once.
      const row = storableText(rowOf(event))
      if (row === undefined) throw new Failure('fact_unstorable', 'an event that cannot be kept')
      if (batching.isFull()) throw new Failure('database_busy', 'presence events wait')
      await batching.add({
        row,
        receivedAt: event.receivedAt,
        instance: event.announcement.instance,
      })
    },

    async find(query) {
      const { agent, instance, state, after, until, limit = MOST_FOUND } = query
      const since = query.since ?? clock.now() - DAY_MS
      // Behind an event means later when the oldest come first, and earlier otherwise.
      const [way, behind] = query.first === 'oldest' ? ['ASC', '>'] : ['DESC', '<']
      const rows = await database.query<EventRow>(
        `SELECT ${COLUMNS} FROM presence_events
         WHERE received_at >= $1 AND ($2::text IS NULL OR agent_id = $2)
           AND ($3::text IS NULL OR instance_id = $3) AND ($4::text IS NULL OR state = $4)
           AND ($5::bigint IS NULL OR received_at < $5)
           AND ($6::bigint IS NULL OR (received_at, event_id) ${behind} ($6, $7))
         ORDER BY received_at ${way}, event_id ${way} LIMIT $8`,
        [
          since,
          agent ?? null,
          instance ?? null,
          state ?? null,
          until ?? null,
          after?.receivedAt ?? null,
          after?.id ?? null,
          Math.min(limit, MOST_FOUND),
        ],
      )
      return rows.map(eventOf)
    },

    async prepare() {
      const now = clock.now()
      await makeDay(now)
      await makeDay(now + DAY_MS)
    },

    async dropBefore(before) {
      if (before > clock.now() - DAY_MS) throw new Failure('retention_too_short', `${before}`)
      const [row] = await database.transaction(
        (tx) =>
          tx.query<{ dropped: number }>('SELECT chimera_presence_drop($1) AS dropped', [before]),
        { role: 'owner' },
      )
      return row?.dropped ?? 0
    },
  }
}

/** An event as the statement takes it, the day that it belongs to, and whose it is. */
type Written = {
  readonly row: string
  readonly receivedAt: Instant
  readonly instance: InstanceId
}

type EventRow = {
  readonly event_id: string
  readonly agent_id: AgentId
  readonly instance_id: InstanceId
  readonly state: Availability
  readonly capabilities: readonly string[]
  readonly slots_total: number
  readonly slots_free: number
  readonly load_cpu: number
  readonly load_mem: number
  readonly trace_id: CorrelationId
  readonly signed_at: Instant
  readonly expires_at: Instant
  readonly received_at: Instant
  readonly verification: string
  readonly signature: string
  readonly raw: string
}

function rowOf({ id, announcement, receivedAt, verification, signature, raw }: PresenceEvent) {
  return {
    event_id: id,
    agent_id: announcement.agent,
    instance_id: announcement.instance,
    state: announcement.availability,
    capabilities: announcement.capabilities,
    slots_total: announcement.slotsTotal,
    slots_free: announcement.slotsFree,
    load_cpu: announcement.load.cpu,
    load_mem: announcement.load.mem,
    trace_id: announcement.correlation,
    signed_at: announcement.signedAt,
    expires_at: announcement.expiresAt,
    received_at: receivedAt,
    verification,
    signature,
    raw,
  } satisfies EventRow
}

function eventOf(row: EventRow): PresenceEvent {
  return {
    id: row.event_id,
    announcement: {
      agent: row.agent_id,
      instance: row.instance_id,
      availability: row.state,
      capabilities: row.capabilities,
      slotsTotal: row.slots_total,
      slotsFree: row.slots_free,
      load: { cpu: row.load_cpu, mem: row.load_mem },
      signedAt: row.signed_at,
      expiresAt: row.expires_at,
      correlation: row.trace_id,
    },
    receivedAt: row.received_at,
    verification: row.verification,
    signature: row.signature,
    raw: row.raw,
  }
}
