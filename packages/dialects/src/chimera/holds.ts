/**
 * Holds, the slots that may go with them, and what an operator mints (CH-15, P-1). A hold is placed
 * by its payer, or by presenting the reserve offer that the payer's planner signed (AV-8).
 */
import type {
  AgentId,
  HoldId,
  InstanceId,
  Instant,
  OwnerId,
  ReservationId,
  TaskId,
  TransferId,
} from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Hold } from '@chimera/domain/money/ledger'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { decodeReserveOffer, type ReserveOffered } from '../moltbook/decode.ts'
import { ReserveOffer } from '../moltbook/schema.ts'
import { queryChecker } from '../query.ts'
import {
  Credits,
  centsOf,
  DateTime,
  instantOf,
  OwnerName,
  readUuid,
  SkillName,
  Uuid,
  writeCents,
  writeInstant,
} from '../wire.ts'

const AGENT_CAUSES = ['refused', 'cancelled', 'failed'] as const
const DEFAULT_HOLDS = 20

export const NewHold = Type.Object(
  {
    hold_id: Type.Optional({
      ...Uuid,
      description: 'Makes a repeat of this call find the hold, also after its end',
    }),
    payer_id: Type.Optional({ ...OwnerName, description: 'Absent: the owner who asks' }),
    hirer_id: Type.Optional({ ...Uuid, description: "The payer's agent whose score counts" }),
    agent_id: { ...Uuid, description: 'Who is to be paid, and alone accepts and captures' },
    task_id: Uuid,
    amount: Credits,
    expires_at: { ...DateTime, description: 'When it lapses, unless the work is accepted' },
    deadline: Type.Optional({ ...DateTime, description: 'Nobody accepts the work for later' }),
    parent_id: Type.Optional({ ...Uuid, description: 'Cuts it out of this hold (P-9)' }),
  },
  { title: 'New hold', additionalProperties: false },
)
export const OfferPresented = Type.Object(
  { offer: ReserveOffer },
  { title: 'Reserve offer, presented', additionalProperties: false },
)
export const HoldConfirmation = Type.Object(
  { price: Credits, deadline: Type.Optional(DateTime) },
  { title: 'Hold confirmation', additionalProperties: false },
)
export const HoldCapture = Type.Object(
  {
    transfer_id: Uuid,
    amount: Credits,
    skill: SkillName,
    output: Type.Unknown({ description: 'Held to the schema that the agent published' }),
  },
  { title: 'Hold capture', additionalProperties: false },
)
export const HoldRelease = Type.Object(
  {
    because: Type.Enum([...AGENT_CAUSES, 'withdrawn'], {
      description: 'withdrawn is the payer’s word, the others are the agent’s',
    }),
  },
  { title: 'Hold release', additionalProperties: false },
)
export const HoldRefund = Type.Object(
  { transfer_id: Uuid, amount: Credits },
  { title: 'Hold refund', additionalProperties: false },
)
export const HoldQuery = Type.Object(
  {
    task_id: Type.Optional(Uuid),
    agent_id: Type.Optional(Uuid),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.hitsPerPage })),
  },
  { title: 'Hold query', additionalProperties: false },
)
export const NewCredits = Type.Object(
  { transfer_id: Uuid, owner_id: OwnerName, amount: Credits },
  { title: 'New credits', additionalProperties: false },
)

// Names that other doors gave are told as they are: an OpenClaw request id need not be a uuid.
const Name = Type.String({ minLength: 1, maxLength: LIMITS.keyChars })

export const HoldShown = Type.Object({
  hold_id: Name,
  payer_id: OwnerName,
  payee_id: OwnerName,
  funder_id: {
    ...OwnerName,
    description: 'Whose credits they are: of a sub-hold, the first payer',
  },
  agent_id: Name,
  hirer_id: Type.Optional(Name),
  task_id: Name,
  parent_id: Type.Optional(Name),
  state: Type.Enum(['placed', 'confirmed', 'captured', 'released', 'lapsed']),
  because: Type.Optional(
    Type.Enum([...AGENT_CAUSES, 'withdrawn', 'overdue'], { description: 'Of released ones' }),
  ),
  amount: Credits,
  left: Credits,
  price: Type.Optional(Credits),
  paid: { ...Credits, description: 'What the payee got for it, sub-holds apart' },
  cost: { ...Credits, description: 'What it has cost with all that was hired out of it (P-9)' },
  deadline: Type.Optional(DateTime),
  ends_at: { ...DateTime, description: 'When time ends it, unless somebody does' },
})
export const ReservationShown = Type.Object({
  reservation_id: Name,
  instance_id: Name,
  planner_id: Name,
  task_id: Name,
  slots: Type.Integer({ minimum: 1 }),
  state: Type.Enum(['promised', 'taken', 'ended']),
  because: Type.Optional(Type.Enum(['released', 'lapsed', 'drained', 'freed'])),
  expires_at: DateTime,
})

