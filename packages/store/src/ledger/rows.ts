/**
 * Holds and movements as rows, both ways. An absent field is an absent property there and NULL
 * here.
 */
import type { AgentId, HoldId, Instant, OwnerId, TaskId, TransferId } from '@chimera/domain/ids'
import type {
  Hold,
  HoldStage,
  Movement,
  PaymentMade,
  ReleaseCause,
} from '@chimera/domain/money/ledger'

export type HoldRow = {
  readonly id: HoldId
  readonly payer: OwnerId
  readonly funder: OwnerId
  readonly payee: OwnerId
  readonly agent: AgentId
  readonly task: TaskId
  readonly attempt: number
  readonly amount_cents: number
  readonly lapses_at: Instant
  readonly parent: HoldId | null
  readonly chain_ends_at: Instant | null
  readonly stage: HoldStage
  readonly left_cents: number
  readonly paid_cents: number
  readonly price_cents: number | null
  readonly releases_at: Instant | null
  readonly because: ReleaseCause | null
  readonly hirer: AgentId | null
  readonly deadline: Instant | null
}

export function holdOfRow(row: HoldRow): Hold {
  return {
    id: row.id,
    payer: row.payer,
    funder: row.funder,
    payee: row.payee,
    agent: row.agent,
    task: row.task,
    attempt: row.attempt,
    amountCents: row.amount_cents,
    lapsesAt: row.lapses_at,
    stage: row.stage,
    leftCents: row.left_cents,
    paidCents: row.paid_cents,
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.chain_ends_at === null ? {} : { chainEndsAt: row.chain_ends_at }),
    ...(row.price_cents === null ? {} : { priceCents: row.price_cents }),
    ...(row.releases_at === null ? {} : { releasesAt: row.releases_at }),
    ...(row.because === null ? {} : { because: row.because }),
    ...(row.hirer === null ? {} : { hirer: row.hirer }),
    ...(row.deadline === null ? {} : { deadline: row.deadline }),
  }
}

export function rowOfHold(hold: Hold): HoldRow {
  return {
    id: hold.id,
    payer: hold.payer,
    funder: hold.funder,
    payee: hold.payee,
    agent: hold.agent,
    task: hold.task,
    attempt: hold.attempt,
    amount_cents: hold.amountCents,
    lapses_at: hold.lapsesAt,
    parent: hold.parent ?? null,
    chain_ends_at: hold.chainEndsAt ?? null,
    stage: hold.stage,
    left_cents: hold.leftCents,
    paid_cents: hold.paidCents,
    price_cents: hold.priceCents ?? null,
    releases_at: hold.releasesAt ?? null,
    because: hold.because ?? null,
    hirer: hold.hirer ?? null,
    deadline: hold.deadline ?? null,
  }
}

type PaymentRow = {
  readonly kind: 'payment'
  readonly transfer: TransferId
  readonly at: Instant
  readonly amount_cents: number
  readonly payer: OwnerId
  readonly payee: OwnerId
  readonly funder: OwnerId
  readonly paid_cents: number
  readonly fee_cents: number
  readonly refunded_cents: number
  readonly task: TaskId | null
  readonly hold: HoldId | null
}
type RefundRow = {
  readonly kind: 'refund'
  readonly transfer: TransferId
  readonly at: Instant
  readonly amount_cents: number
  readonly refund_of: TransferId
}
type MintRow = {
  readonly kind: 'mint'
  readonly transfer: TransferId
  readonly at: Instant
  readonly amount_cents: number
  readonly owner: OwnerId
}
export type MovementRow = PaymentRow | RefundRow | MintRow

export function movementOfRow(row: MovementRow): Movement {
  const { transfer, at, amount_cents: amountCents } = row
  switch (row.kind) {
    case 'payment':
      return paymentOfRow(row)
    case 'refund':
      return { kind: 'refund', transfer, of: row.refund_of, amountCents, at }
    case 'mint':
      return { kind: 'mint', transfer, owner: row.owner, amountCents, at }
  }
}

function paymentOfRow(row: PaymentRow): PaymentMade {
  return {
    kind: 'payment',
    transfer: row.transfer,
    payer: row.payer,
    payee: row.payee,
    funder: row.funder,
    amountCents: row.amount_cents,
    paidCents: row.paid_cents,
    feeCents: row.fee_cents,
    refundedCents: row.refunded_cents,
    at: row.at,
    ...(row.task === null ? {} : { task: row.task }),
    ...(row.hold === null ? {} : { hold: row.hold }),
  }
}

export function rowOfMovement(movement: Movement): MovementRow {
  const { transfer, at, amountCents: amount_cents } = movement
  switch (movement.kind) {
    case 'payment':
      return {
        kind: 'payment',
        transfer,
        at,
        amount_cents,
        payer: movement.payer,
        payee: movement.payee,
        funder: movement.funder,
        paid_cents: movement.paidCents,
        fee_cents: movement.feeCents,
        refunded_cents: movement.refundedCents,
        task: movement.task ?? null,
        hold: movement.hold ?? null,
      }
    case 'refund':
      return { kind: 'refund', transfer, at, amount_cents, refund_of: movement.of }
    case 'mint':
      return { kind: 'mint', transfer, at, amount_cents, owner: movement.owner }
  }
}
