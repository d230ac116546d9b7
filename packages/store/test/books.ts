/**
 * Short words for commands on money and slots, and the proof that the books of a database hold.
 */
import assert from 'node:assert/strict'
import { reconcile, type Sealed, verifyChain } from '@chimera/domain/audit'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  InstanceId,
  OwnerId,
  ReservationId,
  TaskId,
  TransferId,
} from '@chimera/domain/ids'
import type { MoneyCommand } from '@chimera/domain/money/money'
import type { BookingCommand, ReserveSlots } from '@chimera/domain/work/booking'
import type { Database } from '../src/engine/database.ts'
import { createSealer, readHead } from '../src/facts/sealer.ts'
import { walkTrail } from '../src/facts/trail.ts'
import type { Submission, Submitted } from '../src/ledger/batch.ts'
import { readBalances } from '../src/ledger/reading.ts'
import { digestOf, START } from './hands.ts'

export const owner = (name: string) => name as OwnerId
export const holdId = (name: string) => name as HoldId
export const transferId = (name: string) => name as TransferId
export const agent = 'agent' as AgentId

export const open = (name: string, grantCents: number): MoneyCommand => ({
  type: 'open_account',
  owner: owner(name),
  grantCents,
  transfer: transferId(`grant-${name}`),
})

type Parties = { readonly from: string; readonly to: string }

export const pay = (id: string, { from, to }: Parties, amountCents: number, task?: string) =>
  ({
    type: 'transfer_credits',
    transfer: transferId(id),
    payer: owner(from),
    payee: owner(to),
    amountCents,
    by: owner(from),
    ...(task === undefined ? {} : { task: task as TaskId }),
  }) satisfies MoneyCommand

export const hold = (id: string, { from, to }: Parties, amountCents: number, parent?: string) =>
  ({
    type: 'hold_credits',
    hold: holdId(id),
    payer: owner(from),
    payee: owner(to),
    agent,
    task: `task-${id}` as TaskId,
    amountCents,
    lapsesAt: START + 60_000,
    by: owner(from),
    ...(parent === undefined ? {} : { parent: holdId(parent) }),
  }) satisfies MoneyCommand

export const confirm = (id: string, priceCents: number): MoneyCommand => ({
  type: 'confirm_hold',
  hold: holdId(id),
  agent,
  priceCents,
})
export const capture = (id: string, amountCents: number): MoneyCommand => ({
  type: 'capture_hold',
  hold: holdId(id),
  transfer: transferId(`capture-${id}`),
  agent,
  amountCents,
})
export const giveUp = (id: string): MoneyCommand => ({
  type: 'release_hold',
  hold: holdId(id),
  because: 'failed',
  agent,
})

export type ReserveWish = {
  readonly on?: string
  readonly slots?: number
  readonly owned?: number
  readonly draining?: boolean
  readonly money?: Parties & { readonly amountCents: number }
}

/** One slot of four at `i1` for `task-<id>`; the hold, if any, is `hold-<id>`. */
export const reserve = (
  id: string,
  { on = 'i1', slots = 1, owned = 4, draining = false, money }: ReserveWish,
): ReserveSlots => ({
  type: 'reserve_slots',
  id: id as ReservationId,
  instance: on as InstanceId,
  agent,
  planner: 'planner' as AgentId,
  task: `task-${id}` as TaskId,
  slots,
  slotsOwned: owned,
  draining,
  deadline: START + 600_000,
  ...(money && {
    money: {
      hold: holdId(`hold-${id}`),
      payer: owner(money.from),
      payee: owner(money.to),
      amountCents: money.amountCents,
    },
  }),
})

export const asked = (command: BookingCommand): Submission => ({
  command,
  correlation: 'test' as CorrelationId,
})

/** The refusal, or the types of the facts. */
export function answerOf({ decision }: Submitted): string {
  if (!decision.ok) return decision.refusal
  return decision.facts.map(({ type }) => type).join(' ') || 'nothing new'
}

/** P-10: the chain verifies, and every balance follows from its postings. Nobody may be writing. */
export async function proveBooks(database: Database): Promise<readonly Sealed<unknown>[]> {
  await createSealer({ database, digestOf }).seal()
  const trail: Sealed<unknown>[] = []
  for await (const page of walkTrail(database)) trail.push(...page)
  const verified = verifyChain(trail, digestOf, { until: await readHead(database) })
  assert.deepEqual(verified, { ok: true, head: await readHead(database), count: trail.length })
  const balances = await readBalances(database)
  const { differences, faults } = reconcile(trail, balances)
  assert.deepEqual({ differences, faults }, { differences: [], faults: [] })
  const sum = [...balances.values()].reduce((all, cents) => all + cents, 0)
  assert.equal(sum, 0, 'all sides sum to zero')
  return trail
}
