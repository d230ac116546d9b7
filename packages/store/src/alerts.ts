/**
 * Alerts of all hubs on one database. The webhooks that are told of them are beside it.
 *
 *   A1  A kind and a subject have one standing alert, whichever hub saw it first; the others
 *       confirm it.
 *   A2  Raising, clearing and acknowledging commit with their facts and with the messages to the
 *       webhooks, so that each is told once or not at all.
 *   A3  What no hub has confirmed for the lease is cleared, by one hub. Confirmed after that, it is
 *       a new one, and seen once.
 */
import {
  ALERTS,
  type Alert,
  type AlertFact,
  type AlertKind,
  isAlertKind,
  leaseEndsFrom,
  type Severity,
  type Sighted,
} from '@chimera/domain/alert'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { enqueueIn, type NewDelivery } from './deliveries/outbox.ts'
import type { Database, Param, Queries } from './engine/database.ts'
import { appendFacts } from './facts/append.ts'

export type AlertChange = 'raised' | 'cleared'

/** The messages that go out for a change. */
export type Notices = (alert: Alert, change: AlertChange) => readonly NewDelivery[]

export type AlertQuery = {
  /** Those that are over too. */
  readonly all: boolean
  readonly kind?: AlertKind
  /** Behind this one, the latest first. */
  readonly after?: { readonly raisedAt: Instant; readonly id: string }
  readonly limit: number
}

export type Alerts = {
  /**
   * Raises what is new, under the id given, and confirms what stands; answers it as it is kept. The
   * id is one that was never kept before.
   */
  readonly uphold: (sighted: Sighted & { readonly id: string }, notices: Notices) => Promise<Alert>
  /** Ends what nobody confirms any more. */
  readonly clearLapsed: (notices: Notices) => Promise<readonly Alert[]>
  readonly find: (query: AlertQuery) => Promise<readonly Alert[]>
  /** The first time counts; undefined when there is no such alert. */
  readonly acknowledge: (
    target: { readonly id: string; readonly correlation: CorrelationId },
    by: string,
  ) => Promise<Alert | undefined>
  /** Lets go of what is too old or too much; answers how many. */
  readonly purge: () => Promise<number>
}

type AlertRow = {
  readonly id: string
  readonly kind: string
  readonly subject: string
  readonly severity: Severity
  readonly words: string
  readonly raised_at: Instant
  readonly seen_at: Instant
  readonly count: number
  readonly acknowledged_at: Instant | null
  readonly acknowledged_by: string | null
  readonly cleared_at: Instant | null
}

const UPHOLD = `
  INSERT INTO alerts (id, kind, subject, severity, words, raised_at, seen_at, count)
  VALUES ($1, $2, $3, $4, $5, $6, $7, greatest($8::bigint, 1))
  ON CONFLICT (kind, subject) WHERE cleared_at IS NULL DO UPDATE SET
    words = excluded.words,
    seen_at = greatest(alerts.seen_at, excluded.seen_at),
    count = alerts.count + $8::bigint
  RETURNING *`

const PURGE = `
  DELETE FROM alerts WHERE cleared_at IS NOT NULL AND (cleared_at < $1 OR id IN (
    SELECT id FROM alerts WHERE cleared_at IS NOT NULL
    ORDER BY raised_at DESC, id DESC OFFSET $2))
  RETURNING id`

