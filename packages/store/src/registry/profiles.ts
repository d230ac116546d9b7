/**
 * Records of agents, each change with its fact in one transaction (SK-12), and how much of a day an
 * agent was there.
 *
 *   F1  Changes of one agent's record follow each other, in however many processes: of those that
 *       expect the same version one is first, and the others see what it left.
 *   F2  A record is kept from its first change on; before, an agent has its first version.
 */

import type { Standing } from '@chimera/domain/agent/condition'
import {
  type AgentRecord,
  decideUpdate,
  firstRecord,
  presentRecord,
  type RecordUpdate,
  type RecordUpdated,
} from '@chimera/domain/agent/record'
import { type Decision, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Availability } from '@chimera/domain/presence/presence'
import type { Refusal } from '@chimera/domain/refusals'
import type { Database, Queries } from '../engine/database.ts'
import { type RetryHands, retrying } from '../engine/retry.ts'
import { appendFacts } from '../facts/append.ts'
import { isStorable } from '../storable.ts'
import type { Target } from './agents.ts'

export type RecordOutcome = {
  readonly decision: Decision<RecordUpdated, Refusal>
  /** As it is afterwards; absent where there is no such agent. */
  readonly record?: AgentRecord
}

export type Profiles = {
  /** `seen` is how the agent stands by its presence, which no table holds. */
  readonly update: (target: Target, update: RecordUpdate, seen: Standing) => Promise<RecordOutcome>
  readonly load: (agent: AgentId) => Promise<AgentRecord | undefined>
  /** Page by page, for building a view. */
  readonly loadAll: () => AsyncGenerator<readonly AgentRecord[]>
  /** For how long, between these moments, some instance of it was there by its verified posts. */
  readonly upMs: (agent: AgentId, span: Span) => Promise<number>
  /** When its instances were there and what they said, the latest of them; by their beginnings. */
  readonly spans: (agent: AgentId, span: Span) => Promise<readonly PresenceSpan[]>
}

export type PresenceSpan = {
  readonly state: Exclude<Availability, 'offline'>
  readonly begins: Instant
  readonly ends: Instant
}

export type Span = { readonly since: Instant; readonly until: Instant }

// A record has some hundred bytes.
const PAGE = 1_000

/**
 * A post counts until the next one of its instance, at most for as long as it is valid. Where those
 * of several instances overlap, the time counts once.
 */
const UP = `
  WITH posts AS (
    SELECT state, greatest(received_at, $2) AS begins,
      least(received_at + expires_at - signed_at, $3,
        lead(received_at) OVER (PARTITION BY instance_id ORDER BY received_at, event_id)) AS ends
    FROM presence_events
    WHERE agent_id = $1 AND verification = 'verified'
      AND received_at >= $2::bigint - ${LIMITS.presenceTtlMs} AND received_at < $3::bigint
  ), spans AS (
    SELECT ends, greatest(begins, max(ends) OVER (
      ORDER BY begins, ends ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS begins
    FROM posts WHERE state <> 'offline'
  )
  SELECT coalesce(sum(greatest(0, ends - begins)), 0)::bigint AS up_ms FROM spans`

// A post that is late by a moment is no pause; a minute is less than a picture shows.
const PAUSE_MS = 60_000

/** Posts of one instance that say the same and follow on each other are one span. */
const SPANS = `
  WITH posts AS (
    SELECT instance_id, state, greatest(received_at, $2) AS begins,
      least(received_at + expires_at - signed_at, $3,
        lead(received_at) OVER (PARTITION BY instance_id ORDER BY received_at, event_id)) AS ends
    FROM presence_events
    WHERE agent_id = $1 AND verification = 'verified'
      AND received_at >= $2::bigint - ${LIMITS.presenceTtlMs} AND received_at < $3::bigint
  ), told AS (
    SELECT *, CASE WHEN state = lag(state) OVER one AND begins <= lag(ends) OVER one + ${PAUSE_MS}
      THEN 0 ELSE 1 END AS fresh
    FROM posts WHERE state <> 'offline' AND ends > begins
    WINDOW one AS (PARTITION BY instance_id ORDER BY begins, ends)
  ), spans AS (
    SELECT *, sum(fresh) OVER (PARTITION BY instance_id ORDER BY begins, ends) AS span FROM told
  ), whole AS (
    SELECT state, min(begins) AS begins, max(ends) AS ends FROM spans
    GROUP BY instance_id, span, state ORDER BY min(begins) DESC LIMIT ${LIMITS.presenceSpans}
  )
  SELECT state, begins::bigint AS begins, ends::bigint AS ends FROM whole ORDER BY begins, ends`

export function createProfiles({
  database,
  clock,
  chance,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant; readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
}): Profiles {
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }

  async function change(
    tx: Queries,
    { id, correlation }: Target,
    { update, seen }: { readonly update: RecordUpdate; readonly seen: Standing },
  ): Promise<RecordOutcome> {
    // F1: the agent's own row stands for its record, which may not be there yet.
    const [there] = await tx.query(
      'SELECT FROM agents WHERE id = $1 AND removed_at IS NULL FOR UPDATE',
      [id],
    )
    if (there === undefined) return { decision: refuse('agent_unknown') }
    const before = presentRecord((await read(tx, id)) ?? firstRecord(id, seen), seen)
    const now = clock.now()
    const decision = decideUpdate(before, update, now)
    if (!decision.ok) return { decision, record: before }
    const record = decision.facts.at(-1)?.record ?? before
    if (decision.facts.length > 0) await save(tx, record)
    const recorded = decision.facts.map((fact) => ({ fact, recordedAt: now, correlation }))
    await appendFacts(tx, recorded)
    return { decision, record }
  }

  return {
    async update(target, update, seen) {
      if (!isStorable(target)) return { decision: refuse('agent_unknown') }
      if (!isStorable(update)) return { decision: refuse('message_malformed') }
      return retrying(
        () => database.transaction((tx) => change(tx, target, { update, seen })),
        hands,
      )
    },

    load: async (agent) => (isStorable(agent) ? read(database, agent) : undefined),

    async *loadAll() {
      for (let last = ''; ; ) {
        const rows = await database.query<{ record: AgentRecord }>(
          'SELECT record FROM agent_records WHERE agent > $1 ORDER BY agent LIMIT $2',
          [last, PAGE],
        )
        if (rows.length === 0) return
        yield rows.map((row) => row.record)
        last = rows.at(-1)?.record.agent ?? last
      }
    },

    async upMs(agent, { since, until }) {
      if (!isStorable(agent)) return 0
      const [row] = await database.query<{ up_ms: number }>(UP, [agent, since, until])
      return row?.up_ms ?? 0
    },

    spans: async (agent, { since, until }) =>
      isStorable(agent) ? database.query<PresenceSpan>(SPANS, [agent, since, until]) : [],
  }
}

async function read(queries: Queries, agent: AgentId): Promise<AgentRecord | undefined> {
  const [row] = await queries.query<{ record: AgentRecord }>(
    'SELECT record FROM agent_records WHERE agent = $1',
    [agent],
  )
  return row?.record
}

async function save(tx: Queries, record: AgentRecord): Promise<void> {
  await tx.query(
    `INSERT INTO agent_records (agent, version, record) VALUES ($1, $2, $3)
     ON CONFLICT (agent) DO UPDATE SET version = $2, record = $3`,
    [record.agent, record.version, JSON.stringify(record)],
  )
}
