/**
 * Being handed messages of a stream over as many links as it takes (B6). The broker has the group's
 * place; what this one was handed over a link that is lost goes to another, or comes again.
 */
import { hasCode } from './failure.ts'
import type { FollowingOptions } from './following.ts'
import type { HandingOut } from './link.ts'
import type { Handed } from './port.ts'

export type BeingHanded = HandingOut &
  Pick<FollowingOptions, 'until' | 'connected' | 'pause' | 'received'>

export async function* beingHanded(options: BeingHanded): AsyncGenerator<Handed, void> {
  const { stream, group, pattern, until, connected, pause, received } = options
  for (;;) {
    const link = await connected(until)
    if (link === undefined) return
    try {
      for await (const each of link.handOut({ stream, group, pattern }, until)) {
        const { seq, at, delivery, done, again } = each
        yield { seq, at, message: received(delivery), done, again }
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
