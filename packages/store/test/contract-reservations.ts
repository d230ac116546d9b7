/**
 * Slots that are promised together with credits (P-1): both or neither, exact under any
 * concurrency, and proven by their facts.
 */
import assert from 'node:assert/strict'
import type { AgentId, InstanceId, Instant, ReservationId, TaskId } from '@chimera/domain/ids'
import type { BookingCommand, ReserveSlots } from '@chimera/domain/work/booking'
import type { Room, SlotFact } from '@chimera/domain/work/room'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { createLedger, type LedgerOptions } from '../src/ledger/ledger.ts'
import { readAccount, readHold } from '../src/ledger/reading.ts'
import { readReservation, readReservationsOf } from '../src/reservations/reading.ts'
import { type ReservationRow, roomsOf } from '../src/reservations/rows.ts'
import {
  agent,
  answerOf,
  asked,
  capture,
  confirm,
  giveUp,
  hold,
  holdId,
  open,
  owner,
  proveBooks,
  reserve,
} from './books.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'
import { foldRooms } from './proof.ts'

const instance = (name: string) => name as InstanceId
const reservationId = (name: string) => name as ReservationId

function ledgerOn(database: Database, options: Partial<LedgerOptions> = {}) {
  const hands = createHands()
  const ledger = createLedger({ database, ...hands, ...options })
  const submit = async (command: BookingCommand) => answerOf(await ledger.submit(asked(command)))
  return { ...hands, ledger, submit }
}
const balance = async (database: Database, name: string) =>
  (await readAccount(database, owner(name)))?.balanceCents
const stageOf = async (database: Database, name: string) => {
  const kept = await readReservation(database, reservationId(name))
  return [kept?.stage, kept?.because].filter((word) => word !== undefined).join(' ')
}

async function unendedRows(database: Database): Promise<readonly ReservationRow[]> {
  return database.query<ReservationRow>(`SELECT * FROM reservations WHERE stage <> 'ended'`, [])
}
async function slotsHeld(database: Database, name: string): Promise<number> {
  const rows = await unendedRows(database)
  return rows.filter((row) => row.instance === name).reduce((sum, { slots }) => sum + slots, 0)
}

/** The books balance, and the rooms are what the facts make of them. */
async function proveAll(database: Database): Promise<void> {
  const trail = await proveBooks(database)
  assert.deepEqual(inOrder(roomsOf(await unendedRows(database))), inOrder(foldRooms(trail)))
}
const inOrder = (rooms: readonly Room[]) =>
  rooms
    .map((room) => ({
      ...room,
      reservations: room.reservations.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
      running: room.running.toSorted((one, other) => (one.work < other.work ? -1 : 1)),
    }))
    .sort((one, other) => (one.instance < other.instance ? -1 : 1))