export const HoldAnswer = Type.Object(
  { hold: Type.Optional(HoldShown), reservation: Type.Optional(ReservationShown) },
  { title: 'Hold, and the slots that go with it', minProperties: 1 },
)
export const HoldList = Type.Object(
  { holds: Type.Array(HoldShown, { maxItems: LIMITS.hitsPerPage }) },
  { title: 'Holds' },
)
export const CreditsMinted = Type.Object(
  { transfer_id: Uuid, owner_id: OwnerName, amount: Credits, balance: Credits },
  { title: 'Credits minted' },
)

export type HoldWanted = {
  readonly hold?: HoldId
  readonly payer?: OwnerId
  readonly hirer?: AgentId
  readonly agent: AgentId
  readonly task: TaskId
  readonly amountCents: number
  readonly lapsesAt: Instant
  readonly deadline?: Instant
  readonly parent?: HoldId
}
/** The message is kept as it came: that is what was signed. */
export type PresentedOffer = { readonly offered: ReserveOffered; readonly message: ReserveOffer }
export type Confirmation = { readonly priceCents: number; readonly deadline?: Instant }
export type Capture = {
  readonly transfer: TransferId
  readonly amountCents: number
  readonly skill: string
  readonly output: unknown
}
export type ReleaseWord = (typeof AGENT_CAUSES)[number] | 'withdrawn'
export type RefundWanted = { readonly transfer: TransferId; readonly amountCents: number }
export type HoldsSought = {
  readonly task?: TaskId
  readonly agent?: AgentId
  readonly limit: number
}
export type MintWanted = {
  readonly transfer: TransferId
  readonly owner: OwnerId
  readonly amountCents: number
}

export type ShownHold = Hold & { readonly costCents: number; readonly endsAt: Instant }
export type ShownReservation = {
  readonly id: ReservationId
  readonly instance: InstanceId
  readonly planner: AgentId
  readonly task: TaskId
  readonly slots: number
  readonly stage: 'promised' | 'taken' | 'ended'
  readonly because?: 'released' | 'lapsed' | 'drained' | 'freed'
  readonly lapsesAt: Instant
}

function decodeNewHold(message: Static<typeof NewHold>): HoldWanted {
  const { hold_id, payer_id, hirer_id, deadline, parent_id } = message
  return {
    agent: readUuid<AgentId>(message.agent_id),
    task: readUuid<TaskId>(message.task_id),
    amountCents: centsOf(message.amount),
    lapsesAt: instantOf(message.expires_at),
    ...(hold_id !== undefined && { hold: readUuid<HoldId>(hold_id) }),
    ...(payer_id !== undefined && { payer: payer_id as OwnerId }),
    ...(hirer_id !== undefined && { hirer: readUuid<AgentId>(hirer_id) }),
    ...(deadline !== undefined && { deadline: instantOf(deadline) }),
    ...(parent_id !== undefined && { parent: readUuid<HoldId>(parent_id) }),
  }
}

