/**
 * One promise of slot and money: the table is what each command does to both; the run below it
 * holds slots, credits and facts together over any sequence of commands.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type {
  AgentId,
  HoldId,
  InstanceId,
  OwnerId,
  ReservationId,
  TaskId,
  TransferId,
} from '../ids.ts'
import { balancesOf } from '../money/ledger.ts'
import {
  applyBooking,
  type BookingCommand,
  type BookingFact,
  bookTogether,
  type Desk,
  openDesk,
  type ReserveSlots,
} from './booking.ts'
import { isSlotFact } from './room.ts'

const NOW = 1_000_000
const agent = 'agent' as AgentId
const planner = 'planner' as AgentId
const ann = 'ann' as OwnerId
const bob = 'bob' as OwnerId
const holdId = (task: string) => `hold-${task}` as HoldId

const opened: readonly BookingCommand[] = [
  { type: 'open_account', owner: ann, grantCents: 100, transfer: 'g1' as TransferId },
  { type: 'open_account', owner: bob, grantCents: 0, transfer: 'g2' as TransferId },
]
const reserve = (task: string, more: Partial<ReserveSlots> = {}): ReserveSlots => ({
  type: 'reserve_slots',
  id: `r-${task}` as ReservationId,
  instance: 'i1' as InstanceId,
  agent,
  planner,
  task: task as TaskId,
  slots: 1,
  slotsOwned: 2,
  draining: false,
  deadline: NOW + 600_000,
  money: { hold: holdId(task), payer: ann, payee: bob, amountCents: 40 },
  ...more,
})
const free = (task: string, more: Partial<ReserveSlots> = {}): ReserveSlots => {
  const { money: _, ...offer } = reserve(task, more)
  return offer
}
const confirm = (task: string, priceCents = 30): BookingCommand => ({
  type: 'confirm_hold',
  hold: holdId(task),
  agent,
  priceCents,
})
const capture = (task: string): BookingCommand => ({
  type: 'capture_hold',
  hold: holdId(task),
  transfer: `pay-${task}` as TransferId,
  agent,
  amountCents: 30,
})
const giveUp = (task: string): BookingCommand => ({
  type: 'release_hold',
  hold: holdId(task),
  because: 'failed',
  agent,
})
const withdraw = (task: string): BookingCommand => ({
  type: 'release_hold',
  hold: holdId(task),
  because: 'withdrawn',
  by: ann,
})
const settle = (task: string): BookingCommand => ({
  type: 'transfer_credits',
  transfer: `t-${task}` as TransferId,
  payer: ann,
  payee: bob,
  amountCents: 30,
  task: task as TaskId,
  by: ann,
})
const ownHold = (task: string): BookingCommand => ({
  type: 'hold_credits',
  hold: 'own' as HoldId,
  payer: ann,
  payee: bob,
  agent,
  task: task as TaskId,
  amountCents: 40,
  lapsesAt: NOW + 100_000,
  by: ann,
})
const release = (task: string, by: AgentId): BookingCommand => ({
  type: 'release_reservation',
  reservation: `r-${task}` as ReservationId,
  by,
})
const drain: BookingCommand = { type: 'drain_instance', instance: 'i1' as InstanceId }

const deskAfter = (...commands: readonly BookingCommand[]): Desk =>
  bookTogether(openDesk(), [...opened, ...commands], NOW).desk

function answer(desk: Desk, command: BookingCommand, now = NOW): string {
  const [decision] = bookTogether(desk, [command], now).decisions
  if (decision === undefined || !decision.ok) return decision?.refusal ?? 'none'
  return decision.facts.map(({ type }) => type).join(' ') || 'nothing new'
}

const both = 'credits_held slots_reserved'
const other = { instance: 'i2' as InstanceId }
const dear = { hold: holdId('t1'), payer: ann, payee: bob, amountCents: 101 }
const dearer = { ...dear, amountCents: 41 }

// biome-ignore format: a table is read by its columns
const rows: [rule: string, before: readonly BookingCommand[], command: BookingCommand, answer: string][] = [
  ['B1 takes slot and money',                  [],                                reserve('t1'),                      both],
  ['B1 no money, no slot',                     [],                                reserve('t1', { money: dear }),     'funds_short'],
  ['B1 no slot, no money',                     [reserve('t1', { slots: 2 })],     reserve('t2'),                      'slots_exhausted'],
  ['B1 free work takes the slot alone',        [],                                free('t1'),                         'slots_reserved'],
  ['B1 draining takes neither',                [],                                reserve('t1', { draining: true }),  'draining'],
  ['B2 confirming uses the promise',           [reserve('t1')],                   confirm('t1'),                      'hold_confirmed slots_taken'],
  ['B2 capturing frees',                       [reserve('t1'), confirm('t1')],    capture('t1'),                      'hold_captured slots_freed'],
  ['B2 so does the payer’s own transfer',      [reserve('t1'), confirm('t1')],    settle('t1'),                       'hold_captured slots_freed'],
  ['B2 so does giving up',                     [reserve('t1'), confirm('t1')],    giveUp('t1'),                       'hold_released slots_freed'],
  ['B2 withdrawing ends the promise',          [reserve('t1')],                   withdraw('t1'),                     'hold_released reservation_ended'],
  ['B3 given back by its planner',             [reserve('t1')],                   release('t1', planner),             'hold_released reservation_ended'],
  ['B3 given back by its instance',            [reserve('t1')],                   release('t1', agent),               'hold_released reservation_ended'],
  ['B3 and by nobody else',                    [reserve('t1')],                   release('t1', 'x' as AgentId),      'caller_forbidden'],
  ['B3 not once its work has begun',           [reserve('t1'), confirm('t1')],    release('t1', planner),             'reservation_unknown'],
  ['B3 draining gives unused ones back',       [reserve('t1'), free('t2')],       drain,                              'hold_released reservation_ended reservation_ended'],
  ['B3 and leaves what runs',                  [reserve('t1'), confirm('t1')],    drain,                              'nothing new'],
  ['B3 draining an empty room is nothing',     [],                                drain,                              'nothing new'],
  ['B4 the same offer finds its promise',      [reserve('t1')],                   reserve('t1'),                      'nothing new'],
  ['B4 also when the work runs',               [reserve('t1'), confirm('t1')],    reserve('t1'),                      'nothing new'],
  ['B4 not at another instance',               [reserve('t1')],                   reserve('t1', other),               'task_conflict'],
  ['B4 not for other slots',                   [reserve('t1')],                   reserve('t1', { slots: 2 }),        'task_conflict'],
  ['B4 not for other money',                   [reserve('t1')],                   reserve('t1', { money: dearer }),   'task_conflict'],
  ['B4 not without its money',                 [reserve('t1')],                   free('t1'),                         'task_conflict'],
  ['B4 nor with money that it had not',        [free('t1')],                      reserve('t1'),                      'task_conflict'],
  ['B5 the payer’s own hold serves',           [ownHold('t1')],                   reserve('t1'),                      'slots_reserved'],
  ['B5 not on other terms',                    [ownHold('t1')],                   reserve('t1', { money: dearer }),   'task_conflict'],
  ['an instance has one agent',                [reserve('t1')],                   reserve('t2', { agent: planner }),  'caller_forbidden'],
]

describe('P-1 one promise of slot and money', () => {
  for (const [rule, before, command, expected] of rows) {
    test(rule, () => assert.equal(answer(deskAfter(...before), command), expected))
  }

  test('B3 both lapse at one instant; the hold that the payer placed itself does not', () => {
    const later = NOW + 30_000
    const promised = deskAfter(reserve('t1'))
    assert.equal(answer(promised, confirm('t1'), later - 1), 'hold_confirmed slots_taken')
    const { facts, desk } = bookTogether(promised, [], later)
    assert.deepEqual(
      facts.map(({ type }) => type),
      ['hold_lapsed', 'reservation_ended'],
    )
    assert.equal(desk.accounts.get(ann)?.balanceCents, 100)
    const own = bookTogether(deskAfter(ownHold('t1'), reserve('t1')), [], later)
    assert.deepEqual(
      own.facts.map(({ type }) => type),
      ['reservation_ended'],
    )
    assert.equal(own.desk.holds.get('own' as HoldId)?.stage, 'placed')
  })

  test('CH-15 the hold knows who planned, and the deadline of the task', () => {
    const hold = deskAfter(reserve('t1')).holds.get(holdId('t1'))
    assert.deepEqual([hold?.hirer, hold?.deadline, hold?.agent], [planner, NOW + 600_000, agent])
    assert.equal(hold?.lapsesAt, NOW + 30_000)
  })

  test('a veto is heard before a change, and not by what is so already', () => {
    const veto = () => 'cap_reached' as const
    const fresh = bookTogether(deskAfter(), [reserve('t1')], NOW, { veto })
    assert.deepEqual(fresh.facts, [])
    assert.equal(!fresh.decisions[0]?.ok && fresh.decisions[0]?.refusal, 'cap_reached')
    const [again] = bookTogether(deskAfter(reserve('t1')), [reserve('t1')], NOW, { veto }).decisions
    assert.equal(again?.ok, true)
  })
})

describe('over any run of commands', () => {
  const task = fc.integer({ min: 0, max: 5 }).map((at) => `t${at}`)
  const where = fc.constantFrom('i1', 'i2').map((id) => id as InstanceId)
  const anyReserve = fc
    .record({ task, instance: where, slots: fc.integer({ min: 0, max: 3 }), paid: fc.boolean() })
    .map(({ task: name, instance, slots, paid }) =>
      (paid ? reserve : free)(name, { instance, slots, deadline: NOW + 900_000 }),
    )
  const command = fc.oneof(
    { weight: 4, arbitrary: anyReserve },
    { weight: 2, arbitrary: task.map((each) => confirm(each, 30)) },
    task.map(capture),
    task.map(giveUp),
    task.map(withdraw),
    task.map(settle),
    task.map((each) => release(each, planner)),
    fc.constant(drain),
  )
  const step = fc.record({ command, waitMs: fc.integer({ min: 0, max: 15_000 }) })

  test('C1 P-1 slots fit, promises have their credits, and the facts give the same desk', () => {
    const run = (steps: readonly { command: BookingCommand; waitMs: number }[]) => {
      let now = NOW
      let desk = deskAfter()
      let folded = desk
      const facts: BookingFact[] = []
      for (const { command: next, waitMs } of steps) {
        now += waitMs
        // A reservation's id is used once.
        const unique =
          next.type === 'reserve_slots' ? { ...next, id: `${now}-${facts.length}` } : next
        const booked = bookTogether(desk, [unique as BookingCommand], now)
        desk = booked.desk
        folded = applyBooking(folded, booked.facts)
        facts.push(...booked.facts)
        for (const room of desk.rooms.values()) {
          const slots = [...room.reservations, ...room.running].reduce(
            (sum, each) => sum + each.slots,
            0,
          )
          assert.ok(slots <= 2, `C1 ${room.instance} has ${slots}`)
          for (const { hold } of room.reservations) {
            assert.ok(hold === undefined || desk.holds.get(hold)?.stage === 'placed')
          }
          for (const { hold } of room.running) {
            assert.equal(hold && desk.holds.get(hold)?.stage, 'confirmed')
          }
        }
      }
      assert.deepEqual(folded, desk)
      const sum = [...balancesOf(desk).values()].reduce((all, cents) => all + cents, 0)
      assert.equal(sum, 0)
      // Whatever is promised or runs was reserved, and ended at most once.
      const ended = facts.filter(isSlotFact).filter(({ type }) => type !== 'slots_taken')
      const reserved = ended.filter(({ type }) => type === 'slots_reserved').length
      const seats = [...desk.rooms.values()].flatMap((room) => [
        ...room.reservations,
        ...room.running,
      ])
      assert.equal(reserved - (ended.length - reserved), seats.length)
    }
    fc.assert(fc.property(fc.array(step, { maxLength: 40 }), run), { numRuns: 300 })
  })
})
