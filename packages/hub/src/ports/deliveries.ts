/** What is to be brought to an address that somebody gave, and what could not be (P-8). */
import type { Refused } from '@chimera/domain/decision'
import type { DeliveryFact, Trouble } from '@chimera/domain/delivery'
import type { CorrelationId, Instant, OwnerId } from '@chimera/domain/ids'

export type NewDelivery = {
  /** Names the message to its receiver, the same at each attempt. Made where none is given. */
  readonly id?: string
  readonly to: string
  /** As it is sent and signed: JSON text. */
  readonly body: string
  /** What it tells of, such as `work` and its key. */
  readonly about: { readonly kind: string; readonly id: string }
  /** Whose affair it is when it cannot be delivered: the operators' alone, where none is named. */
  readonly owner?: OwnerId
  readonly correlation: CorrelationId
  readonly traceparent?: string
}

export type Claimed = NewDelivery & {
  readonly id: string
  readonly host: string
  readonly claim: string
  /** The one that is claimed included. */
  readonly attempts: number
  readonly enqueuedAt: Instant
}

export type Letter = {
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

export type LetterQuery = {
  readonly owner?: OwnerId
  readonly about?: string
  readonly after?: { readonly diedAt: Instant; readonly id: string }
  readonly limit: number
}

export type Deliveries = {
  /** Answers when it is kept; it is sent within a second or so. The same id twice is one. */
  readonly enqueue: (
    delivery: NewDelivery,
  ) => Promise<{ readonly ok: true } | Refused<'message_oversized' | 'queue_full'>>
  /** One message of a host at most; they are this hub's until the claim comes back. */
  readonly claim: (wanted: {
    readonly claim: string
    readonly most: number
    readonly except: readonly string[]
  }) => Promise<readonly Claimed[]>
  readonly claimLetter: (id: string, claim: string) => Promise<Claimed | 'waiting' | undefined>
  readonly record: (claimed: Claimed, fact: DeliveryFact) => Promise<void>
  readonly giveBack: (claimed: Claimed) => Promise<void>
}

export type Letters = {
  /** The latest first. */
  readonly find: (query: LetterQuery) => Promise<readonly Letter[]>
  readonly read: (id: string) => Promise<(Letter & { readonly body: string }) | undefined>
  readonly remove: (id: string) => Promise<boolean>
  readonly purge: () => Promise<number>
}
