/**
 * Several instances of one agent on one database: who lives, and who has which work in hand.
 *
 *   S1  An instance lives until its lease ends, and renews it in time. What a dead one had in hand,
 *       and what nobody has, is taken over by whoever looks first.
 *   S2  Taking over counts the turn of the work up, and a save names the turn it knows. So whoever
 *       lost its work, awake or not, changes nothing any more.
 *   S3  Work that a living instance has not begun within a second is for whoever has room.
 *
 * Leases are compared by the clocks of the instances: those are at most a part of a lease apart.
 */
import type { Instant, WorkId } from '@chimera/domain/ids'
import type { KeptWork } from '@chimera/domain/work/kept'
import { arrayText } from '../columns.ts'
import type { Database } from '../engine/database.ts'
import { keptOfRow, type WorkRow } from './rows.ts'

/** What is in one's hands: its turn, how often it was saved, and how often it is being so. */
export type Hand = { readonly turn: number; saves: number; saving: number }

export type SharingOptions = {
  readonly database: Database
  readonly agent: string
  /** This instance, and no other at any time. */
  readonly holder: string
  readonly now: () => Instant
  readonly leaseMs: number
  readonly hands: Map<WorkId, Hand>
  /** Called with each renewal: what is forgotten is cleared away now and then. */
  readonly purge: () => Promise<void>
}

// At once it would be taken from whoever is about to begin it.
const UNBEGUN_MS = 1_000
// What one look takes over: a second's work for the database.
const MOST_AT_ONCE = 500

const DEAD = `NOT EXISTS (
  SELECT 1 FROM agent_instances AS living
  WHERE living.holder = agent_work.holder AND living.lease_until > $3)`
const TAKE = 'UPDATE agent_work SET holder = $2, turn = turn + 1'
const BACK = 'RETURNING work, turn, cancel_wished, kept'

const SQL = {
  renew: `
    INSERT INTO agent_instances (holder, agent, lease_until) VALUES ($2, $1, $3)
    ON CONFLICT (holder) DO UPDATE SET lease_until = excluded.lease_until`,
  held: `
    SELECT work, turn, cancel_wished FROM agent_work
    WHERE agent = $1 AND stage <> 'over' AND holder = $2`,
  left: `
    ${TAKE} WHERE (agent, scope) IN (
      SELECT agent, scope FROM agent_work
      WHERE agent = $1 AND stage <> 'over' AND holder IS DISTINCT FROM $2
        AND (holder IS NULL OR ${DEAD})
      ORDER BY asked_at, work LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED
    ) ${BACK}`,
  waiting: `
    ${TAKE} WHERE (agent, scope) IN (
      SELECT agent, scope FROM agent_work
      WHERE agent = $1 AND stage = 'slot' AND holder <> $2 AND changed_at <= $3
      ORDER BY asked_at, work LIMIT $4 FOR UPDATE SKIP LOCKED
    ) ${BACK}`,
  one: `
    ${TAKE} WHERE agent = $1 AND work = $4 AND (
      holder IS NULL OR holder = $2 OR stage IN ('slot', 'person') OR ${DEAD}) ${BACK}`,
  wish: `
    UPDATE agent_work SET cancel_wished = true
    WHERE agent = $1 AND work = $2 AND stage = 'begun'`,
  letGo: `
    UPDATE agent_work SET holder = NULL
    WHERE agent = $1 AND holder = $2 AND work = ANY ($3::text[])`,
  release: `UPDATE agent_work SET holder = NULL WHERE agent = $1 AND holder = $2`,
  gone: 'DELETE FROM agent_instances WHERE agent = $1 AND (holder = $2 OR lease_until <= $3)',
} as const

export function createSharing(options: SharingOptions) {
  const { database, agent, holder, now, leaseMs, hands, purge } = options

  function takenBy(rows: readonly WorkRow[]) {
    for (const { work, turn } of rows) hands.set(work, { turn, saves: 0, saving: 0 })
    // A statement that changes rows gives them back in no order.
    return rows
      .map((row) => ({ kept: keptOfRow(row), cancel: row.cancel_wished }))
      .toSorted((one, other) => byAge(one.kept, other.kept))
  }

  /**
   * What was written for this instance and never came to it, since an answer was lost: nobody would
   * ever be at it. What is only on its way is known at the next renewal.
   */
  let strays: ReadonlySet<WorkId> = new Set()
  async function letGo(loose: readonly WorkId[]): Promise<void> {
    const still = loose.filter((work) => strays.has(work))
    strays = new Set(loose)
    for (const work of still) hands.delete(work)
    if (still.length > 0) await database.query(SQL.letGo, [agent, holder, arrayText(still)])
  }

  return {
    leaseMs,

    async renew(knows: (id: WorkId) => boolean) {
      const before = new Map(
        [...hands].flatMap(([work, { turn, saves, saving }]) =>
          saving > 0 ? [] : [[work, { turn, saves }] as const],
        ),
      )
      await database.query(SQL.renew, [agent, holder, now() + leaseMs])
      const rows = await database.query<{ work: WorkId; turn: number; cancel_wished: boolean }>(
        SQL.held,
        [agent, holder],
      )
      const held = new Map(rows.map((row) => [row.work, row]))
      const lost: WorkId[] = []
      for (const [work, { turn, saves }] of before) {
        const hand = hands.get(work)
        // What was saved while we looked is judged by its save.
        if (hand === undefined || hand.saves !== saves || hand.turn !== turn) continue
        if (held.get(work)?.turn === turn) continue
        hands.delete(work)
        lost.push(work)
      }
      await letGo(
        rows
          .map(({ work }) => work)
          .filter((work) => !knows(work) && !((hands.get(work)?.saving ?? 0) > 0)),
      )
      await purge()
      const cancel = rows.filter((row) => row.cancel_wished).map(({ work }) => work)
      return { lost, cancel }
    },

    async takeOver(room: number) {
      const left = await database.query<WorkRow>(SQL.left, [agent, holder, now()])
      const most = Math.min(room, MOST_AT_ONCE) - left.length
      const waiting =
        most > 0
          ? await database.query<WorkRow>(SQL.waiting, [agent, holder, now() - UNBEGUN_MS, most])
          : []
      return takenBy([...left, ...waiting])
    },

    async take(id: WorkId) {
      const [taken] = takenBy(await database.query<WorkRow>(SQL.one, [agent, holder, now(), id]))
      return taken?.kept
    },

    async wishCancelled(id: WorkId) {
      await database.query(SQL.wish, [agent, id])
    },

    async leave() {
      hands.clear()
      await database.query(SQL.release, [agent, holder])
      await database.query(SQL.gone, [agent, holder, now()])
    },
  }
}

function byAge({ work: { ask: one } }: KeptWork, { work: { ask: other } }: KeptWork): number {
  return one.askedAt - other.askedAt || (one.work < other.work ? -1 : 1)
}
