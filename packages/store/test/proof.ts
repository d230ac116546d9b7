/**
 * The proof after a kill: what was acknowledged is there, nothing is half there, and the books
 * balance.
 */
import assert from 'node:assert/strict'
import type { Sealed } from '@chimera/domain/audit'
import type { HoldId, ReservationId, TransferId } from '@chimera/domain/ids'
import { foldFacts, type Hold, type MoneyFact, type Movement } from '@chimera/domain/money/ledger'
import { applyBooking, type BookingFact, openDesk } from '@chimera/domain/work/booking'
import { isSlotFact, type Room } from '@chimera/domain/work/room'
import type { Database } from '../src/engine/database.ts'
import { type HoldRow, holdOfRow, type MovementRow, movementOfRow } from '../src/ledger/rows.ts'
import { type ReservationRow, roomsOf } from '../src/reservations/rows.ts'
import { proveBooks } from './books.ts'

type Rows = {
  readonly holds: ReadonlyMap<HoldId, Hold>
  readonly movements: ReadonlyMap<TransferId, Movement>
  readonly reservations: ReadonlyMap<ReservationId, ReservationRow>
}

/** Slots of each instance under the hammer: fewer than its lanes would take. */
export const OWNED = 5

async function readRows(database: Database): Promise<Rows> {
  const holds = (await database.query<HoldRow>('SELECT * FROM holds', [])).map(holdOfRow)
  const rows = await database.query<MovementRow>('SELECT * FROM movements', [])
  const seats = await database.query<ReservationRow>('SELECT * FROM reservations', [])
  return {
    reservations: new Map(seats.map((each) => [each.id, each])),
    holds: new Map(holds.map((each) => [each.id, each])),
    movements: new Map(rows.map(movementOfRow).map((each) => [each.transfer, each])),
  }
}

/** A line is `<what>:<id> <answer>`; only whole lines that say that something happened count. */
function checkAcknowledged(line: string, { holds, movements, reservations }: Rows): void {
  const [, what, id = '', answer, more] = /^(\w+):(\S+) (\w+)(?:\+(\w+))?$/.exec(line) ?? []
  const reserved = reservations.get(id as ReservationId)
  const hold = holds.get(id as HoldId)
  const done = {
    pay: answer === 'credits_transferred' && movements.has(id as TransferId),
    hold: answer === 'credits_held' && hold !== undefined,
    reserve:
      more === 'slots_reserved' && reserved !== undefined && holds.has(`hold-${id}` as HoldId),
    confirm: answer === 'hold_confirmed' && hold?.priceCents !== undefined,
    capture: answer === 'hold_captured' && hold?.stage === 'captured',
    giveup: answer === 'hold_released' && hold?.stage === 'released',
  }
  const refused = answer === 'funds_short' || answer === 'slots_exhausted'
  assert.ok(refused || Object.entries(done).some(([name, is]) => name === what && is), line)
}

/** Rooms that are not empty, as the facts of a trail leave them. */
export function foldRooms(trail: readonly Sealed<unknown>[]): readonly Room[] {
  const facts = trail.map(({ fact }) => fact as BookingFact)
  const { rooms } = applyBooking(openDesk(), facts.filter(isSlotFact))
  return [...rooms.values()].filter(
    ({ reservations, running }) => reservations.length + running.length > 0,
  )
}

const sorted = <Row>(rows: ReadonlyMap<string, Row>) =>
  [...rows].sort(([one], [other]) => (one < other ? -1 : 1))

/** By the process that comes after the one that was killed. */
export async function proveAcknowledged(
  database: Database,
  acknowledged: readonly string[],
): Promise<void> {
  await untilAlone(database)
  const trail = await proveBooks(database)
  const rows = await readRows(database)
  for (const line of acknowledged) checkAcknowledged(line, rows)
  // Every row is what its facts make of it, and no fact is without its rows.
  const facts = trail.map(({ fact }) => fact as BookingFact)
  const folded = foldFacts(facts.filter((fact): fact is MoneyFact => !isSlotFact(fact)))
  assert.deepEqual(sorted(rows.holds), sorted(folded.holds))
  assert.deepEqual(sorted(rows.movements), sorted(folded.movements))
  checkRooms(rows, trail)
  const answers = await database.query<{ answer: string }>('SELECT answer FROM answers', [])
  const known = new Set(answers.map(({ answer }) => answer))
  for (const line of acknowledged) {
    const [id = '', answer] = line.split(' ')
    // A refusal that time may cure is decided anew, so it is not remembered.
    assert.ok(known.has(id) || answer === 'slots_exhausted', line)
  }
}

/** C1, and P-1: slots are promised or in use only together with the credits for them. */
function checkRooms({ reservations, holds }: Rows, trail: readonly Sealed<unknown>[]): void {
  const kept = [...reservations.values()].filter(({ stage }) => stage !== 'ended')
  const facts = new Map(foldRooms(trail).map((room) => [room.instance, room]))
  const rooms = roomsOf(kept)
  assert.equal(rooms.length, facts.size)
  for (const { instance, reservations: promised, running } of rooms) {
    const room = facts.get(instance)
    const names = (all: readonly { readonly task: string }[]) => all.map(({ task }) => task).sort()
    assert.deepEqual(names(promised), names(room?.reservations ?? []))
    assert.deepEqual(names(running), names(room?.running ?? []))
    const slots = [...promised, ...running].reduce((sum, each) => sum + each.slots, 0)
    assert.ok(slots <= OWNED, `${instance} has ${slots} of ${OWNED}`)
    const stageOf = ({ hold }: { readonly hold?: HoldId }) => hold && holds.get(hold)?.stage
    assert.ok(promised.every((each) => stageOf(each) === 'placed'))
    assert.ok(running.every((each) => stageOf(each) === 'confirmed'))
  }
}

/** The server may still be at the last transaction of the one that was killed. */
async function untilAlone(database: Database): Promise<void> {
  for (let others = 1; others > 0; ) {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*) AS count FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend'
         AND pid <> pg_backend_pid()`,
      [],
    )
    others = row?.count ?? 0
  }
}
