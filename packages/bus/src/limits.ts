/**
 * How much an open bus holds, each bound with its reason (A5). All can be given at opening.
 */
import { LIMITS } from '@chimera/domain/limits'

export type BusLimits = {
  /** Bytes of one message with its headers: as much as HTTP takes. A broker's default is 1 MiB. */
  readonly messageBytes: number
  /** Messages and bytes that wait for one subscriber; then it is cut off. */
  readonly pendingMessages: number
  readonly pendingBytes: number
  /** Messages and bytes that wait for the broker, of the plain and of the durable ones each. */
  readonly bufferedMessages: number
  readonly bufferedBytes: number
  /** Bytes that are on their way to the broker; more is buffered until it has read them. */
  readonly sendingBytes: number
  readonly subscriptions: number
  readonly requests: number
  /** How long the broker may take to say that it stored a message, before it is asked again. */
  readonly storedWithinMs: number
  /** How long a close waits for what is under way. */
  readonly drainMs: number
  /** The first and the longest wait before the broker is dialled again; doubled in between. */
  readonly redialMs: number
  readonly redialMostMs: number
}

const MIB = 1024 * 1024

/** How long whoever was handed a message has to deal with it, before it goes to another. */
export const HAND_AGAIN_MS = 30_000
/** Messages that one of a group is handed at once: 16 MiB of the largest. */
export const HANDED_AT_ONCE = 64

export const BUS_LIMITS: BusLimits = {
  // Room for the headers beside the largest body.
  messageBytes: LIMITS.bodyBytes + 2_048,
  // Three seconds of the fastest presence stream that one core verifies.
  pendingMessages: 50_000,
  pendingBytes: 64 * MIB,
  // A minute of one thousand agents' posts at ten seconds each is 6 000.
  bufferedMessages: 10_000,
  bufferedBytes: 32 * MIB,
  // A round trip's worth on a fast link; beyond it the broker is not keeping up.
  sendingBytes: 8 * MIB,
  subscriptions: 1_000,
  requests: 10_000,
  storedWithinMs: 5_000,
  drainMs: 5_000,
  redialMs: 100,
  // A broker that comes back is found within seconds, by a thousand clients not all at once.
  redialMostMs: 5_000,
}
