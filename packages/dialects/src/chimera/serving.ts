/**
 * What an agent at work says to its hub about holds, and what the answers mean to it; and what it
 * tells whoever follows its work. An answer is what the hub says, and is taken as said (A4).
 */
import type { AgentId, HoldId, Instant, OwnerId, ReservationId, TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Hold } from '@chimera/domain/money/ledger'
import type { Work, WorkState } from '@chimera/domain/work/work'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import { AgentEntry } from '../chorus/schema.ts'
import type { Messages } from '../messages.ts'
import {
  Credits,
  centsOf,
  DateTime,
  instantOf,
  OwnerName,
  SkillName,
  textUpTo,
  Uuid,
  writeCents,
  writeInstant,
} from '../wire.ts'
import { type Confirmation, HoldAnswer, type HoldConfirmation, HoldList } from './holds.ts'

const STATES = [
  'deferred',
  'awaiting',
  'accepted',
  'running',
  'unknown',
  'refused',
  'done',
  'failed',
  'cancelled',
  'settled',
] as const satisfies readonly WorkState['name'][]

export type HeldSeen = {
  readonly id: HoldId
  readonly agent: AgentId
  readonly payer: OwnerId
  readonly hirer?: AgentId
  readonly task: TaskId
  readonly stage: Hold['stage']
  /** What the work may cost: the price once it is accepted, else what is left. */
  readonly coversCents: number
  readonly endsAt: Instant
}

export const readHolds = reader(checker(HoldList), ({ holds }): readonly HeldSeen[] =>
  holds.map(decodeHeld),
)

function decodeHeld(hold: Static<typeof HoldList>['holds'][number]): HeldSeen {
  return {
    id: hold.hold_id as HoldId,
    agent: hold.agent_id as AgentId,
    payer: hold.payer_id as OwnerId,
    ...(hold.hirer_id !== undefined && { hirer: hold.hirer_id as AgentId }),
    task: hold.task_id as TaskId,
    stage: hold.state,
    coversCents: centsOf(hold.price ?? hold.left),
    endsAt: instantOf(hold.ends_at),
  }
}

export type PromiseSeen = {
  readonly reservation: ReservationId
  readonly lapsesAt: Instant
  /** What was put aside for it, and by whom; absent where it costs nothing. */
  readonly held?: HeldSeen
}

/** Undefined where the hub names no reservation. */
export function promiseIn({
  hold,
  reservation,
}: Static<typeof HoldAnswer>): PromiseSeen | undefined {
  return (
    reservation && {
      reservation: reservation.reservation_id as ReservationId,
      lapsesAt: instantOf(reservation.expires_at),
      ...(hold && { held: decodeHeld(hold) }),
    }
  )
}

export const readPromise = reader(checker(HoldAnswer), promiseIn)

export const readAgentOwner = reader(
  checker(AgentEntry),
  ({ owner_id }): OwnerId => owner_id as OwnerId,
)

export const encodeConfirmation = (
  confirmation: Confirmation,
): Static<typeof HoldConfirmation> => ({
  price: writeCents(confirmation.priceCents),
  ...(confirmation.deadline !== undefined && { deadline: writeInstant(confirmation.deadline) }),
})

/** The offer goes as it came: that is what was signed. */
export const encodePresented = (offer: object): { readonly offer: object } => ({ offer })

export const WorkProgress = Type.Object(
  {
    share: Type.Number({ minimum: 0, maximum: 1, description: 'How much of it is done' }),
    note: Type.Optional(textUpTo(LIMITS.notesChars)),
    at: DateTime,
  },
  { title: 'Progress of work', additionalProperties: false },
)

export const readWorkProgress = asItIs(checker(WorkProgress))

/** Notes are the skill's own words, cut to their bound. */
export function encodeWorkProgress(
  { share, note }: { readonly share: number; readonly note?: string },
  at: Instant,
): Static<typeof WorkProgress> {
  return {
    share: share > 0 ? Math.min(share, 1) : 0,
    ...(note !== undefined && { note: Array.from(note).slice(0, LIMITS.notesChars).join('') }),
    at: writeInstant(at),
  }
}

export const AgentWork = Type.Object(
  {
    work: Type.Array(
      Type.Object({
        collaboration_id: Uuid,
        request_id: Type.String({ minLength: 1, maxLength: LIMITS.keyChars }),
        requester: OwnerName,
        skill: SkillName,
        state: Type.Enum([...STATES], { description: 'awaiting: a person has to agree' }),
        asked_at: DateTime,
        price: Type.Optional(Credits),
        deadline: Type.Optional(DateTime),
        error: Type.Optional(
          Type.Object(
            { code: textUpTo(LIMITS.skillChars), message: textUpTo(LIMITS.descriptionChars) },
            { description: 'Of work that has failed' },
          ),
        ),
        undelivered: Type.Optional(
          Type.Array(textUpTo(LIMITS.skillChars), {
            maxItems: 4,
            description: 'Why what should have been told was given up',
          }),
        ),
      }),
      { maxItems: LIMITS.hitsPerPage, description: 'The oldest first' },
    ),
  },
  { title: 'Work at an agent' },
)

export type WorkListed = {
  readonly work: Work
  readonly undelivered: readonly string[]
}

export const encodeAgentWork = (listed: readonly WorkListed[]): Static<typeof AgentWork> => ({
  work: listed.slice(0, LIMITS.hitsPerPage).map(encodeListed),
})

function encodeListed({ work: { ask, state, priceCents }, undelivered }: WorkListed) {
  const fault = state.name === 'failed' ? state.fault : undefined
  return {
    collaboration_id: ask.work,
    request_id: ask.task,
    requester: ask.requester,
    skill: ask.skill,
    state: state.name,
    asked_at: writeInstant(ask.askedAt),
    price: writeCents(priceCents),
    ...(ask.deadline !== undefined && { deadline: writeInstant(ask.deadline) }),
    ...(fault && { error: { code: fault.code, message: fault.message } }),
    ...(undelivered.length > 0 && { undelivered: [...undelivered] }),
  }
}

export const SERVING_MESSAGES = {
  'work-progress': { schema: WorkProgress, read: readWorkProgress },
  'agent-work': { schema: AgentWork, read: asItIs(checker(AgentWork)) },
} satisfies Messages
