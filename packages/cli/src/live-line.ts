/**
 * What is under way, on standard error: at a terminal one line that is written anew, elsewhere a
 * line each time that something is different.
 *
 *   L1  At a terminal the line never wraps, since a line that has wrapped cannot be taken back.
 */
import { plain } from './show.ts'

export type LiveLine = {
  /** How it stands now. */
  readonly show: (text: string) => void
  /** What stays to be read. */
  readonly note: (text: string) => void
  /** Takes the line away. */
  readonly clear: () => void
}

/** As much of a stream as is needed. */
export type Terminal = {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly write: (text: string) => unknown
}

const ERASE = '\r\u001b[2K'
const COLUMNS = 80

export function createLiveLine(stream: Terminal): LiveLine {
  const isLive = stream.isTTY === true
  let last = ''
  const clear = (): void => {
    if (isLive && last !== '') stream.write(ERASE)
    last = ''
  }
  return {
    show(text) {
      const line = plain(text)
      if (line === last) return
      if (isLive) {
        // Some terminals say that they have none.
        const room = (stream.columns || COLUMNS) - 1
        const cut = line.length > room ? `${line.slice(0, room - 1)}…` : line
        stream.write(`${ERASE}${cut}`)
      } else stream.write(`${line}\n`)
      last = line
    },
    note(text) {
      const again = last
      clear()
      stream.write(`${plain(text)}\n`)
      if (!isLive) last = again
    },
    clear,
  }
}
