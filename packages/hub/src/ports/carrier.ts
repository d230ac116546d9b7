/**
 * What the hub needs of a broker: saying something under a subject, hearing what is said, keeping
 * what must not be lost, and knowing whether the broker is there.
 */
import type { AgentId, CorrelationId, Instant, MessageId } from '@chimera/domain/ids'

type Headers = { readonly correlation?: CorrelationId; readonly id?: MessageId }

export type Carried = {
  readonly subject: string
  readonly bytes: Uint8Array
  readonly headers: Headers
}

export type CarrierState =
  | { readonly type: 'connected' | 'closed'; readonly since: Instant }
  | { readonly type: 'away'; readonly since: Instant; readonly reason: string }

export type CarrierEvent = {
  readonly type: 'connected' | 'away' | 'closed' | 'dropped' | 'cut' | 'forbidden'
}

/** Iterating ends when it is closed, and throws when the hub fell too far behind. */
export type Hearing = {
  readonly batches: (most: number) => AsyncIterable<readonly Carried[]>
  readonly close: () => void
}

/** A message that is this hub's to deal with, of those that a stream keeps. */
export type Handed = {
  /** When the broker took it. */
  readonly at: Instant
  readonly message: Carried
  readonly done: () => void
  /** It goes to one of the hubs again, after this time. */
  readonly again: (ms: number) => void
}

export type Carrier = {
  /** Waits within a limit while the broker is away; beyond, the oldest is dropped. */
  readonly publish: (message: {
    readonly subject: string
    readonly bytes: Uint8Array
    readonly headers?: Headers
  }) => unknown
  /** Resolves when a stream keeps it. */
  readonly store: (message: {
    readonly subject: string
    readonly bytes: Uint8Array
    readonly headers: Headers & { readonly id: MessageId }
  }) => Promise<unknown>
  /** Of all that have the same queue, each message goes to one. */
  readonly subscribe: (pattern: string, options?: { readonly queue?: string }) => Hearing
  /** What a stream keeps: each to one of the group, at least once, also what came meanwhile. */
  readonly handOut: (options: {
    readonly group: string
    readonly pattern: string
    readonly signal: AbortSignal
  }) => AsyncIterable<Handed>
  readonly state: () => CarrierState
  readonly figures: () => { readonly buffered: number; readonly dropped: number }
  readonly watch: (listener: (event: CarrierEvent) => void) => () => void
}

/** What hubs read from the database when one of them says that it is there. */
export type Noted = {
  readonly kind: 'status' | 'rumour' | 'score'
  readonly subject: string
}

export type BrokerState = CarrierState | { readonly type: 'none' }

/** What an action tells the other hubs of the same database, and asks of them. */
export type Share = {
  /** An agent has said that it is alive. */
  readonly beat: (agent: AgentId, at: Instant) => void
  /** The registry has changed; the others look at the trail at once. */
  readonly changed: () => void
  /** Something that was said is kept anew; the others read it. */
  readonly noted: (kept: Noted) => void
  /** Reads an agent anew that another hub may have changed a moment ago. */
  readonly readAnew: (agent: AgentId) => Promise<void>
  /** Follows the trail as far as it is sealed. */
  readonly catchUp: () => Promise<void>
  readonly broker: () => BrokerState
}
