/**
 * The bus as everything above it sees it, whichever broker is behind.
 *
 *   B1  Plain messages arrive at most once, in order per subject and sender. While the broker is
 *       away they wait within a limit; beyond it the oldest are dropped, and counted.
 *   B2  A durable message is kept exactly once, in order per subject and sender, or its promise is
 *       rejected: with `outcome_unknown` when it may have been kept, else it was not.
 *   B3  Following a stream yields every message after the one named, in order, or says that there
 *       is a gap.
 *   B4  A subscriber that falls behind by more than its limit is cut off and told so: it gets what
 *       waits, then `subscriber_slow`.
 *   B5  The broker being away stops nothing but its answers. The bus dials for ever, and takes up
 *       subscriptions, followers and what waits where they were.
 *   B6  A stream that is handed out to a group reaches it at least once: each message goes to one
 *       of the group, and to another when it was not dealt with in time. The place of the group is
 *       the broker's to remember, also while nobody of it is there.
 */
import type { Instant } from '@chimera/domain/ids'
import type { DurableMessage, Headers, Message, Received } from './message.ts'

export type BusState =
  | { readonly type: 'connected'; readonly since: Instant }
  | { readonly type: 'away'; readonly since: Instant; readonly reason: string }
  | { readonly type: 'closed'; readonly since: Instant }

export type BusEvent =
  | BusState
  /** Plain messages were dropped, since too many wait for the broker. */
  | { readonly type: 'dropped'; readonly messages: number }
  /** A subscriber was cut off. */
  | { readonly type: 'cut'; readonly pattern: string; readonly pending: number }
  /** The broker does not let this client use the subject. */
  | { readonly type: 'forbidden'; readonly detail: string }

export type BusFigures = {
  /** Plain messages that wait for the broker, and those that were dropped since opening. */
  readonly buffered: number
  readonly dropped: number
  /** Durable messages that are not known to be kept yet. */
  readonly unconfirmed: number
  readonly subscriptions: number
  /** Subscribers cut off since opening. */
  readonly cut: number
}

export type SubscribeOptions = {
  /** Of all subscribers with the same queue, each message goes to one. */
  readonly queue?: string
  readonly pendingMessages?: number
  readonly pendingBytes?: number
}

/** Iterating ends when it is closed, and throws when it is cut off or forbidden. Once. */
export type Subscription = AsyncIterable<Received> & {
  /** All that waits at once, at most so many, at least one. */
  readonly batches: (most: number) => AsyncIterable<readonly Received[]>
  readonly close: () => void
}

export type Stored = {
  readonly stream: string
  readonly seq: number
  /** It was kept before, under the same id. */
  readonly repeated: boolean
}

export type FollowOptions = {
  /** The last one seen; `first` for all that is kept, `last` for what comes from now on. */
  readonly after: number | 'first' | 'last'
  readonly signal?: AbortSignal
}

export type Followed =
  | {
      readonly type: 'message'
      readonly seq: number
      /** When the broker took it. */
      readonly at: Instant
      readonly message: Received
    }
  /**
   * What came after `after` and before `resumesAt` is no longer kept. When `resumesAt` is not above
   * `after`, the stream was begun anew.
   */
  | { readonly type: 'gap'; readonly after: number; readonly resumesAt: number }

export type HandOptions = {
  /** Of all that have the same one, each message goes to one. */
  readonly group: string
  /** Which messages of the stream; the same for all of the group. */
  readonly pattern: string
  readonly signal?: AbortSignal
}

export type Handed = {
  readonly seq: number
  /** When the broker took it. */
  readonly at: Instant
  readonly message: Received
  /** It was dealt with, and is not handed out again. */
  readonly done: () => void
  /** It could not be dealt with now, and is handed out again after this time. */
  readonly again: (ms: number) => void
}

export type RequestOptions = { readonly timeoutMs: number; readonly signal?: AbortSignal }

/**
 * Last values by key, each forgotten when the bucket's time is over. One time for all keys: brokers
 * below NATS 2.11 ignore a key's own silently, so what must end earlier carries its own end.
 */
export type Bucket = {
  readonly put: (key: string, bytes: Uint8Array) => Promise<void>
  /** Puts it only where there is none; answers whether it did. */
  readonly add: (key: string, bytes: Uint8Array) => Promise<boolean>
  readonly get: (key: string) => Promise<Uint8Array | undefined>
  readonly remove: (key: string) => Promise<void>
  readonly all: () => Promise<ReadonlyMap<string, Uint8Array>>
}

export type Bus = {
  /** At most once (B1). Throws only for a message that is malformed or too large. */
  readonly publish: (message: Message) => 'sent' | 'buffered'
  /** Resolves when a stream keeps it (B2). */
  readonly store: (message: DurableMessage) => Promise<Stored>
  readonly subscribe: (pattern: string, options?: SubscribeOptions) => Subscription
  readonly follow: (stream: string, options: FollowOptions) => AsyncIterable<Followed>
  readonly handOut: (stream: string, options: HandOptions) => AsyncIterable<Handed>
  readonly request: (message: Message, options: RequestOptions) => Promise<Received>
  readonly bucket: (name: string) => Bucket
  /** Resolves when the broker has seen all that was said and subscribed to before. */
  readonly flush: () => Promise<void>
  readonly state: () => BusState
  readonly figures: () => BusFigures
  /** Calls back on each event, until the function that it answers with is called. */
  readonly watch: (listener: (event: BusEvent) => void) => () => void
  /** Takes nothing more, waits a limited time for what is under way, and ends all iteration. */
  readonly close: () => Promise<void>
}

export type { DurableMessage, Headers, Message, Received }