export function createAlertLog({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant }
}): Alerts {
  return {
    uphold: (sighted, notices) =>
      database.transaction(async (tx) => {
        const { id, kind, subject, words, raisedAt, seenAt, count } = sighted
        const { severity } = ALERTS[kind]
        const params = [id, kind, subject, severity, words, raisedAt, seenAt, count]
        const [row] = await tx.query<AlertRow>(UPHOLD, params)
        const alert = alertOfRow(row)
        if (alert === undefined) throw new Error('an alert was kept and not answered')
        // Another id is that of the alert that stood already.
        const isNew = alert.id === id
        if (isNew) await tell(tx, { alert, change: 'raised', now: clock.now() }, notices)
        return alert
      }),

    clearLapsed: (notices) =>
      database.transaction(async (tx) => {
        const now = clock.now()
        const rows = await tx.query<AlertRow>(
          `UPDATE alerts SET cleared_at = $1 WHERE id IN (
             SELECT id FROM alerts WHERE cleared_at IS NULL AND seen_at < $2
             ORDER BY id FOR UPDATE SKIP LOCKED)
           RETURNING *`,
          [now, leaseEndsFrom(now)],
        )
        const cleared = rows.flatMap((row) => alertOfRow(row) ?? [])
        for (const alert of cleared) {
          await tell(tx, { alert, change: 'cleared', now }, notices)
        }
        return cleared
      }),

    async find({ all, kind, after, limit }) {
      const params: Param[] = [limit]
      const put = (value: Param) => `$${params.push(value)}`
      const wanted = [all ? 'true' : 'cleared_at IS NULL']
      if (kind !== undefined) wanted.push(`kind = ${put(kind)}`)
      if (after !== undefined) {
        wanted.push(`(raised_at, id) < (${put(after.raisedAt)}, ${put(after.id)})`)
      }
      const rows = await database.query<AlertRow>(
        `SELECT * FROM alerts WHERE ${wanted.join(' AND ')}
         ORDER BY raised_at DESC, id DESC LIMIT $1`,
        params,
      )
      return rows.flatMap((row) => alertOfRow(row) ?? [])
    },

    acknowledge: ({ id, correlation }, by) =>
      database.transaction(async (tx) => {
        const now = clock.now()
        const [changed] = await tx.query<AlertRow>(
          `UPDATE alerts SET acknowledged_at = $2, acknowledged_by = $3
           WHERE id = $1 AND acknowledged_at IS NULL RETURNING *`,
          [id, now, by],
        )
        if (changed !== undefined) {
          const fact: AlertFact = { type: 'alert_acknowledged', at: now, id, by }
          await appendFacts(tx, [{ fact, recordedAt: now, correlation }])
          return alertOfRow(changed)
        }
        const [row] = await tx.query<AlertRow>('SELECT * FROM alerts WHERE id = $1', [id])
        return alertOfRow(row)
      }),

    async purge() {
      const before = clock.now() - LIMITS.alertMs
      return (await database.query(PURGE, [before, LIMITS.alertHistory])).length
    },
  }
}

type Told = { readonly alert: Alert; readonly change: AlertChange; readonly now: Instant }

/** A2. A webhook whose row is full misses this one; the others and the trail do not. */
async function tell(tx: Queries, { alert, change, now }: Told, notices: Notices): Promise<void> {
  const { id, kind, subject, severity, raisedAt } = alert
  const fact: AlertFact =
    change === 'raised'
      ? { type: 'alert_raised', at: raisedAt, id, kind, subject, severity }
      : { type: 'alert_cleared', at: now, id, kind, subject }
  await appendFacts(tx, [{ fact, recordedAt: now, correlation: id as CorrelationId }])
  for (const each of notices(alert, change)) await enqueueIn(tx, each, { now })
}

/** A kind that a newer version raised is not shown by this one, which has no words for it. */
function alertOfRow(row: AlertRow | undefined): Alert | undefined {
  if (row === undefined || !isAlertKind(row.kind)) return undefined
  return {
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    severity: row.severity,
    words: row.words,
    raisedAt: row.raised_at,
    seenAt: row.seen_at,
    count: row.count,
    ...(row.acknowledged_at !== null && { acknowledgedAt: row.acknowledged_at }),
    ...(row.acknowledged_by !== null && { acknowledgedBy: row.acknowledged_by }),
    ...(row.cleared_at !== null && { clearedAt: row.cleared_at }),
  }
}
