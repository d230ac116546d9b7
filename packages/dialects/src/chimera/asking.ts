/**
 * The other side of `/v1/holds`, `/v1/work` and `/v1/keys`: what a hirer or an agent sends there,
 * and what the answers mean to it. An answer is what the hub says, and is taken as said (A4).
 */
import type { Fault } from '@chimera/domain/agent/condition'
import type { KeyHistory } from '@chimera/domain/agent/keys'
import type {
  AgentId,
  HoldId,
  Instant,
  KeyId,
  OwnerId,
  PublicKey,
  ReservationId,
  TaskId,
} from '@chimera/domain/ids'
import type { Hold } from '@chimera/domain/money/ledger'
import type { End } from '@chimera/domain/work/result'
import type { Traced } from '@chimera/domain/work/trace'
import type { Static } from 'typebox'
import { checker, reader } from '../check.ts'
import { centsOf, instantOf, writeCents, writeInstant } from '../wire.ts'
import {
  HoldAnswer,
  type HoldRelease,
  type HoldWanted,
  type NewHold,
  type ReleaseWord,
} from './holds.ts'
import { KeyHistoryShown } from './keys.ts'
import { WorkShown } from './work.ts'

export function encodeNewHold(wanted: HoldWanted): Static<typeof NewHold> {
  const { hold, payer, hirer, deadline, parent } = wanted
  return {
    ...(hold !== undefined && { hold_id: hold }),
    ...(payer !== undefined && { payer_id: payer }),
    ...(hirer !== undefined && { hirer_id: hirer }),
    agent_id: wanted.agent,
    task_id: wanted.task,
    amount: writeCents(wanted.amountCents),
    expires_at: writeInstant(wanted.lapsesAt),
    ...(deadline !== undefined && { deadline: writeInstant(deadline) }),
    ...(parent !== undefined && { parent_id: parent }),
  }
}

export const encodeHoldRelease = (because: ReleaseWord): Static<typeof HoldRelease> => ({ because })

export type HoldSeen = {
  readonly id: HoldId
  readonly agent: AgentId
  readonly payer: OwnerId
  readonly payee: OwnerId
  readonly task: TaskId
  readonly stage: Hold['stage']
  readonly amountCents: number
  /** At which the work was accepted. */
  readonly priceCents?: number
  /** With all that was hired out of it (P-9). */
  readonly costCents: number
}
export type HoldAnswered = {
  readonly hold?: HoldSeen
  readonly reservation?: ReservationId
}

export const readHoldAnswer = reader(
  checker(HoldAnswer),
  ({ hold, reservation }): HoldAnswered => ({
    ...(hold && { hold: decodeHold(hold) }),
    ...(reservation && { reservation: reservation.reservation_id as ReservationId }),
  }),
)

function decodeHold(hold: NonNullable<Static<typeof HoldAnswer>['hold']>): HoldSeen {
  return {
    id: hold.hold_id as HoldId,
    agent: hold.agent_id as AgentId,
    payer: hold.payer_id as OwnerId,
    payee: hold.payee_id as OwnerId,
    task: hold.task_id as TaskId,
    stage: hold.state,
    amountCents: centsOf(hold.amount),
    ...(hold.price !== undefined && { priceCents: centsOf(hold.price) }),
    costCents: centsOf(hold.cost),
  }
}

/** What a hub knows of a piece of work (P-3). */
export type WorkSeen = {
  readonly task: TaskId
  readonly state: Traced
  readonly agent?: AgentId
  readonly payee?: OwnerId
  readonly hold?: HoldId
  readonly end?: End
  /** Absent also where the content was deleted. */
  readonly output?: Readonly<Record<string, unknown>>
  readonly fault?: Fault
}

export const readWork = reader(checker(WorkShown), (shown): WorkSeen => {
  const { agent_id, payee_id, hold, ended, result } = shown
  const error = result?.error
  return {
    task: shown.key as TaskId,
    state: shown.state,
    ...(agent_id !== undefined && { agent: agent_id as AgentId }),
    ...(payee_id !== undefined && { payee: payee_id as OwnerId }),
    ...(hold && { hold: hold.hold_id as HoldId }),
    ...(ended && { end: ended.how }),
    ...(result?.output && { output: result.output }),
    ...(error && {
      fault: { code: error.code, message: error.message, lasting: error.error_type },
    }),
  }
})

/** The keys of an agent with their periods, for whoever verifies what it has signed (P-15). */
export const readKeyHistory = reader(
  checker(KeyHistoryShown),
  ({ keys }): KeyHistory => ({
    periods: keys.map(({ key_id, public_key, from, until }) => ({
      id: key_id as KeyId,
      publicKey: public_key as PublicKey,
      from: instantOf(from),
      ...(until !== undefined && { until: instantOf(until) satisfies Instant }),
    })),
  }),
)
