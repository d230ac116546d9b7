/**
 * Orders of operators to agents: given one after another, each with its number, its signed message
 * and its fact in one transaction; and who has obeyed which.
 *
 *   L1  Numbers rise in the order of commits, whichever hub gives the orders: whoever has seen a
 *       number has seen, or can ask for, everything below it.
 *   L2  An id stands for one order, asked for however often and wherever.
 *   L3  That an agent has obeyed is recorded once.
 *   L4  What no order can depend on any more is let go, some with each new one.
 */
import {
  type Addressed,
  type Addressee,
  type ControlIssued,
  type ControlOrder,
  type ControlSeen,
  type ControlWanted,
  decideIssue,
  decideSee,
  type IssueRefusal,
  LEVERS,
  leverOf,
} from '@chimera/domain/control'
import { type Decision, refuse } from '@chimera/domain/decision'
import type {
  AgentId,
  ControlId,
  CorrelationId,
  Instant,
  KeyId,
  OwnerId,
} from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Database, Queries } from './engine/database.ts'
import { type RetryHands, retrying } from './engine/retry.ts'
import { appendFacts } from './facts/append.ts'
import { isStorable } from './storable.ts'

export type IssueAsked = {
  readonly wanted: ControlWanted
  readonly key: KeyId
  readonly by: string
  readonly correlation: CorrelationId
}
/** The message of an order, signed; called with its number, inside of the transaction. */
export type Sign = (order: ControlOrder) => object

export type KeptOrder = { readonly order: ControlOrder; readonly message: object }

/** With the number of agents that it is for, and of those that have obeyed. */
export type StandingOrder = KeptOrder & { readonly addressed: number; readonly seen: number }

export type IssueOutcome = {
  readonly decision: Decision<ControlIssued, IssueRefusal | 'message_malformed'>
  /** As it was given, now or before. */
  readonly kept?: KeptOrder
}

export type Seen = { readonly agent: AgentId; readonly at: Instant }

export type Control = {
  readonly issue: (asked: IssueAsked, sign: Sign) => Promise<IssueOutcome>
  /** The latest of each lever under each address that reaches the agent. */
  readonly reaching: (addressed: Addressed) => Promise<readonly KeptOrder[]>
  /** The latest of each lever under each address, the latest first, and so many. */
  readonly latest: (limit: number) => Promise<readonly StandingOrder[]>
  readonly find: (id: ControlId) => Promise<KeptOrder | undefined>
  /** The agents of an owner that are there. */
  readonly agentsOf: (owner: OwnerId) => Promise<readonly AgentId[]>
  readonly see: (
    addressed: Addressed,
    target: { readonly id: ControlId; readonly correlation: CorrelationId },
  ) => Promise<Decision<ControlSeen, 'order_unknown'>>
  /** Who has obeyed, by id. */
  readonly listSeen: (
    id: ControlId,
    page: { readonly after?: AgentId; readonly limit: number },
  ) => Promise<readonly Seen[]>
}

type StandingRow = OrderRow & { readonly addressed: number; readonly seen: number }
type OrderRow = { readonly given: ControlOrder; readonly message: object }

// L4: more than come, so that the table shrinks; few enough that giving an order is not held up.
const LET_GO = 10

const REACHING = `
  SELECT given, message
  FROM (VALUES ('all', ''), ('owner', $1), ('agent', $2)) AS address (kind, id)
  CROSS JOIN json_array_elements_text($3::json) AS levers (name)
  CROSS JOIN LATERAL (
    SELECT given, message FROM control_orders
    WHERE to_kind = address.kind AND to_id = address.id AND lever = levers.name
    ORDER BY sequence DESC LIMIT 1) AS found`

/** The agents that are there under an address. */
const COUNT = `
  SELECT count(*) FROM agents
  WHERE removed_at IS NULL AND CASE to_kind
    WHEN 'all' THEN true WHEN 'owner' THEN owner = to_id ELSE id = to_id END`

const LATEST = `
  SELECT given, message, (${COUNT}) AS addressed,
    (SELECT count(*) FROM control_seen WHERE control_seen.id = standing.control) AS seen
  FROM (
    SELECT * FROM (
      SELECT DISTINCT ON (to_kind, to_id, lever)
        id AS control, to_kind, to_id, sequence, given, message FROM control_orders
      ORDER BY to_kind, to_id, lever, sequence DESC) AS each
    ORDER BY sequence DESC LIMIT $1) AS standing
  ORDER BY sequence DESC`

