/**
 * Reading sealed facts and presence posts as one sequence, the same for every reader of every hub.
 *
 *   O1  The order is that of the transactions that wrote them: seals and posts each know theirs.
 *       In one transaction facts come before posts, facts by number and posts by id.
 *   O2  Nothing is read of a transaction that is not below the oldest one still running: before it
 *       a late commit could still appear.
 *   O3  A page that is cut off in one log is cut off in the other at the same transaction.
 *
 * A transaction that runs for long, anywhere on the server, holds readers up; it loses nothing.
 */
import type { Sealed } from '@chimera/domain/audit'
import type {
  AgentId,
  CorrelationId,
  Digest,
  InstanceId,
  Instant,
  OwnerId,
  TaskId,
} from '@chimera/domain/ids'
import { comparePlaces, type Kin, type LiveEntry, type LivePlace } from '@chimera/domain/live'
import type { Availability } from '@chimera/domain/presence/presence'
import type { Queries } from './engine/database.ts'

export type LiveSpan = {
  /** Everything that can be read now lies before it. */
  readonly now: LivePlace
  /** The last transaction of which posts were dropped with their day; below 0 for none. */
  readonly droppedTx: number
}

export type LivePage = {
  readonly entries: readonly LiveEntry[]
  /** How far it was read; where the next page begins. */
  readonly through: LivePlace
  /** There is more, now or as soon as what runs has ended. */
  readonly more: boolean
}

export type LiveWanted = { readonly posts: boolean; readonly limit?: number }

// One answer: enough to share the round trip, small enough to be held for many readers at once.
const MOST = 500

const HORIZON = `
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS ahead`

const SPAN = `
  SELECT horizon.tx AS horizon, presence_dropped.tx AS dropped,
    (SELECT coalesce(max(seq), 0) FROM seals WHERE seals.tx < horizon.tx) AS seq
  FROM presence_dropped,
    (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS tx) AS horizon`

// A fact names its hold, its payment or its agents by their ids; who they are never changes.
const FACTS = `
  SELECT page.seq, page.tx, prev, hash, fact, recorded_at, correlation,
    coalesce(held.payer, paid.payer) AS payer, coalesce(held.payee, paid.payee) AS payee,
    held.funder, held.agent, worker.owner AS agent_owner, held.hirer AS planner,
    asker.owner AS planner_owner, coalesce(held.task, paid.task) AS task
  FROM (SELECT seq, tx, prev, hash, fact_id FROM seals
      WHERE seq > $1 AND tx < $2 ORDER BY seq LIMIT $3) AS page
    JOIN facts ON facts.id = page.fact_id
    LEFT JOIN holds AS held ON held.id = coalesce(fact #>> '{hold,id}', fact ->> 'hold',
      fact #>> '{reservation,hold}', fact #>> '{occupation,hold}')
    LEFT JOIN movements AS paid ON paid.transfer = fact #>> '{refund,of}'
    LEFT JOIN agents AS worker ON worker.id = coalesce(fact ->> 'agent',
      fact #>> '{record,agent}', held.agent, fact ->> 'id')
    LEFT JOIN agents AS asker ON asker.id = coalesce(fact #>> '{reservation,planner}',
      fact #>> '{occupation,planner}', held.hirer)
  ORDER BY page.seq`

const POSTS = `
  SELECT page.*, agents.owner
  FROM (SELECT tx, event_id, agent_id, instance_id, state, slots_total, slots_free, received_at
      FROM presence_events
      WHERE (tx, event_id COLLATE "C") > ($1, $2) AND tx < $3 AND verification = 'verified'
      ORDER BY tx, event_id COLLATE "C" LIMIT $4) AS page
    LEFT JOIN agents ON agents.id = agent_id
  ORDER BY tx, event_id COLLATE "C"`

export async function readSpan(queries: Queries): Promise<LiveSpan> {
  const [row] = await queries.query<{ horizon: number; dropped: number; seq: number }>(SPAN, [])
  if (row === undefined) throw new Error('it is not known what was dropped')
  return { now: { seq: row.seq, tx: row.horizon, event: '' }, droppedTx: row.dropped }
}