export function reservationsContract({ engine, fresh }: Stage): void {
  const money = { from: 'ann', to: 'bob', amountCents: 40 }

  async function opened(options?: Partial<LedgerOptions>) {
    const { database, address } = await fresh()
    const hub = ledgerOn(database, options)
    for (const [name, cents] of [
      ['ann', 100],
      ['bob', 0],
    ] as const) {
      await hub.submit(open(name, cents))
    }
    return { database, address, ...hub }
  }

  describe('reservations', () => {
    test('P-1 AV-8 slot and money are taken, used and given back together', async () => {
      const { database, submit } = await opened()
      assert.equal(await submit(reserve('r1', { money })), 'credits_held slots_reserved')
      assert.equal(await stageOf(database, 'r1'), 'promised')
      assert.equal(await balance(database, 'ann'), 60)
      assert.equal(await submit(confirm('hold-r1', 30)), 'hold_confirmed slots_taken')
      assert.equal(await stageOf(database, 'r1'), 'taken')
      assert.equal(await submit(capture('hold-r1', 30)), 'hold_captured slots_freed')
      assert.equal(await stageOf(database, 'r1'), 'ended freed')
      const kept = await readHold(database, holdId('hold-r1'))
      assert.deepEqual([kept?.hirer, kept?.deadline], ['planner', START + 600_000])
      assert.deepEqual([await balance(database, 'ann'), await balance(database, 'bob')], [70, 30])
      await proveAll(database)
    })

    test('P-1 no money, no slot; no slot, no money', async () => {
      const { database, submit } = await opened()
      const dear = reserve('r1', { money: { ...money, amountCents: 101 } })
      assert.equal(await submit(dear), 'funds_short')
      assert.equal(await slotsHeld(database, 'i1'), 0)
      assert.equal(await submit(reserve('r2', { money, slots: 5 })), 'slots_exhausted')
      assert.equal(await submit(reserve('r3', { money, draining: true })), 'draining')
      assert.equal(await balance(database, 'ann'), 100)
      await proveAll(database)
    })

    test('AV-8 the same offer gets the same reservation, also at work', async () => {
      const { database, submit } = await opened()
      const again = { ...reserve('r2', { money }), task: 'task-r1' as TaskId }
      await submit(reserve('r1', { money }))
      assert.equal(await submit(again), 'nothing new')
      await submit(confirm('hold-r1', 40))
      assert.equal(await submit(again), 'nothing new')
      assert.equal(await readReservation(database, reservationId('r2')), undefined)
      assert.equal(await slotsHeld(database, 'i1'), 1)
      assert.equal(await balance(database, 'ann'), 60)
    })

    // biome-ignore format: a table is read by its columns
    const conflicts: [what: string, changed: Partial<ReserveSlots>, answer: string][] = [
      ['other slots',        { slots: 2 },                                 'task_conflict'],
      ['another instance',   { instance: instance('i2') },                 'task_conflict'],
      ['without the money',  {},                                           'task_conflict'],
      ['another agent',      { agent: 'other' as AgentId },                'caller_forbidden'],
    ]
    test('AV-8 one task, other terms', async () => {
      const { submit } = await opened()
      const first = reserve('r1', { money })
      await submit(first)
      for (const [what, changed, answer] of conflicts) {
        const { money: kept, ...bare } = { ...first, ...changed, id: reservationId('r9') }
        const offered =
          what === 'without the money' ? bare : { ...bare, ...(kept && { money: kept }) }
        assert.equal(await submit(offered), answer, what)
      }
      const more = reserve('r1', { money: { ...money, amountCents: 41 } })
      assert.equal(await submit(more), 'task_conflict', 'another price')
    })

    test('P-1 both lapse by themselves, at the instant and before anybody sweeps', async () => {
      const { database, submit, setNow, ledger } = await opened()
      await submit(reserve('r1', { money, slots: 4 }))
      await submit(reserve('r2', { on: 'i2', slots: 4 }))
      setNow(START + 29_999)
      assert.equal(await submit(reserve('r3', { slots: 1 })), 'slots_exhausted')
      setNow(START + 30_000)
      assert.equal(await submit(reserve('r3', { slots: 4 })), 'slots_reserved')
      assert.equal(await stageOf(database, 'r1'), 'ended lapsed')
      assert.equal(await submit(confirm('hold-r1', 1)), 'hold_ended')
      assert.equal(await ledger.endDue(), 1, 'the other instance; the hold has ended meanwhile')
      assert.equal(await stageOf(database, 'r2'), 'ended lapsed')
      assert.equal(await balance(database, 'ann'), 100)
      await proveAll(database)
    })

    test('P-1 the promise never outlives the task’s deadline', async () => {
      const { database, submit } = await opened()
      await submit({ ...reserve('r1', { money }), deadline: START + 10_000 })
      const kept = await readReservation(database, reservationId('r1'))
      assert.equal(kept?.lapsesAt, START + 10_000)
      assert.equal((await readHold(database, holdId('hold-r1')))?.lapsesAt, START + 10_000)
      const late = { ...reserve('r2', { money }), deadline: START }
      assert.equal(await submit(late), 'deadline_too_soon')
    })

    test('P-1 P-3 a refusal, a failure and silence give both back', async () => {
      const { database, submit, setNow, ledger } = await opened()
      const refused = { type: 'release_hold', because: 'refused', agent } as const
      await submit(reserve('r1', { money }))
      const given = await submit({ ...refused, hold: holdId('hold-r1') })
      assert.equal(given, 'hold_released reservation_ended')
      await submit(reserve('r2', { money }))
      await submit(confirm('hold-r2', 40))
      assert.equal(await submit(giveUp('hold-r2')), 'hold_released slots_freed')
      await submit(reserve('r3', { money }))
      await submit(confirm('hold-r3', 40))
      setNow(START + 600_000 + 24 * 3_600_000)
      assert.equal(await ledger.endDue(), 1)
      assert.equal(await stageOf(database, 'r3'), 'ended freed')
      assert.equal((await readHold(database, holdId('hold-r3')))?.because, 'overdue')
      assert.equal(await balance(database, 'ann'), 100)
      assert.equal(await slotsHeld(database, 'i1'), 0)
      await proveAll(database)
    })

    test('AV-5 OC-15 draining gives unused promises back, and leaves what runs', async () => {
      const { database, submit } = await opened()
      await submit(reserve('r1', { money }))
      await submit(reserve('r2', { money }))
      await submit(confirm('hold-r2', 40))
      await submit(reserve('r3', {}))
      const drained = await submit({ type: 'drain_instance', instance: instance('i1') })
      assert.deepEqual(drained.split(' ').sort(), [
        'hold_released',
        'reservation_ended',
        'reservation_ended',
      ])
      assert.equal(await stageOf(database, 'r1'), 'ended drained')
      assert.equal(await stageOf(database, 'r2'), 'taken')
      assert.equal(await balance(database, 'ann'), 60)
      const again = await submit({ type: 'drain_instance', instance: instance('i1') })
      assert.equal(again, 'nothing new')
      await proveAll(database)
    })

    test('AV-8 its planner or its instance gives it back, nobody else', async () => {
      const { database, submit } = await opened()
      const release = (id: string, by: string) =>
        submit({
          type: 'release_reservation',
          reservation: reservationId(id),
          by: by as AgentId,
        })
      await submit(reserve('r1', { money }))
      await submit(reserve('r2', {}))
      assert.equal(await release('r1', 'stranger'), 'caller_forbidden')
      assert.equal(await release('r1', 'planner'), 'hold_released reservation_ended')
      assert.equal((await readHold(database, holdId('hold-r1')))?.because, 'withdrawn')
      assert.equal(await release('r2', 'agent'), 'reservation_ended')
      assert.equal(await release('r2', 'agent'), 'reservation_unknown')
      await proveAll(database)
    })

    test('P-1 credits that the payer put aside serve, and outlive the promise', async () => {
      const { database, submit, setNow, ledger } = await opened()
      const task = 'task-r1' as TaskId
      await submit({ ...hold('own', { from: 'ann', to: 'bob' }, 40), task })
      assert.equal(await submit(reserve('r1', { money })), 'slots_reserved')
      const kept = await readReservationsOf(database, [holdId('own')])
      assert.equal(kept.get(holdId('own'))?.id, 'r1')
      setNow(START + 30_000)
      await ledger.endDue()
      assert.equal(await stageOf(database, 'r1'), 'ended lapsed')
      assert.equal((await readHold(database, holdId('own')))?.stage, 'placed')
      assert.equal(await submit(confirm('own', 40)), 'hold_confirmed')
      await proveAll(database)
    })

    test('AV-8 200 at once for the last slots: as many as are free, and not one more', async () => {
      const { database, submit, ledger } = await opened({ most: 25 })
      await submit(open('rich', 10_000))
      await submit({ ...reserve('before', { slots: 3, owned: 40 }) })
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, at) =>
          submit(
            reserve(`p${at}`, {
              owned: 40,
              slots: 1 + (at % 2),
              money: { from: 'rich', to: 'bob', amountCents: 5 },
            }),
          ),
        ),
      )
      await ledger.idle()
      const granted = answers.filter((each) => each === 'credits_held slots_reserved').length
      assert.ok(answers.every((each) => /slots_(reserved|exhausted)$/.test(each)))
      assert.equal(await slotsHeld(database, 'i1'), 40)
      assert.equal(await balance(database, 'rich'), 10_000 - 5 * granted)
      await proveAll(database)
    })

    const seeds = [1, 2, 3].map((each) => each + Number(process.env.SEED ?? 0))
    for (const seed of seeds) {
      test(`C1 P-1 any run of commands leaves what its facts say (seed ${seed})`, async () => {
        const { database } = await fresh()
        const hands = createHands(seed)
        const ledger = createLedger({ database, ...hands, most: 6 })
        for (const name of NAMES) await ledger.submit(asked(open(name, 120)))
        const seen = new Set<string>()
        for (let round = 0; round < 40; round += 1) {
          const now = START + round * 3_000
          hands.setNow(now)
          const commands = Array.from({ length: 8 }, () => randomCommand(hands.chance.below, now))
          const kept = await Promise.all(commands.map((each) => ledger.submit(asked(each))))
          for (const each of kept) for (const word of answerOf(each).split(' ')) seen.add(word)
          if (hands.chance.below(4) === 0) await ledger.endDue()
          await checkC1(database, now)
        }
        for (const type of SLOT_FACTS) assert.ok(seen.has(type), type)
        await proveAll(database)
      })
    }
  })

  if (engine.name !== 'PostgreSQL') return

  // What is paid meets at the payee's account as well; only free work shows that slots are locked.
  for (const kind of ['paid', 'free'] as const) {
    test(`AV-8 200 at once for the last slots at four hubs: exact (${kind})`, async () => {
      const { database, address, submit } = await opened()
      await submit(open('rich', 10_000))
      const others = await Promise.all([1, 2, 3].map(() => openDatabase(address)))
      const hubs = [database, ...others].map((each) => ledgerOn(each, { most: 2 }))
      const answers = await Promise.all(
        Array.from({ length: 200 }, async (_, at) => {
          const money = { from: at % 3 ? 'rich' : 'ann', to: 'bob', amountCents: 5 }
          const offer = { on: `i${at % 4}`, owned: 10, ...(kind === 'paid' && { money }) }
          return hubs[(at >> 2) % 4]?.submit(reserve(`p${at}`, offer))
        }),
      )
      const granted = answers.filter((each) => each?.endsWith('slots_reserved')).length
      assert.equal(granted, 40)
      for (const at of [0, 1, 2, 3]) assert.equal(await slotsHeld(database, `i${at}`), 10)
      const left = (await balance(database, 'rich')) ?? 0
      const spent = kind === 'paid' ? 5 * granted : 0
      assert.equal(left + ((await balance(database, 'ann')) ?? 0), 10_100 - spent)
      await proveAll(database)
      for (const each of others) await each.close()
    })
  }

  test('AV-8 one offer at four hubs is one reservation, at one instance', async () => {
    const { database, address } = await opened()
    const others = [
      await openDatabase(address),
      await openDatabase(address),
      await openDatabase(address),
    ]
    const hubs = [database, ...others].map((each) => ledgerOn(each, { most: 2 }))
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const on = at < 20 ? 'i1' : 'i2'
        const offer = { ...reserve(`p${at}`, { on, money }), task: 'one' as TaskId }
        return hubs[at % 4]?.submit(offer)
      }),
    )
    const count = (word: string) => answers.filter((each) => each === word).length
    assert.deepEqual(
      [count('credits_held slots_reserved'), count('nothing new'), count('task_conflict')],
      [1, 19, 20],
    )
    assert.equal(await balance(database, 'ann'), 60)
    await proveAll(database)
    for (const each of others) await each.close()
  })
}