export function createControl({
  database,
  clock,
  chance,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant; readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
}): Control {
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }

  async function issue(tx: Queries, asked: IssueAsked, sign: Sign): Promise<IssueOutcome> {
    const { correlation, ...command } = asked
    // L1: numbering and keeping is one step for everybody; readers do not wait.
    await tx.query('LOCK TABLE control_orders IN SHARE ROW EXCLUSIVE MODE')
    const before = await read(tx, asked.wanted.id)
    const [head] = await tx.query<{ last: number }>(
      'SELECT coalesce(max(sequence), 0) AS last FROM control_orders',
      [],
    )
    const { to } = asked.wanted
    const [there] = await tx.query<{ addressed: number }>(
      `SELECT (${COUNT}) AS addressed FROM (VALUES ($1, $2)) AS address (to_kind, to_id)`,
      [to.kind, idOf(to)],
    )
    const now = clock.now()
    const state = {
      known: before?.order,
      last: head?.last ?? 0,
      addressed: there?.addressed ?? 0,
    }
    const decision = decideIssue(state, command, now)
    const order = decision.ok ? decision.facts[0]?.order : undefined
    if (!decision.ok || order === undefined) return { decision, ...(before && { kept: before }) }
    const kept = { order, message: sign(order) }
    await save(tx, kept)
    await letGo(tx, now)
    const recorded = decision.facts.map((fact) => ({ fact, recordedAt: now, correlation }))
    await appendFacts(tx, recorded)
    return { decision, kept }
  }

  return {
    async issue(asked, sign) {
      if (!isStorable(asked.wanted)) return { decision: refuse('message_malformed') }
      return retrying(() => database.transaction((tx) => issue(tx, asked, sign)), hands)
    },

    async reaching({ agent, owner }) {
      if (!isStorable([agent, owner])) return []
      const params = [owner, agent, JSON.stringify(LEVERS)]
      return (await database.query<OrderRow>(REACHING, params)).map(keptOf)
    },

    async latest(limit) {
      const rows = await database.query<StandingRow>(LATEST, [limit])
      return rows.map(({ addressed, seen, ...row }) => ({ ...keptOf(row), addressed, seen }))
    },

    find: async (id) => (isStorable(id) ? read(database, id) : undefined),

    async agentsOf(owner) {
      if (!isStorable(owner)) return []
      const rows = await database.query<{ id: AgentId }>(
        'SELECT id FROM agents WHERE owner = $1 AND removed_at IS NULL ORDER BY id LIMIT $2',
        [owner, LIMITS.agentsPerOwner],
      )
      return rows.map(({ id }) => id)
    },

    see: (addressed, { id, correlation }) =>
      retrying(
        () =>
          database.transaction(async (tx) => {
            const now = clock.now()
            const kept = await read(tx, id)
            const decision = decideSee(kept?.order, addressed, now)
            if (!decision.ok) return decision
            const rows = await tx.query(
              `INSERT INTO control_seen (id, agent, seen_at) VALUES ($1, $2, $3)
               ON CONFLICT DO NOTHING RETURNING id`,
              [id, addressed.agent, now],
            )
            // L3: that somebody was first is known only now.
            if (rows.length === 0) return { ok: true as const, facts: [] }
            await appendFacts(
              tx,
              decision.facts.map((fact) => ({ fact, recordedAt: now, correlation })),
            )
            return decision
          }),
        hands,
      ),

    async listSeen(id, { after = '' as AgentId, limit }) {
      const rows = await database.query<{ agent: AgentId; seen_at: Instant }>(
        `SELECT agent, seen_at FROM control_seen WHERE id = $1 AND agent > $2
         ORDER BY agent LIMIT $3`,
        [id, after, limit],
      )
      return rows.map(({ agent, seen_at }) => ({ agent, at: seen_at }))
    },
  }
}

async function read(queries: Queries, id: ControlId): Promise<KeptOrder | undefined> {
  const [row] = await queries.query<OrderRow>(
    'SELECT given, message FROM control_orders WHERE id = $1',
    [id],
  )
  return row && keptOf(row)
}

async function save(tx: Queries, { order, message }: KeptOrder): Promise<void> {
  const { id, sequence, action, to, issuedAt } = order
  await tx.query(
    `INSERT INTO control_orders (id, sequence, lever, to_kind, to_id, issued_at, given, message)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      id,
      sequence,
      leverOf(action),
      to.kind,
      idOf(to),
      issuedAt,
      JSON.stringify(order),
      JSON.stringify(message),
    ],
  )
}

/** L4: what was given so long ago has expired, and so has all that it may have replaced. */
async function letGo(tx: Queries, now: Instant): Promise<void> {
  const gone = await tx.query<{ id: string }>(
    `DELETE FROM control_orders WHERE id IN (
       SELECT id FROM control_orders WHERE issued_at <= $1 ORDER BY issued_at, sequence LIMIT $2)
     RETURNING id`,
    [now - LIMITS.controlMs, LET_GO],
  )
  if (gone.length === 0) return
  await tx.query(
    'DELETE FROM control_seen WHERE id IN (SELECT json_array_elements_text($1::json))',
    [JSON.stringify(gone.map(({ id }) => id))],
  )
}

const keptOf = ({ given, message }: OrderRow): KeptOrder => ({ order: given, message })

function idOf(to: Addressee): string {
  if (to.kind === 'all') return ''
  return to.kind === 'agent' ? to.agent : to.owner
}