export const readNewHold = reader(checker(NewHold), decodeNewHold)
export const readOfferPresented = reader(
  checker(OfferPresented),
  ({ offer }): PresentedOffer => ({ offered: decodeReserveOffer(offer), message: offer }),
)
export const readHoldConfirmation = reader(
  checker(HoldConfirmation),
  ({ price, deadline }): Confirmation => ({
    priceCents: centsOf(price),
    ...(deadline !== undefined && { deadline: instantOf(deadline) }),
  }),
)
export const readHoldCapture = reader(
  checker(HoldCapture),
  ({ transfer_id, amount, skill, output }): Capture => ({
    transfer: readUuid<TransferId>(transfer_id),
    amountCents: centsOf(amount),
    skill,
    output,
  }),
)
export const readHoldRelease = reader(
  checker(HoldRelease),
  ({ because }): { readonly because: ReleaseWord } => ({ because }),
)
export const readHoldRefund = reader(
  checker(HoldRefund),
  ({ transfer_id, amount }): RefundWanted => ({
    transfer: readUuid<TransferId>(transfer_id),
    amountCents: centsOf(amount),
  }),
)
export const readHoldQuery = reader(
  queryChecker(HoldQuery),
  ({ task_id, agent_id, limit = DEFAULT_HOLDS }): HoldsSought => ({
    ...(task_id !== undefined && { task: readUuid<TaskId>(task_id) }),
    ...(agent_id !== undefined && { agent: readUuid<AgentId>(agent_id) }),
    limit,
  }),
)
export const readNewCredits = reader(
  checker(NewCredits),
  ({ transfer_id, owner_id, amount }): MintWanted => ({
    transfer: readUuid<TransferId>(transfer_id),
    owner: owner_id as OwnerId,
    amountCents: centsOf(amount),
  }),
)

export const encodeHold = (answer: {
  readonly hold?: ShownHold
  readonly reservation?: ShownReservation
}): Static<typeof HoldAnswer> => ({
  ...(answer.hold && { hold: encodeShownHold(answer.hold) }),
  ...(answer.reservation && { reservation: encodeReservation(answer.reservation) }),
})

export const encodeHolds = (holds: readonly ShownHold[]): Static<typeof HoldList> => ({
  holds: holds.map(encodeShownHold),
})

export const encodeMinted = ({
  transfer,
  owner,
  amountCents,
  balanceCents,
}: MintWanted & { readonly balanceCents: number }): Static<typeof CreditsMinted> => ({
  transfer_id: transfer,
  owner_id: owner,
  amount: writeCents(amountCents),
  balance: writeCents(balanceCents),
})

const encodeShownHold = (hold: ShownHold): Static<typeof HoldShown> => ({
  hold_id: hold.id,
  payer_id: hold.payer,
  payee_id: hold.payee,
  funder_id: hold.funder,
  agent_id: hold.agent,
  ...(hold.hirer !== undefined && { hirer_id: hold.hirer }),
  task_id: hold.task,
  ...(hold.parent !== undefined && { parent_id: hold.parent }),
  state: hold.stage,
  ...(hold.because !== undefined && { because: hold.because }),
  amount: writeCents(hold.amountCents),
  left: writeCents(hold.leftCents),
  ...(hold.priceCents !== undefined && { price: writeCents(hold.priceCents) }),
  paid: writeCents(hold.paidCents),
  cost: writeCents(hold.costCents),
  ...(hold.deadline !== undefined && { deadline: writeInstant(hold.deadline) }),
  ends_at: writeInstant(hold.endsAt),
})

const encodeReservation = (reservation: ShownReservation): Static<typeof ReservationShown> => ({
  reservation_id: reservation.id,
  instance_id: reservation.instance,
  planner_id: reservation.planner,
  task_id: reservation.task,
  slots: reservation.slots,
  state: reservation.stage,
  ...(reservation.because !== undefined && { because: reservation.because }),
  expires_at: writeInstant(reservation.lapsesAt),
})

export const HOLD_MESSAGES = {
  'new-hold': { schema: NewHold, read: readNewHold },
  'offer-presented': { schema: OfferPresented, read: readOfferPresented },
  'hold-confirmation': { schema: HoldConfirmation, read: readHoldConfirmation },
  'hold-capture': { schema: HoldCapture, read: readHoldCapture },
  'hold-release': { schema: HoldRelease, read: readHoldRelease },
  'hold-refund': { schema: HoldRefund, read: readHoldRefund },
  'hold-query': { schema: HoldQuery, read: readHoldQuery },
  'hold-answer': { schema: HoldAnswer, read: asItIs(checker(HoldAnswer)) },
  'hold-list': { schema: HoldList, read: asItIs(checker(HoldList)) },
  'new-credits': { schema: NewCredits, read: readNewCredits },
  'credits-minted': { schema: CreditsMinted, read: asItIs(checker(CreditsMinted)) },
} satisfies Messages