const NAMES = ['ann', 'bob', 'cem']
const OWNED = 4
const SLOT_FACTS: readonly SlotFact['type'][] = [
  'slots_reserved',
  'slots_taken',
  'slots_freed',
  'reservation_ended',
]

/** Promises that count and work that runs fit into the slots, and every promise has its credits. */
async function checkC1(database: Database, now: Instant): Promise<void> {
  const rows = await unendedRows(database)
  for (const room of roomsOf(rows)) {
    const live = room.reservations.filter(({ lapsesAt }) => lapsesAt > now)
    const slots = [...live, ...room.running].reduce((sum, each) => sum + each.slots, 0)
    assert.ok(slots <= OWNED, `${room.instance} has ${slots} at ${now}`)
    for (const { hold: id } of live) {
      const stage = id === undefined ? 'placed' : (await readHold(database, id))?.stage
      assert.ok(stage === 'placed' || stage === 'confirmed', `${id} is ${stage}`)
    }
    for (const { hold: id } of room.running) {
      assert.equal(id && (await readHold(database, id))?.stage, 'confirmed')
    }
  }
}

function randomCommand(below: (most: number) => number, now: Instant): BookingCommand {
  const pick = (list: readonly string[]) => list[below(list.length)] ?? ''
  // Tasks move on with the time, so that each is new at first and known later.
  const id = `x${Math.floor((now - START) / 6_000) + below(4)}`
  const on = `i${below(3)}`
  switch (below(10)) {
    case 0:
    case 1:
    case 2: {
      const from = pick(NAMES)
      const paid = { from, to: pick(NAMES), amountCents: 1 + below(50) }
      const offer = reserve(`${id}-${now}-${below(1_000_000)}`, {
        on,
        owned: OWNED,
        slots: 1 + below(2),
        draining: below(12) === 0,
        ...(below(4) > 0 && { money: paid }),
      })
      const money = offer.money && { ...offer.money, hold: holdId(`hold-${id}`) }
      return {
        ...offer,
        task: `task-${id}` as TaskId,
        deadline: now + 60_000,
        ...(money && { money }),
      }
    }
    case 3:
    case 4:
      return confirm(`hold-${id}`, 1 + below(20))
    case 5:
    case 6:
      return capture(`hold-${id}`, 1 + below(9))
    case 7:
      return giveUp(`hold-${id}`)
    case 8:
      return { type: 'drain_instance', instance: instance(on) }
    default:
      return hold(`own-${id}`, { from: pick(NAMES), to: pick(NAMES) }, 1 + below(20))
  }
}
