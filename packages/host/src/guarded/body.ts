/**
 * Reads an answer's body up to a bound, in pieces, each of which must come in time.
 *
 *   B1  No more than the bound is ever held; the first byte over it ends the reading.
 *   B2  A body that announces more is not begun.
 *   B3  A pause that is too long ends it, however slowly a peer drips.
 *   B4  Whoever hears the pieces as they come keeps them itself: then none is held here.
 */
import type { Clock } from '../clock.ts'
import { GuardFailure } from './failure.ts'

export type BodyBounds = { readonly bodyBytes: number; readonly pauseMs: number }

/** As much as is needed of a stream. */
export type Body = AsyncIterable<Uint8Array> & {
  destroy(error?: Error): unknown
  on(event: 'error', listener: () => void): unknown
}

export async function readBody(
  body: Body,
  announced: string | undefined,
  { bodyBytes, pauseMs }: BodyBounds,
  clock: Clock,
  hear?: (piece: Uint8Array) => void,
): Promise<Uint8Array> {
  const tooLarge = (): GuardFailure => new GuardFailure('too_large', `over ${bodyBytes} bytes`)
  if (Number(announced ?? 0) > bodyBytes) throw tooLarge()

  const pause = (): { cancel: () => void } =>
    clock.after(pauseMs, () => {
      body.destroy(new GuardFailure('timeout', `nothing more came for ${pauseMs} ms`))
    })
  const pieces: Uint8Array[] = []
  let bytes = 0
  let timer = pause()
  try {
    for await (const piece of body) {
      timer.cancel()
      bytes += piece.length
      if (bytes > bodyBytes) throw tooLarge()
      if (hear === undefined) pieces.push(piece)
      else hear(piece)
      timer = pause()
    }
  } finally {
    timer.cancel()
  }
  return Buffer.concat(pieces)
}

/** Lets go of a body, read or not; what is left of an unread one goes with its connection. */
export function discard(body: Body): void {
  // Whoever read it has heard of its error; of an unread one nobody needs to.
  body.on('error', () => {})
  body.destroy()
}
