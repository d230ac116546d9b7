/**
 * The books as sums: where all credits are, that they add up to what was minted, and how much was
 * paid in each span of time. Amounts below zero are none that any document has, hence `minted`.
 */
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { Credits, DateTime, writeCents, writeInstant } from '../wire.ts'

const Count = Type.Integer({ minimum: 0 })
const SPANS = { hour: 3_600_000, day: 86_400_000 } as const
const DEFAULT_SPANS = 24

export const BookQuery = Type.Object(
  {
    by: Type.Optional(Type.Enum(['hour', 'day'])),
    spans: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LIMITS.volumeSpans, description: 'Up to now' }),
    ),
  },
  { title: 'Book query', additionalProperties: false },
)

export const Books = Type.Object(
  {
    minted: Credits,
    in_accounts: Credits,
    in_holds: Credits,
    in_fees: Credits,
    balanced: Type.Boolean({
      description: 'Whether all that was minted is in accounts, holds and fees: to the hundredth',
    }),
    accounts: Count,
    standing_holds: Count,
    payments: Count,
    volume: Credits,
    by: Type.Enum(['hour', 'day']),
    since: DateTime,
    spans: Type.Array(Type.Object({ begins_at: DateTime, amount: Credits, payments: Count }), {
      description: 'Those in which something was paid, the oldest first',
    }),
  },
  { title: 'Books' },
)

export type VolumeAsked = { readonly by: keyof typeof SPANS; readonly spans: number }

export const readBookQuery = reader(
  queryChecker(BookQuery),
  ({ by = 'hour', spans = DEFAULT_SPANS }): VolumeAsked => ({ by, spans }),
)

export const spanMs = (by: VolumeAsked['by']): number => SPANS[by]

export type BooksShown = {
  readonly mintedCents: number
  readonly accountCents: number
  readonly holdCents: number
  readonly feeCents: number
  readonly accounts: number
  readonly standingHolds: number
  readonly payments: number
  readonly volumeCents: number
  readonly by: VolumeAsked['by']
  readonly since: Instant
  readonly spans: readonly {
    readonly beginsAt: Instant
    readonly amountCents: number
    readonly payments: number
  }[]
}

export const encodeBooks = (books: BooksShown): Static<typeof Books> => ({
  minted: writeCents(books.mintedCents),
  in_accounts: writeCents(books.accountCents),
  in_holds: writeCents(books.holdCents),
  in_fees: writeCents(books.feeCents),
  balanced: books.mintedCents === books.accountCents + books.holdCents + books.feeCents,
  accounts: books.accounts,
  standing_holds: books.standingHolds,
  payments: books.payments,
  volume: writeCents(books.volumeCents),
  by: books.by,
  since: writeInstant(books.since),
  spans: books.spans.map(({ beginsAt, amountCents, payments }) => ({
    begins_at: writeInstant(beginsAt),
    amount: writeCents(amountCents),
    payments,
  })),
})

export const BOOK_MESSAGES = {
  'book-query': { schema: BookQuery, read: readBookQuery },
  books: { schema: Books, read: asItIs(checker(Books)) },
} satisfies Messages
