/** The subscriptions of a bus: taken up on every link, until closed or cut off (B4, B5). */
import { Failure } from './failure.ts'
import type { BusLimits } from './limits.ts'
import type { Delivery, Link, Listened } from './link.ts'
import type { Received } from './message.ts'
import { createPending, type Pending } from './pending.ts'
import type { BusEvent, SubscribeOptions, Subscription } from './port.ts'
import { checkPattern, checkSubject } from './subjects.ts'

export type Desk = {
  readonly subscribe: (pattern: string, options: SubscribeOptions) => Subscription
  /** A new link, or none. */
  readonly use: (link: Link | undefined) => void
  /** Listens no longer; resolves when what was on its way has come. */
  readonly drain: () => Promise<void>
  readonly close: () => void
  readonly figures: () => { readonly subscriptions: number; readonly cut: number }
}

export type DeskOptions = {
  readonly limits: BusLimits
  readonly received: (delivery: Delivery) => Received
  readonly tell: (event: BusEvent) => void
}

type Subscribed = {
  readonly pattern: string
  readonly queue: string | undefined
  readonly pending: Pending
  listened: Listened | undefined
}

export function createDesk({ limits, received, tell }: DeskOptions): Desk {
  const subscribed = new Set<Subscribed>()
  let link: Link | undefined
  let cut = 0

  function listen(to: Subscribed, over: Link): void {
    const { pattern, queue, pending } = to
    to.listened = over.listen({
      pattern,
      ...(queue !== undefined && { queue }),
      deliver: (delivery) => pending.push(received(delivery)),
      refused: (failure) => pending.end(failure),
    })
  }

  function subscribe(pattern: string, options: SubscribeOptions): Subscription {
    checkPattern(pattern)
    if (options.queue !== undefined) checkSubject(options.queue)
    if (subscribed.size >= limits.subscriptions) {
      throw new Failure('subscriptions_full', `${limits.subscriptions} are open`)
    }
    const messages = options.pendingMessages ?? limits.pendingMessages
    const bytes = options.pendingBytes ?? limits.pendingBytes
    const done = (cutOff: number | undefined): void => {
      subscribed.delete(one)
      one.listened?.stop()
      if (cutOff === undefined) return
      cut += 1
      tell({ type: 'cut', pattern, pending: cutOff })
    }
    const pending = createPending({ pattern, limits: { messages, bytes }, done })
    const one: Subscribed = { pattern, queue: options.queue, pending, listened: undefined }
    subscribed.add(one)
    if (link !== undefined) listen(one, link)
    return pending.subscription
  }

  function close(): void {
    for (const { pending } of subscribed) pending.end()
  }

  return {
    subscribe,
    use: (next) => {
      link = next
      for (const each of subscribed) {
        each.listened = undefined
        if (next !== undefined) listen(each, next)
      }
    },
    drain: async () => {
      await Promise.allSettled([...subscribed].map(async ({ listened }) => listened?.drain()))
      close()
    },
    close,
    figures: () => ({ subscriptions: subscribed.size, cut }),
  }
}
