/**
 * Plain messages on their way to the broker (B1).
 *
 *   O1  They leave in the order in which they came.
 *   O2  Only so many bytes are with a link before the broker has read them; the rest waits here.
 *   O3  Here too only so many wait. Then the oldest goes: of what is said again and again, the
 *       latest is worth the most.
 */
import type { BusLimits } from './limits.ts'
import type { Link } from './link.ts'
import { type Message, sizeOf } from './message.ts'

export type Outbox = {
  readonly publish: (message: Message) => 'sent' | 'buffered'
  /** A new link, or none. */
  readonly use: (link: Link | undefined) => void
  readonly waiting: () => number
  readonly dropped: () => number
  /** Resolves when nothing waits, or when there is nowhere to send it. */
  readonly drained: () => Promise<void>
}

export type OutboxOptions = {
  readonly limits: BusLimits
  readonly onDropped: (messages: number) => void
}

export function createOutbox({ limits, onDropped }: OutboxOptions): Outbox {
  let link: Link | undefined
  // A Set keeps the order, and gives up its oldest without moving the others.
  const waiting = new Set<Message>()
  let waitingBytes = 0
  let dropped = 0
  let unread = 0
  let asking = false
  let drains: (() => void)[] = []

  function trySend(message: Message): boolean {
    const size = sizeOf(message)
    if (link === undefined || (unread > 0 && unread + size > limits.sendingBytes)) return false
    link.send(message)
    unread += size
    if (unread * 4 >= limits.sendingBytes) askWhatIsRead(link)
    return true
  }

  /** One round trip: what was sent before it has been read after it (O2). */
  function askWhatIsRead(asked: Link): void {
    if (asking) return
    asking = true
    const sent = unread
    const heard = (): void => {
      if (link !== asked) return
      asking = false
      unread -= sent
      sendWaiting()
      if (unread * 4 >= limits.sendingBytes) askWhatIsRead(asked)
    }
    // A link that is lost meanwhile is replaced by `use`.
    asked.flush().then(heard, () => {})
  }

  function sendWaiting(): void {
    for (const message of waiting) {
      if (!trySend(message)) break
      remove(message)
    }
    if (waiting.size > 0 && link !== undefined) return
    for (const resolve of drains) resolve()
    drains = []
  }

  function remove(message: Message): void {
    waiting.delete(message)
    waitingBytes -= sizeOf(message)
  }

  function keep(message: Message): void {
    // A copy, since the same message may wait twice.
    waiting.add({ ...message })
    waitingBytes += sizeOf(message)
    let gone = 0
    for (const oldest of waiting) {
      if (waiting.size <= limits.bufferedMessages && waitingBytes <= limits.bufferedBytes) break
      remove(oldest)
      gone += 1
    }
    dropped += gone
    if (gone > 0) onDropped(gone)
  }

  return {
    publish: (message) => {
      if (waiting.size === 0 && trySend(message)) return 'sent'
      keep(message)
      return 'buffered'
    },
    use: (next) => {
      link = next
      unread = 0
      asking = false
      sendWaiting()
    },
    waiting: () => waiting.size,
    dropped: () => dropped,
    drained: () =>
      new Promise((resolve) => {
        drains.push(resolve)
        sendWaiting()
      }),
  }
}
