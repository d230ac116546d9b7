/** Dead letters: messages that the hub could not deliver (P-8). */
import { type DeliveryFact, TROUBLES, type Trouble } from '@chimera/domain/delivery'
import type { CorrelationId, Instant, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Answer } from '../http-status.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { DateTime, OwnerName, TraceId, textUpTo, Uuid, writeInstant } from '../wire.ts'
import { PlaceText, readPlace, writePlace } from './place.ts'

const Kind = Type.String({
  pattern: '^[a-z][a-z_]{0,31}$',
  description: 'The kind of thing that a message tells of, such as `work` or `webhook`',
})
const LastError = Type.Object({
  code: Type.Enum(Object.keys(TROUBLES) as Trouble[]),
  message: textUpTo(LIMITS.descriptionChars),
  http_status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
})
const shown = {
  id: Uuid,
  to: Type.String({ description: 'As it was given; a token in it is not shown' }),
  about: Type.Object({ kind: Kind, id: Type.String({ minLength: 1, maxLength: LIMITS.keyChars }) }),
  owner_id: Type.Optional(OwnerName),
  correlation_id: TraceId,
  enqueued_at: DateTime,
  given_up_at: DateTime,
  attempts: Type.Integer({ minimum: 1 }),
  last_error: LastError,
}

export const LetterQuery = Type.Object(
  {
    owner_id: Type.Optional(OwnerName),
    about: Type.Optional(Kind),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.lettersPerPage })),
    after: Type.Optional(PlaceText),
  },
  { title: 'Dead letter query', additionalProperties: false },
)
export const LetterList = Type.Object(
  { letters: Type.Array(Type.Object(shown)), next_after: Type.Optional(PlaceText) },
  { title: 'Dead letters' },
)
export const Letter = Type.Object(
  { ...shown, body: Type.String({ description: 'As it was sent' }) },
  { title: 'Dead letter' },
)
export const Redelivery = Type.Object(
  {
    state: Type.Enum(['delivered', 'failed', 'under_way']),
    http_status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
    last_error: Type.Optional(LastError),
  },
  { title: 'Redelivery' },
)

export type LettersWanted = {
  readonly owner?: OwnerId
  readonly about?: string
  readonly after?: { readonly diedAt: Instant; readonly id: string }
  readonly limit: number
}

export type LetterShown = {
  readonly id: string
  readonly to: string
  readonly about: { readonly kind: string; readonly id: string }
  readonly owner?: OwnerId
  readonly correlation: CorrelationId
  readonly enqueuedAt: Instant
  readonly attempts: number
  readonly diedAt: Instant
  readonly trouble: Trouble
  readonly status?: number
}

const DEFAULT_LETTERS = 20

function decodeLetterQuery(query: Static<typeof LetterQuery>): LettersWanted {
  const place = query.after === undefined ? undefined : readPlace(query.after)
  return {
    ...(query.owner_id !== undefined && { owner: query.owner_id as OwnerId }),
    ...(query.about !== undefined && { about: query.about }),
    ...(place && { after: { diedAt: place.at, id: place.id } }),
    limit: query.limit ?? DEFAULT_LETTERS,
  }
}

export const readLetterQuery = reader(queryChecker(LetterQuery), decodeLetterQuery)

export const encodeLetters = ({
  letters,
  next,
}: {
  readonly letters: readonly LetterShown[]
  readonly next?: { readonly diedAt: Instant; readonly id: string }
}) => ({
  letters: letters.map(encodeShown),
  ...(next && { next_after: writePlace({ at: next.diedAt, id: next.id }) }),
})

export const encodeLetter = (letter: LetterShown & { readonly body: string }) => ({
  ...encodeShown(letter),
  body: letter.body,
})

/** 202 while it is not known what came of it. */
export function encodeRedelivery(fact?: DeliveryFact): Answer<Static<typeof Redelivery>> {
  if (fact === undefined) return { status: 202, body: { state: 'under_way' } }
  if (fact.type !== 'message_delivered') {
    return { status: 200, body: { state: 'failed', last_error: encodeTrouble(fact) } }
  }
  return { status: 200, body: { state: 'delivered', http_status: fact.status } }
}

const encodeTrouble = ({
  trouble,
  status,
}: {
  readonly trouble: Trouble
  readonly status?: number
}) => ({
  code: trouble,
  message: TROUBLES[trouble],
  ...(status !== undefined && { http_status: status }),
})

const encodeShown = (letter: LetterShown) => ({
  id: letter.id,
  to: letter.to,
  about: letter.about,
  ...(letter.owner !== undefined && { owner_id: letter.owner }),
  correlation_id: letter.correlation,
  enqueued_at: writeInstant(letter.enqueuedAt),
  given_up_at: writeInstant(letter.diedAt),
  attempts: letter.attempts,
  last_error: encodeTrouble(letter),
})

export const LETTER_MESSAGES = {
  'dead-letter-query': { schema: LetterQuery, read: readLetterQuery },
  'dead-letter-list': { schema: LetterList, read: asItIs(checker(LetterList)) },
  'dead-letter': { schema: Letter, read: asItIs(checker(Letter)) },
  redelivery: { schema: Redelivery, read: asItIs(checker(Redelivery)) },
} satisfies Messages
