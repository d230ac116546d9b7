/**
 * One connection to a broker, from its dialling to its loss: what an adapter is. The bus above it
 * buffers, repeats and dials again; a link never does.
 *
 *   L1  What is sent is dealt with in its order. When the link is lost, what it had not passed on
 *       is gone.
 *   L2  A lost link stays lost: `lost` resolves once, its subscriptions and readings end, its
 *       questions are rejected with `answer_lost`.
 */
import type { Instant } from '@chimera/domain/ids'
import type { Failure } from './failure.ts'
import type { DurableMessage, Headers, Message } from './message.ts'
import type { Plans } from './plan.ts'
import type { Bucket, RequestOptions, Stored } from './port.ts'

export type Delivery = {
  readonly subject: string
  readonly bytes: Uint8Array
  readonly headers: Headers
  readonly replyTo?: string
}

/** Kept messages have the place that the stream gave them. */
export type Kept = { readonly seq: number; readonly at: Instant; readonly delivery: Delivery }

/** A kept message that one of a group is to deal with. */
export type Handing = Kept & {
  readonly done: () => void
  readonly again: (ms: number) => void
}

export type HandingOut = {
  readonly stream: string
  readonly group: string
  readonly pattern: string
}

/** Which are kept: none when `last` is below `first`. */
export type StreamHead = {
  readonly first: number
  readonly last: number
  /** Another one for a stream that was removed and made anew. */
  readonly born: string
}

export type Listening = {
  readonly pattern: string
  readonly queue?: string
  readonly deliver: (delivery: Delivery) => void
  /** The broker ended it: it will not be delivered to. */
  readonly refused: (failure: Failure) => void
}

export type Listened = {
  /** At once: what is on its way is not delivered. */
  readonly stop: () => void
  /** Resolves when what was on its way has been delivered. */
  readonly drain: () => Promise<void>
}

export type Link = {
  readonly send: (message: Message) => void
  readonly listen: (listening: Listening) => Listened
  readonly ask: (message: Message, options: RequestOptions) => Promise<Delivery>
  /**
   * Rejects with `stream_refused`, `stream_unknown` or `subject_forbidden` when it is not kept, and
   * with `answer_lost` or `request_timeout` when nobody knows.
   */
  readonly append: (message: DurableMessage, withinMs: number) => Promise<Stored>
  readonly head: (stream: string) => Promise<StreamHead>
  /** From this place on, for ever; ends with the signal or the link. */
  readonly read: (stream: string, from: number, signal: AbortSignal) => AsyncIterable<Kept>
  /** What the group has not dealt with yet, for ever; ends with the signal or the link. */
  readonly handOut: (asked: HandingOut, signal: AbortSignal) => AsyncIterable<Handing>
  readonly bucket: (name: string) => Bucket
  /** Resolves when the broker has dealt with all that was sent before. */
  readonly flush: () => Promise<void>
  /** With the reason, for the operator. */
  readonly lost: Promise<string>
  readonly close: () => Promise<void>
}

export type DialOptions = {
  readonly plans: Plans
  /** The largest message that must pass, and the most questions that wait at once. */
  readonly messageBytes: number
  readonly requests: number
  /** Where something happens that belongs to no call. */
  readonly forbidden: (detail: string) => void
}

/** Rejects with a `Failure` when there is no broker, or one that cannot do what is planned. */
export type Dial = (options: DialOptions) => Promise<Link>

/** Time and chance as the host hands them in. */
export type BusClock = {
  readonly now: () => Instant
  readonly after: (ms: number, run: () => void) => { readonly cancel: () => void }
}
export type BusChance = {
  readonly bytes: (count: number) => Uint8Array
  readonly fraction: () => number
}
