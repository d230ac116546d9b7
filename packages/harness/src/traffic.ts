/**
 * What is under way between the parts of a network that live in one process: requests, calls of
 * the database, skills that run. A clock that stands still may be moved when nothing is.
 *
 *   W1  What has begun counts until it has ended, or until it was found to wait for the time
 *       itself: a request that is answered later, a skill that sleeps. Such a one counts again when
 *       something of it moves.
 *   W2  A call of the database never waits for the time, so its end is always waited for.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'

export type Traffic = {
  /** Rises with everything that happens. */
  readonly moves: () => number
  readonly underWay: () => { readonly certain: number; readonly waiting: number }
  /** Whatever may wait for the time does so, for all that is known (W1). */
  readonly park: () => void
  /** `certain`: it ends by itself, however long it takes (W2). */
  readonly during: <Result>(run: () => Promise<Result>, certain?: boolean) => Promise<Result>
  readonly close: () => void
}

type Listening = readonly [channel: string, hear: (message: unknown) => void]

const ENDED = ['undici:request:trailers', 'undici:request:error']
const BEGUN = 'undici:request:create'
const MOVED = ['undici:client:sendHeaders', 'undici:request:headers']
const SERVED = ['http.server.request.start', 'http.server.response.finish']
const PASSED_ON = ['http.client.request.start', 'http.client.response.finish']

export function createTraffic(): Traffic {
  let moves = 0
  let certain = 0
  const waiting = new Set<object>()
  /** Of those, the ones that were parked. */
  const parked = new WeakSet<object>()

  const begin = (one: object): void => {
    moves += 1
    waiting.add(one)
  }
  const move = (one: object | undefined): void => {
    moves += 1
    if (one !== undefined && parked.delete(one)) waiting.add(one)
  }
  const end = (one: object): void => {
    moves += 1
    parked.delete(one)
    waiting.delete(one)
  }
  const about = (told: (one: object) => void) => (message: unknown) => told(requestIn(message))

  const listenings: readonly Listening[] = [
    [BEGUN, about(begin)],
    ...MOVED.map((name): Listening => [name, about(move)]),
    ...ENDED.map((name): Listening => [name, about(end)]),
    ...[...SERVED, ...PASSED_ON].map((name): Listening => [name, () => move(undefined)]),
  ]
  for (const [channel, hear] of listenings) subscribe(channel, hear)

  return {
    moves: () => moves,
    underWay: () => ({ certain, waiting: waiting.size }),
    park: () => {
      for (const one of waiting) parked.add(one)
      waiting.clear()
    },
    during: async (run, isCertain = false) => {
      const one = {}
      if (isCertain) certain += 1
      else begin(one)
      moves += 1
      try {
        return await run()
      } finally {
        moves += 1
        if (isCertain) certain -= 1
        else end(one)
      }
    },
    close: () => {
      for (const [channel, hear] of listenings) unsubscribe(channel, hear)
    },
  }
}

/** The channels of HTTP clients tell of a request as a member of their message. */
function requestIn(message: unknown): object {
  const isTold = typeof message === 'object' && message !== null && 'request' in message
  const request = isTold ? message.request : undefined
  return typeof request === 'object' && request !== null ? request : {}
}
