/**
 * Server-sent events out of pieces of text, as a connection hands them over. By hand, since the
 * browser's own reader cannot send a token.
 *
 *   S1  A frame may be cut anywhere, in the middle of a line end too; nothing is lost or doubled.
 *   S2  An id without data moves the place and is no event.
 *   S3  The place moves when a frame is whole: whoever is cut off inside one hears it again.
 */
export type Frame = {
  readonly event: string
  readonly data: string
  /** The last id that was sent, with this frame or before it. */
  readonly id: string | undefined
}

export type FrameReader = {
  readonly push: (text: string) => readonly Frame[]
  readonly lastId: () => string | undefined
}

/** A line longer than any event that the hub sends: whoever sends more is no hub. */
const MOST_CHARS = 4_000_000

export function createFrameReader(from?: string): FrameReader {
  let rest = ''
  let id = from
  let coming = from
  let event = ''
  let data: string[] = []

  function take(line: string): Frame | undefined {
    if (line === '') {
      id = coming
      const frame =
        data.length === 0 ? undefined : { event: event || 'message', data: data.join('\n'), id }
      event = ''
      data = []
      return frame
    }
    const colon = line.indexOf(':')
    if (colon === 0) return undefined
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'id') coming = value
    if (name === 'event') event = value
    if (name === 'data') data.push(value)
    return undefined
  }

  return {
    push(text) {
      rest += text
      if (rest.length > MOST_CHARS) throw new Error('a frame without an end')
      const frames: Frame[] = []
      for (;;) {
        const end = /\r\n|\n|\r(?!$)/.exec(rest)
        if (end === null) return frames
        const frame = take(rest.slice(0, end.index))
        rest = rest.slice(end.index + end[0].length)
        if (frame !== undefined) frames.push(frame)
      }
    },
    lastId: () => id,
  }
}
