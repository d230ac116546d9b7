/**
 * The outbox: messages that must be brought to an address, and whose turn it is.
 *
 *   O1  A message is in here with whatever caused it, in the same transaction, or not at all.
 *   O2  Whoever claims a message has it alone until the claim comes back. A claim is never waited
 *       for: several hubs share the work, and what a killed one had comes back by itself.
 *   O3  A claim takes one message of a host at most, of the host whose message is due the longest
 *       first: hosts take turns, and one with a long row does not hold up the others.
 *   O4  Only the holder of a claim records what came of it; who comes too late changes nothing.
 */

import type { Refused } from '@chimera/domain/decision'
import { type DeliveryFact, decideEnqueue, isTrouble, type Trouble } from '@chimera/domain/delivery'
import type { CorrelationId, Instant, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Database, Queries } from '../engine/database.ts'

export type NewDelivery = {
  /** Names the message to its receiver; the same at each attempt. */
  readonly id: string
  readonly to: string
  /** As it is sent and signed: JSON text. */
  readonly body: string
  readonly about: { readonly kind: string; readonly id: string }
  readonly owner?: OwnerId
  readonly correlation: CorrelationId
  readonly traceparent?: string
}

export type Claimed = NewDelivery & {
  readonly host: string
  readonly claim: string
  /** The one that is claimed included. */
  readonly attempts: number
  readonly enqueuedAt: Instant
}

export type ClaimWanted = {
  /** Never used before. */
  readonly claim: string
  readonly most: number
  /** Hosts that have enough to do. */
  readonly except: readonly string[]
}

export type Enqueued = { readonly ok: true } | Refused<'message_oversized' | 'queue_full'>

export type Outbox = {
  readonly enqueue: (delivery: NewDelivery) => Promise<Enqueued>
  readonly claim: (wanted: ClaimWanted) => Promise<readonly Claimed[]>
  /** By hand, of one that was given up: undefined when there is none such. */
  readonly claimLetter: (id: string, claim: string) => Promise<Claimed | 'waiting' | undefined>
  readonly record: (claimed: Claimed, fact: DeliveryFact) => Promise<void>
  /** As if it had not been claimed. */
  readonly giveBack: (claimed: Claimed) => Promise<void>
}

type ClaimedRow = {
  readonly id: string
  readonly target: string
  readonly host: string
  readonly body: string
  readonly about_kind: string
  readonly about_id: string
  readonly owner: OwnerId | null
  readonly correlation: CorrelationId
  readonly traceparent: string | null
  readonly enqueued_at: Instant
  readonly attempts: number
  readonly claim: string
}

const INSERT = `
  INSERT INTO deliveries
    (id, target, host, body, about_kind, about_id, owner, correlation, traceparent,
     enqueued_at, due_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
  ON CONFLICT (id) DO NOTHING`

const WAITING = `
  SELECT count(*) AS waiting FROM (
    SELECT FROM deliveries WHERE target = $1 AND died_at IS NULL LIMIT $2) AS those`

const CLAIM = `
  UPDATE deliveries SET claim = $1, due_at = $2, attempts = attempts + 1
  WHERE id IN (
    SELECT turn.id FROM (
      SELECT host, min(due_at) AS first FROM deliveries
      WHERE died_at IS NULL AND due_at <= $3
        AND host NOT IN (SELECT json_array_elements_text($4::json))
      GROUP BY host ORDER BY first LIMIT $5) AS hosts
    CROSS JOIN LATERAL (
      SELECT id FROM deliveries
      WHERE host = hosts.host AND died_at IS NULL AND due_at <= $3
      ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) AS turn)
  RETURNING *`

export function createOutbox({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant }
}): Outbox {
  const comesBack = () => clock.now() + LIMITS.deliveryClaimMs

  return {
    enqueue: (delivery) =>
      database.transaction((tx) => enqueueIn(tx, delivery, { now: clock.now() })),

    async claim({ claim, most, except }) {
      const params = [claim, comesBack(), clock.now(), JSON.stringify(except), most]
      const rows = await database.query<ClaimedRow>(CLAIM, params)
      return rows.map(claimedOfRow)
    },

    async claimLetter(id, claim) {
      const [row] = await database.query<ClaimedRow>(
        `UPDATE deliveries SET claim = $2, due_at = $3, attempts = attempts + 1, died_at = NULL
         WHERE id = $1 AND died_at IS NOT NULL RETURNING *`,
        [id, claim, comesBack()],
      )
      if (row !== undefined) return claimedOfRow(row)
      const waiting = await database.query('SELECT FROM deliveries WHERE id = $1', [id])
      return waiting.length > 0 ? 'waiting' : undefined
    },

    async record({ id, claim }, fact) {
      if (fact.type === 'message_delivered') {
        await database.query('DELETE FROM deliveries WHERE id = $1 AND claim = $2', [id, claim])
        return
      }
      const { at, trouble, status = null } = fact
      const dies = fact.type === 'delivery_given_up'
      await database.query(
        `UPDATE deliveries SET claim = NULL, tried_at = $3, trouble = $4, status = $5,
           due_at = $6, died_at = $7
         WHERE id = $1 AND claim = $2`,
        [id, claim, at, trouble, status, dies ? at : fact.nextAt, dies ? at : null],
      )
    },

    async giveBack({ id, claim }) {
      await database.query(
        `UPDATE deliveries SET claim = NULL, due_at = $3, attempts = attempts - 1
         WHERE id = $1 AND claim = $2`,
        [id, claim, clock.now()],
      )
    },
  }
}

/** As part of the transaction of what the message is about (O1). The same id twice is one. */
export async function enqueueIn(
  tx: Queries,
  delivery: NewDelivery,
  { now }: { readonly now: Instant },
): Promise<Enqueued> {
  const { id, to, body, about, owner, correlation, traceparent } = delivery
  const [row] = await tx.query<{ waiting: number }>(WAITING, [to, LIMITS.deliveriesPerTarget])
  const decision = decideEnqueue({
    waiting: row?.waiting ?? 0,
    bytes: Buffer.byteLength(body),
  })
  if (!decision.ok) return decision
  await tx.query(INSERT, [
    id,
    to,
    hostOf(to),
    body,
    about.kind,
    about.id,
    owner ?? null,
    correlation,
    traceparent ?? null,
    now,
  ])
  return { ok: true }
}

/** What is no address is given up when it is dialled, with the reason. */
const hostOf = (to: string): string => (URL.canParse(to) ? new URL(to).host : '')

function claimedOfRow(row: ClaimedRow): Claimed {
  return {
    id: row.id,
    to: row.target,
    host: row.host,
    body: row.body,
    about: { kind: row.about_kind, id: row.about_id },
    correlation: row.correlation,
    claim: row.claim,
    attempts: row.attempts,
    enqueuedAt: row.enqueued_at,
    ...(row.owner !== null && { owner: row.owner }),
    ...(row.traceparent !== null && { traceparent: row.traceparent }),
  }
}

/** A word that a newer version wrote is still a failure to be reached. */
export const troubleOf = (text: string): Trouble => (isTrouble(text) ? text : 'network')
