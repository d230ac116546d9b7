/**
 * The keys that the hub itself has signed with, each with its period, so that what it signed long
 * ago still verifies (P-15).
 *
 *   M1  A hub takes up the key that it is started with; a new one ends the period of the one
 *       before, with a fact. A key that was replaced is not taken up again.
 *   M2  Only public halves are here.
 */
import {
  applyKey,
  decideAdopt,
  type Key,
  type KeyFact,
  type KeyHistory,
} from '@chimera/domain/agent/keys'
import type { Decision } from '@chimera/domain/decision'
import type { CorrelationId, Instant, KeyId, PublicKey } from '@chimera/domain/ids'
import type { Database, Queries } from '../engine/database.ts'
import { type RetryHands, retrying } from '../engine/retry.ts'
import { appendFacts } from '../facts/append.ts'

export type HubKeyFact = { readonly type: 'hub_key_changed'; readonly change: KeyFact }

export type HubKeys = {
  readonly adopt: (key: Key, correlation: CorrelationId) => Promise<Decision<KeyFact, 'key_reused'>>
  readonly history: () => Promise<KeyHistory>
}

type KeyRow = {
  readonly key: KeyId
  readonly public_key: PublicKey
  readonly since: Instant
  readonly until: Instant | null
}

export function createHubKeys({
  database,
  clock,
  chance,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant; readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
}): HubKeys {
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }

  async function adopt(tx: Queries, key: Key, correlation: CorrelationId) {
    // Several hubs may start at once; one after another they find what the one before left.
    await tx.query('LOCK TABLE hub_keys IN SHARE ROW EXCLUSIVE MODE')
    const history = await read(tx)
    const now = clock.now()
    const decision = decideAdopt(history, key, now)
    if (!decision.ok || decision.facts.length === 0) return decision
    const { periods } = decision.facts.reduce(applyKey, history)
    for (const { id, publicKey, from, until = null } of periods.slice(-2)) {
      await tx.query(
        `INSERT INTO hub_keys (key, public_key, since, until) VALUES ($1, $2, $3, $4)
         ON CONFLICT (key) DO UPDATE SET until = $4`,
        [id, publicKey, from, until],
      )
    }
    const facts = decision.facts.map((change): HubKeyFact => ({ type: 'hub_key_changed', change }))
    await appendFacts(
      tx,
      facts.map((fact) => ({ fact, recordedAt: now, correlation })),
    )
    return decision
  }

  return {
    adopt: (key, correlation) =>
      retrying(() => database.transaction((tx) => adopt(tx, key, correlation)), hands),
    history: () => read(database),
  }
}

async function read(queries: Queries): Promise<KeyHistory> {
  const rows = await queries.query<KeyRow>(
    'SELECT key, public_key, since, until FROM hub_keys ORDER BY since, until NULLS LAST',
    [],
  )
  return {
    periods: rows.map(({ key, public_key, since, until }) => ({
      id: key,
      publicKey: public_key,
      from: since,
      ...(until !== null && { until }),
    })),
  }
}
