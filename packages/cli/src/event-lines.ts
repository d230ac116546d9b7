/**
 * Server-sent events from a stream of bytes: one at a time, comments passed over.
 *
 *   V1  An id counts from the moment it was read, also without an event: a beat says how far the
 *       stream has come.
 *   V2  A line is bounded, so that whoever answers cannot fill the memory.
 */
export type Heard = { readonly event: string; readonly data: string; readonly id: string }

// An audit event holds a whole fact, and no fact is larger than a message.
const MOST_CHARS = 16 * 1024 * 1024

export async function* readEvents(
  bytes: AsyncIterable<Uint8Array>,
  /** Called with every id, the moment that it counts. */
  seen: (id: string) => void,
): AsyncGenerator<Heard> {
  const decoder = new TextDecoder()
  let rest = ''
  let frame = { event: '', data: [] as string[], id: '' }
  for await (const part of bytes) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MOST_CHARS) throw new RangeError('a line without end')
    for (const line of lines) {
      if (line !== '') {
        take(frame, line.replace(/\r$/, ''))
        continue
      }
      const { event, data, id } = frame
      frame = { event: '', data: [], id: '' }
      // Told first: whoever has the event in hand has its place too.
      if (id !== '') seen(id)
      if (data.length > 0) yield { event: event || 'message', data: data.join('\n'), id }
    }
  }
}

function take(frame: { event: string; data: string[]; id: string }, line: string): void {
  const at = line.indexOf(':')
  if (at <= 0) return
  const value = line.slice(at + 1).replace(/^ /, '')
  const name = line.slice(0, at)
  if (name === 'event') frame.event = value
  if (name === 'id') frame.id = value
  if (name === 'data') frame.data.push(value)
}
