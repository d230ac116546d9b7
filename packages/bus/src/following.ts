/**
 * Following a stream over as many links as it takes (B3). The place is the follower's own: each
 * link reads on after the last one that was handed out.
 */
import { hasCode } from './failure.ts'
import type { Delivery, Link } from './link.ts'
import type { Followed, FollowOptions, Received } from './port.ts'

export type FollowingOptions = FollowOptions & {
  readonly stream: string
  /** Ends the following: the follower's own signal, or the bus being closed. */
  readonly until: AbortSignal
  /** Waits for a link; nothing when it ends before. */
  readonly connected: (until: AbortSignal) => Promise<Link | undefined>
  readonly pause: (until: AbortSignal) => Promise<void>
  readonly received: (delivery: Delivery) => Received
}

export async function* following(options: FollowingOptions): AsyncGenerator<Followed, void> {
  const { stream, after, until, connected, pause, received } = options
  let seen = typeof after === 'number' ? after : undefined
  let born: string | undefined

  for (;;) {
    const link = await connected(until)
    if (link === undefined) return
    try {
      const head = await link.head(stream)
      seen ??= after === 'last' ? head.last : head.first - 1
      const anew = seen > head.last || (born !== undefined && born !== head.born)
      if (anew || head.first > seen + 1) {
        yield { type: 'gap', after: seen, resumesAt: head.first }
        seen = head.first - 1
      }
      born = head.born
      for await (const { seq, at, delivery } of link.read(stream, seen + 1, until)) {
        if (seq > seen + 1) yield { type: 'gap', after: seen, resumesAt: seq }
        seen = seq
        yield { type: 'message', seq, at, message: received(delivery) }
      }
    } catch (error) {
      if (!hasCode(error, 'broker_away', 'broker_lacking', 'answer_lost', 'request_timeout')) {
        throw error
      }
    }
    if (until.aborted) return
    await pause(until)
  }
}