export async function readLive(
  queries: Queries,
  after: LivePlace,
  { posts, limit = MOST }: LiveWanted,
): Promise<LivePage> {
  const most = Math.min(limit, MOST)
  const [snapshot] = await queries.query<{ horizon: number; ahead: number }>(HORIZON, [])
  if (snapshot === undefined) throw new Error('no snapshot')
  const { horizon, ahead } = snapshot
  // Both are read after the horizon was, so all that lies below it is there (O2).
  const [facts, seen] = await Promise.all([
    queries.query<FactRow>(FACTS, [after.seq, horizon, most]),
    posts ? queries.query<PostRow>(POSTS, [after.tx, after.event, horizon, most]) : [],
  ])
  const cutFacts = facts.length === most ? (facts.at(-1)?.tx ?? horizon) : horizon
  const cutPosts = seen.length === most ? (seen.at(-1)?.tx ?? horizon) : horizon
  // O3: behind the last fact of a full page its transaction may have more, and they come first.
  const known = [
    ...facts.filter(({ tx }) => tx <= cutPosts).map((row) => ({ tx: row.tx, fact: row })),
    ...seen.filter(({ tx }) => tx < cutFacts).map((row) => ({ tx: row.tx, post: row })),
  ].sort((a, b) => a.tx - b.tx || Number('post' in a) - Number('post' in b))

  let { seq } = after
  const entries = known.map((row): LiveEntry => {
    if ('fact' in row) {
      seq = row.fact.seq
      return { place: atFact(after, row.fact), ...factOf(row.fact) }
    }
    const { tx, event_id: event } = row.post
    return { place: { seq, tx, event }, post: postOf(row.post) }
  })
  const isCut = cutFacts < horizon || cutPosts < horizon
  const last = entries.at(-1)?.place ?? after
  const end = { seq, tx: Math.max(horizon, after.tx), event: '' }
  // Nothing lies between the last one and the horizon, unless the page was cut off.
  const through = isCut || comparePlaces(end, last) < 0 ? last : end
  return { entries, through, more: isCut || ahead > horizon }
}

/**
 * Behind a fact come the posts of its own transaction. After a copy was moved to another server
 * a reader may be further among the posts than the facts are, and does not go back.
 */
function atFact(after: LivePlace, { seq, tx }: FactRow): LivePlace {
  return tx > after.tx ? { seq, tx, event: '' } : { ...after, seq }
}

type FactRow = {
  readonly seq: number
  readonly tx: number
  readonly prev: Digest
  readonly hash: Digest
  readonly fact: unknown
  readonly recorded_at: Instant
  readonly correlation: CorrelationId
  readonly payer: OwnerId | null
  readonly payee: OwnerId | null
  readonly funder: OwnerId | null
  readonly agent: AgentId | null
  readonly agent_owner: OwnerId | null
  readonly planner: AgentId | null
  readonly planner_owner: OwnerId | null
  readonly task: TaskId | null
}

type PostRow = {
  readonly tx: number
  readonly event_id: string
  readonly agent_id: AgentId
  readonly instance_id: InstanceId
  readonly state: Availability
  readonly slots_total: number
  readonly slots_free: number
  readonly received_at: Instant
  readonly owner: OwnerId | null
}

function factOf(row: FactRow): { readonly sealed: Sealed<unknown>; readonly kin: Kin } {
  const { seq, prev, hash, fact, recorded_at: recordedAt, correlation } = row
  const kin: Kin = {
    ...(row.payer !== null && { payer: row.payer }),
    ...(row.payee !== null && { payee: row.payee }),
    ...(row.funder !== null && { funder: row.funder }),
    ...(row.agent !== null && { agent: row.agent }),
    ...(row.agent_owner !== null && { agentOwner: row.agent_owner }),
    ...(row.planner !== null && { planner: row.planner }),
    ...(row.planner_owner !== null && { plannerOwner: row.planner_owner }),
    ...(row.task !== null && { task: row.task }),
  }
  return { sealed: { seq, prev, hash, fact, recordedAt, correlation }, kin }
}

const postOf = (row: PostRow) => ({
  agent: row.agent_id,
  ...(row.owner !== null && { owner: row.owner }),
  instance: row.instance_id,
  availability: row.state,
  slotsTotal: row.slots_total,
  slotsFree: row.slots_free,
  at: row.received_at,
})
