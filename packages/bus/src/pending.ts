/**
 * What waits for one subscriber, within its limits. What came before an end or a cut is still
 * handed out; after it the iteration ends, or throws.
 */
import { Failure } from './failure.ts'
import { type Received, sizeOf } from './message.ts'
import type { Subscription } from './port.ts'

export type PendingLimits = { readonly messages: number; readonly bytes: number }

export type Pending = {
  readonly push: (received: Received) => void
  readonly end: (failure?: Failure) => void
  readonly subscription: Subscription
}

export type PendingOptions = {
  readonly pattern: string
  readonly limits: PendingLimits
  /** Nothing more is wanted: it was closed, cut off or left. Called once. */
  readonly done: (cutOff: number | undefined) => void
}

// Below this, moving the rest of the list is cheaper than remembering where it begins.
const COMPACT_AT = 1_024

export function createPending({ pattern, limits, done }: PendingOptions): Pending {
  let waiting: Received[] = []
  let from = 0
  let bytes = 0
  let failure: Failure | undefined
  let ended = false
  let iterated = false
  let wake = (): void => {}

  function finish(why: Failure | undefined, cutOff?: number): void {
    if (ended) return
    ended = true
    failure = why
    done(cutOff)
    wake()
  }

  function push(received: Received): void {
    if (ended) return
    const size = sizeOf(received)
    const count = waiting.length - from
    if (count + 1 > limits.messages || bytes + size > limits.bytes) {
      const detail = `${pattern}: ${count} messages and ${bytes} bytes wait`
      finish(new Failure('subscriber_slow', detail), count)
      return
    }
    waiting.push(received)
    bytes += size
    wake()
  }

  function take(most: number): readonly Received[] {
    const taken = waiting.slice(from, from + most)
    from += taken.length
    for (const each of taken) bytes -= sizeOf(each)
    if (from >= COMPACT_AT && from * 2 >= waiting.length) {
      waiting = waiting.slice(from)
      from = 0
    }
    return taken
  }

  async function* batches(most: number): AsyncGenerator<readonly Received[], void, undefined> {
    if (iterated) throw new TypeError('a subscription is iterated once')
    iterated = true
    try {
      for (;;) {
        while (from < waiting.length) yield take(most)
        if (failure !== undefined) throw failure
        if (ended) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      waiting = []
      from = 0
      finish(undefined)
    }
  }

  async function* each(): AsyncGenerator<Received, void, undefined> {
    for await (const [received] of batches(1)) if (received !== undefined) yield received
  }

  return {
    push,
    end: finish,
    subscription: {
      batches,
      close: () => finish(undefined),
      [Symbol.asyncIterator]: each,
    },
  }
}
