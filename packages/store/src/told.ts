/**
 * What was told of reputations (OC-9), so that each thing is told once, whichever hub tells it and
 * however often it restarts.
 *
 *   L1  What is claimed is marked as told before it is told. A process that dies in between has
 *       not told it; two never both tell it.
 *   L2  Outcomes are claimed in the order of the chain: whatever stands at or before the highest
 *       number was claimed by somebody.
 */
import type { AgentId, Instant } from '@chimera/domain/ids'
import { ADVISORY, type Database } from './engine/database.ts'

/** One agent's last outcome among those that are claimed together. */
export type OutcomeClaim = { readonly agent: AgentId; readonly seq: number }

export type Told = {
  /** The number of the last fact whose outcome was claimed. */
  readonly through: () => Promise<number>
  /** Claims outcomes up to these; answers the number up to which others had claimed before. */
  readonly claimOutcomes: (claims: readonly OutcomeClaim[], now: Instant) => Promise<number>
  /** Claims up to so many agents that were last told of at this time or before. */
  readonly claimDue: (due: {
    readonly lastBy: Instant
    readonly now: Instant
    readonly limit: number
  }) => Promise<readonly AgentId[]>
}

const THROUGH = 'SELECT coalesce(max(told_seq), 0) AS seq FROM told_agents'

const CLAIM_OUTCOMES = `
  INSERT INTO told_agents
  SELECT agent, $2, seq FROM json_to_recordset($1::json) AS list (agent text, seq bigint)
  ON CONFLICT (agent) DO UPDATE SET
    told_at = greatest(told_agents.told_at, excluded.told_at),
    told_seq = greatest(told_agents.told_seq, excluded.told_seq)`

// Looked at again where another claims at the same moment, so that only one has it.
const CLAIM_DUE = `
  INSERT INTO told_agents
  SELECT id, $2, 0 FROM agents LEFT JOIN told_agents ON told_agents.agent = id
  WHERE removed_at IS NULL
    AND coalesce(told_at, (agents.agent->>'registeredAt')::bigint) <= $1
  ORDER BY id LIMIT $3
  ON CONFLICT (agent) DO UPDATE SET told_at = excluded.told_at WHERE told_agents.told_at <= $1
  RETURNING agent`

export function createTold({ database }: { readonly database: Database }): Told {
  return {
    async through() {
      const [row] = await database.query<{ seq: number }>(THROUGH, [])
      return row?.seq ?? 0
    },

    claimOutcomes: (claims, now) =>
      database.transaction(async (tx) => {
        await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY.told])
        const [row] = await tx.query<{ seq: number }>(THROUGH, [])
        await tx.query(CLAIM_OUTCOMES, [JSON.stringify(claims), now])
        return row?.seq ?? 0
      }),

    async claimDue({ lastBy, now, limit }) {
      const rows = await database.query<{ agent: AgentId }>(CLAIM_DUE, [lastBy, now, limit])
      return rows.map(({ agent }) => agent)
    },
  }
}
