/**
 * Work by its key (P-3): what a hirer or an agent asks for when an answer was lost, and what the
 * hub knows. A key is the task, request or job id; the agent's own name for the work does too.
 */
import type { AgentId, Instant, OwnerId, TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Hold, PaymentMade } from '@chimera/domain/money/ledger'
import type { EndReported, Result } from '@chimera/domain/work/result'
import type { Slots, Traced, TracedEnd } from '@chimera/domain/work/trace'
import { Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import {
  AnyObject,
  Credits,
  DateTime,
  isUuid,
  OwnerName,
  readUuid,
  TraceId,
  textUpTo,
  Uuid,
  writeCents,
  writeInstant,
} from '../wire.ts'
import { encodeWorkProgress, WorkProgress } from './serving.ts'

const Key = Type.String({ minLength: 1, maxLength: LIMITS.keyChars })
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of canonical JSON' })

export const WorkQuery = Type.Object(
  {
    key: Key,
    payer_id: Type.Optional(OwnerName),
  },
  { title: 'Work query', additionalProperties: false },
)

export const WorkShown = Type.Object(
  {
    key: Key,
    state: Type.Enum(
      ['asked', 'accepted', 'unknown', 'refused', 'done', 'failed', 'cancelled', 'settled'],
      { description: 'unknown: accepted, its deadline is over, and nobody has said how it ended' },
    ),
    agent_id: Type.Optional(Uuid),
    payer_id: Type.Optional(OwnerName),
    payee_id: Type.Optional(OwnerName),
    price: Type.Optional(Credits),
    deadline: Type.Optional(DateTime),
    skill: Type.Optional(textUpTo(LIMITS.skillChars)),
    correlation: Type.Optional({ ...TraceId, description: 'Of its result' }),
    found: Type.Optional(
      Type.Object(
        {
          at: DateTime,
          skill: textUpTo(LIMITS.skillChars),
          place: Type.Integer({ minimum: 1, description: 'In which place it was shown' }),
          of: Type.Integer({ minimum: 1 }),
        },
        { description: 'The search that found its agent, as far as this hub remembers' },
      ),
    ),
    progress: Type.Optional(
      Type.Array(WorkProgress, { maxItems: 20, description: 'The latest last; not kept for long' }),
    ),
    ended: Type.Optional(
      Type.Object({
        how: Type.Enum(['done', 'failed', 'cancelled']),
        at: Type.Optional(DateTime),
        because: Type.Optional(Type.Enum(['agent', 'overdue', 'requester'])),
      }),
    ),
    hold: Type.Optional(
      Type.Object({
        hold_id: Key,
        state: Type.Enum(['placed', 'confirmed', 'captured', 'released', 'lapsed']),
        amount: Credits,
        ends_at: DateTime,
      }),
    ),
    settlement: Type.Optional(
      Type.Object({ transfer_id: Key, amount: Credits, refunded: Credits, at: DateTime }),
    ),
    reservation: Type.Optional(
      Type.Object({
        reservation_id: Key,
        instance_id: Key,
        slots: Type.Integer({ minimum: 1 }),
        state: Type.Enum(['promised', 'taken', 'ended']),
        lapses_at: DateTime,
      }),
    ),
    result: Type.Optional(
      Type.Object({
        collaboration_id: Uuid,
        recorded_at: DateTime,
        content: Type.Enum(['kept', 'deleted']),
        output_hash: Type.Optional(Hash),
        output: Type.Optional(AnyObject),
        error: Type.Optional(
          Type.Object({
            code: textUpTo(LIMITS.skillChars),
            message: textUpTo(LIMITS.descriptionChars),
            error_type: Type.Enum(['transient', 'permanent']),
          }),
        ),
      }),
    ),
  },
  { title: 'Work' },
)

export type WorkSought = { readonly key: TaskId; readonly payer?: OwnerId }

/** Of the path and the query string together. */
export const readWorkQuery = reader(
  queryChecker(WorkQuery),
  ({ key, payer_id }): WorkSought => ({
    key: (isUuid(key) ? readUuid(key) : key) as TaskId,
    ...(payer_id !== undefined && { payer: payer_id as OwnerId }),
  }),
)

export type WorkTold = {
  readonly task: TaskId
  readonly state: Traced
  readonly end?: TracedEnd
  readonly agent?: AgentId
  readonly payer?: OwnerId
  readonly payee?: OwnerId
  readonly hold?: Hold
  readonly payment?: PaymentMade
  readonly slots?: Slots
  readonly result?: Result & { readonly report?: EndReported }
  readonly found?: {
    readonly at: Instant
    readonly skill: string
    readonly place: number
    readonly of: number
  }
  readonly progress?: readonly {
    readonly at: Instant
    readonly share: number
    readonly note?: string
  }[]
}

export function encodeWork(told: WorkTold) {
  const { state, agent, payer, payee, end, hold, payment, slots, result } = told
  const { found, progress = [] } = told
  const price = hold?.priceCents
  const skill = result?.report?.skill
  return {
    key: told.task,
    state,
    ...(agent !== undefined && { agent_id: agent }),
    ...(payer !== undefined && { payer_id: payer }),
    ...(payee !== undefined && { payee_id: payee }),
    ...(price !== undefined && { price: writeCents(price) }),
    ...(hold?.deadline !== undefined && { deadline: writeInstant(hold.deadline) }),
    ...(skill !== undefined && { skill }),
    ...(result && { correlation: result.correlation }),
    ...(found && { found: { ...found, at: writeInstant(found.at) } }),
    ...(progress.length > 0 && {
      progress: progress.map((each) => encodeWorkProgress(each, each.at)),
    }),
    ...(end && { ended: encodeEnd(end) }),
    ...(hold && { hold: encodeHold(hold) }),
    ...(payment && { settlement: encodePayment(payment) }),
    ...(slots && { reservation: encodeSlots(slots) }),
    ...(result && { result: encodeResult(result) }),
  }
}

function encodeEnd({ how, at, cause }: TracedEnd) {
  return {
    how,
    ...(at !== undefined && { at: writeInstant(at) }),
    ...(cause !== undefined && { because: cause }),
  }
}

function encodeHold({ id, stage, amountCents, lapsesAt, releasesAt }: Hold) {
  const ends: Instant = releasesAt ?? lapsesAt
  return {
    hold_id: id,
    state: stage,
    amount: writeCents(amountCents),
    ends_at: writeInstant(ends),
  }
}

function encodePayment({ transfer, amountCents, refundedCents, at }: PaymentMade) {
  return {
    transfer_id: transfer,
    amount: writeCents(amountCents),
    refunded: writeCents(refundedCents),
    at: writeInstant(at),
  }
}

function encodeSlots({ reservation, instance, slots, stage, lapsesAt }: Slots) {
  return {
    reservation_id: reservation,
    instance_id: instance,
    slots,
    state: stage,
    lapses_at: writeInstant(lapsesAt),
  }
}

function encodeResult({ work, recordedAt, output, report }: NonNullable<WorkTold['result']>) {
  const fault = report?.fault
  return {
    collaboration_id: work,
    recorded_at: writeInstant(recordedAt),
    content: report === undefined ? 'deleted' : 'kept',
    ...(output !== undefined && { output_hash: output }),
    ...(report?.output && { output: report.output }),
    ...(fault && {
      error: { code: fault.code, message: fault.message, error_type: fault.lasting },
    }),
  }
}

export const WORK_MESSAGES = {
  'work-query': { schema: WorkQuery, read: readWorkQuery },
  work: { schema: WorkShown, read: asItIs(checker(WorkShown)) },
} satisfies Messages
