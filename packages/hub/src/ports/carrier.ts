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
  readonly state: () => CarrierState
  readonly figures: () => { readonly buffered: number; readonly dropped: number }
  readonly watch: (listener: (event: CarrierEvent) => void) => () => void
}

export type BrokerState = CarrierState | { readonly type: 'none' }

/** What an action tells the other hubs of the same database, and asks of them. */
export type Share = {
  /** An agent has said that it is alive. */
  readonly beat: (agent: AgentId, at: Instant) => void
  /** The registry has changed; the others look at the trail at once. */
  readonly changed: () => void
  /** Reads an agent anew that another hub may have changed a moment ago. */
  readonly readAnew: (agent: AgentId) => Promise<void>
  /** Follows the trail as far as it is sealed. */
  readonly catchUp: () => Promise<void>
  readonly broker: () => BrokerState
}
