/**
 * Webhooks: addresses that an operator wants to be told of alerts at.
 *
 *   W1  An address has one webhook; making it again gives it the new kinds.
 *   W2  There are at most so many, however many are made at once.
 *   W3  With a webhook go the messages that wait for it, and those that it never got.
 *   W4  No fact holds the address: with some receivers it is the key to them.
 */
import { type AlertKind, isAlertKind, WEBHOOK, type Webhook } from '@chimera/domain/alert'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Database } from './engine/database.ts'
import { appendFacts } from './facts/append.ts'

export type WebhookFact = {
  readonly type: 'webhook_made' | 'webhook_removed'
  readonly at: Instant
  readonly id: string
}

export type Webhooks = {
  readonly make: (
    wanted: Pick<Webhook, 'id' | 'url' | 'kinds'>,
    correlation: CorrelationId,
  ) => Promise<{ readonly ok: true; readonly webhook: Webhook } | Refused<'webhooks_exhausted'>>
  readonly list: () => Promise<readonly Webhook[]>
  /** Whether it was there. */
  readonly remove: (id: string, correlation: CorrelationId) => Promise<boolean>
}

type WebhookRow = {
  readonly id: string
  readonly url: string
  readonly kinds: readonly string[] | null
  readonly made_at: Instant
}

const MAKE = `
  INSERT INTO webhooks (id, url, kinds, made_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (url) DO UPDATE SET kinds = excluded.kinds RETURNING *`

export function createWebhooks({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant }
}): Webhooks {
  return {
    make: ({ id, url, kinds }, correlation) =>
      database.transaction(async (tx) => {
        // W2: counting and adding is one step for everybody.
        await tx.query('LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE')
        const [others] = await tx.query<{ count: number }>(
          'SELECT count(*) AS count FROM webhooks WHERE url <> $1',
          [url],
        )
        const current = others?.count ?? 0
        if (current >= LIMITS.webhooks) {
          return refuse('webhooks_exhausted', { figures: { current, most: LIMITS.webhooks } })
        }
        const now = clock.now()
        const wanted = kinds === undefined ? null : JSON.stringify(kinds)
        const [row] = await tx.query<WebhookRow>(MAKE, [id, url, wanted, now])
        if (row === undefined) throw new Error('a webhook was kept and not answered')
        const fact: WebhookFact = { type: 'webhook_made', at: now, id: row.id }
        await appendFacts(tx, [{ fact, recordedAt: now, correlation }])
        return { ok: true as const, webhook: webhookOfRow(row) }
      }),

    async list() {
      const rows = await database.query<WebhookRow>(
        'SELECT * FROM webhooks ORDER BY made_at, id LIMIT $1',
        [LIMITS.webhooks],
      )
      return rows.map(webhookOfRow)
    },

    remove: (id, correlation) =>
      database.transaction(async (tx) => {
        const gone = await tx.query('DELETE FROM webhooks WHERE id = $1 RETURNING id', [id])
        if (gone.length === 0) return false
        await tx.query('DELETE FROM deliveries WHERE about_kind = $1 AND about_id = $2', [
          WEBHOOK,
          id,
        ])
        const now = clock.now()
        const fact: WebhookFact = { type: 'webhook_removed', at: now, id }
        await appendFacts(tx, [{ fact, recordedAt: now, correlation }])
        return true
      }),
  }
}

function webhookOfRow({ id, url, kinds, made_at }: WebhookRow): Webhook {
  const known: readonly AlertKind[] | undefined = kinds?.filter(isAlertKind)
  return { id, url, madeAt: made_at, ...(known && { kinds: known }) }
}
