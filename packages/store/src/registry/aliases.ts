/**
 * Who holds an alias of the status feed. Agents claim theirs as part of themselves
 * (agents.ts); what a credential holds is kept here, in the same table, so that an alias has one
 * holder whoever asks at the same moment.
 */
import { decideHoldAlias, type HoldAliasRefusal, type Holder } from '@chimera/domain/agent/alias'
import { type Decision, refuse } from '@chimera/domain/decision'
import type { AgentId, Alias, CorrelationId, Instant } from '@chimera/domain/ids'
import { ADVISORY, type Database, type Queries } from '../engine/database.ts'
import { appendFacts } from '../facts/append.ts'
import { isStorable } from '../storable.ts'

export type AliasesOptions = {
  readonly database: Database
  readonly clock: { readonly now: () => Instant }
}

export type HoldAsked = {
  readonly alias: Alias
  /** The name of the credential, which outlives its renewal. */
  readonly subject: string
  readonly correlation: CorrelationId
}

export type Aliases = {
  /** Never another one later: a holder that was found holds for good. */
  readonly holderOf: (alias: Alias) => Promise<Holder | undefined>
  readonly hold: (
    asked: HoldAsked,
  ) => Promise<Decision<unknown, HoldAliasRefusal | 'message_malformed'>>
}

export function createAliases({ database, clock }: AliasesOptions): Aliases {
  return {
    holderOf: async (alias) => (isStorable(alias) ? readHolder(database, alias) : undefined),

    async hold(asked) {
      if (!isStorable(asked)) return refuse('message_malformed')
      const { alias, subject, correlation } = asked
      return database.transaction(async (tx) => {
        // Those of one credential follow each other, so that their number is exact.
        await tx.query('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [
          ADVISORY.credential,
          subject,
        ])
        const decide = async () => {
          const held = await countHeld(tx, subject)
          return decideHoldAlias({ holder: await readHolder(tx, alias), held }, asked)
        }
        const decision = await decide()
        if (!decision.ok || decision.facts.length === 0) return decision
        const rows = await tx.query(
          `INSERT INTO aliases (alias, subject) VALUES ($1, $2)
           ON CONFLICT DO NOTHING RETURNING alias`,
          [alias, subject],
        )
        // Somebody else was faster, and is found now.
        if (rows.length === 0) return decide()
        const recordedAt = clock.now()
        await appendFacts(
          tx,
          decision.facts.map((fact) => ({ fact, recordedAt, correlation })),
        )
        return decision
      })
    },
  }
}

export async function readHolder(queries: Queries, alias: Alias): Promise<Holder | undefined> {
  const [row] = await queries.query<{ agent: AgentId | null; subject: string | null }>(
    'SELECT agent, subject FROM aliases WHERE alias = $1',
    [alias],
  )
  if (row === undefined) return undefined
  if (row.agent !== null) return { by: 'agent', agent: row.agent }
  return { by: 'credential', subject: row.subject ?? '' }
}

async function countHeld(tx: Queries, subject: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    'SELECT count(*) AS count FROM aliases WHERE subject = $1',
    [subject],
  )
  return row?.count ?? 0
}
