/**
 * What an agent needs of a bus. That of @chimera/bus fits as it is; this package has no broker
 * among its dependencies, so it is passed in.
 */
import type { CorrelationId, InstanceId, Instant, MessageId } from '@chimera/domain/ids'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'

type Headers = { readonly correlation?: CorrelationId; readonly id?: MessageId }

export type BusMessage = {
  readonly subject: string
  readonly bytes: Uint8Array
  readonly headers?: Headers
}

export type BusHeard = {
  readonly subject: string
  readonly bytes: Uint8Array
  /** There when the sender waits for an answer. */
  readonly reply?: (bytes: Uint8Array) => void
}

/** Iterating ends when it is closed, and throws when whoever hears fell too far behind. */
export type BusHearing = AsyncIterable<BusHeard> & { readonly close: () => void }

export type BusHearingOptions = {
  /** Of all subscribers with the same queue, each message goes to one. */
  readonly queue?: string
  readonly pendingMessages?: number
  readonly pendingBytes?: number
}

export type BusPort = {
  readonly publish: (message: BusMessage) => unknown
  /** Resolves when a stream keeps it. */
  readonly store: (
    message: BusMessage & { readonly headers: Headers & { readonly id: MessageId } },
  ) => Promise<unknown>
  readonly subscribe: (pattern: string, options?: BusHearingOptions) => BusHearing
  readonly state: () => { readonly type: string }
  readonly watch: (listener: (event: { readonly type: string }) => void) => () => void
  readonly close: () => Promise<void>
  /** The broker lets everybody speak under their own subjects only, as grants do. */
  readonly held?: boolean
}

/** A grant of the hub for one connection, for minutes (AV-12). */
export type BusGrant = {
  readonly jwt: string
  readonly inbox: string
  readonly addresses: readonly string[]
  readonly expiresAt: Instant
}

/** What a bus that is opened for an agent is told of it. */
export type BusNeeds = {
  /** For the broker's own monitoring. */
  readonly name: string
  readonly instance: InstanceId
  readonly clock: Clock
  readonly chance: Chance
  /** What streams of the hubs keep. */
  readonly streams: readonly {
    readonly name: string
    readonly subjects: readonly string[]
    readonly keepMs: number
    readonly keepMessages: number
    readonly keepBytes: number
    readonly dedupeMs: number
  }[]
  /** Asks the hub to let the holder of this key onto its broker; rejects where it will not. */
  readonly grant: (publicKey: string) => Promise<BusGrant>
}

/** A bus that is open and stays its owner's, or how to open one, which the agent then closes. */
export type BusOption = BusPort | ((needs: BusNeeds) => BusPort | Promise<BusPort>)
