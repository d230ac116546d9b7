/**
 * The file under a journal: read and written anew in pieces, so that it may be larger than what a
 * process can hold at once.
 */
import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** An entry that is left in the file, and what is known of it without reading it. */
export type Lying<Rest> = {
  readonly rest: Rest
  /** Changes when the file is written anew. */
  at: number
  readonly bytes: number
}

export type Written = {
  readonly file: FileHandle
  readonly lines: number
  readonly size: number
  /** From now on what lies in the file lies elsewhere in it. */
  readonly move: () => void
}

export const FILE_MODE = 0o600
/** Held at once, of reading as of writing: few calls, and little of a process. */
const PIECE_BYTES = 1 << 20
const BREAK = 0x0a

/**
 * All that counts, in a new file that takes the place of the old one in one step: entries as they
 * are, and those that lie in the file before this one.
 */
export async function rewrite(
  path: string,
  entries: readonly (object | Lying<unknown>)[],
  before?: FileHandle,
): Promise<Written> {
  const copy = createCopier(entries, before)
  const draft = `${path}.new`
  const out = await open(draft, 'w', FILE_MODE)
  const moved: { readonly lying: Lying<unknown>; readonly at: number }[] = []
  let pieces: Buffer[] = []
  let waiting = 0
  let size = 0
  let lines = 0
  const flush = async (): Promise<void> => {
    if (waiting > 0) await out.writeFile(Buffer.concat(pieces))
    pieces = []
    waiting = 0
  }
  try {
    for (const [place, entry] of entries.entries()) {
      const lying = isLying(entry) ? entry : undefined
      const line = lying ? await copy(lying, place) : Buffer.from(lineOf(entry))
      if (lying) moved.push({ lying, at: size })
      pieces.push(line)
      waiting += line.length
      size += line.length
      lines += 1
      if (waiting >= PIECE_BYTES) await flush()
    }
    await flush()
    await out.sync()
  } finally {
    await out.close()
  }
  await rename(draft, path)
  await syncFolder(dirname(path))
  const file = await open(path, 'a+', FILE_MODE)
  const move = (): void => {
    for (const { lying, at } of moved) lying.at = at
  }
  return { file, lines, size, move }
}

export const lineOf = (entry: object): string => `${JSON.stringify(entry)}\n`

export const isLying = <Rest>(entry: object | Lying<Rest>): entry is Lying<Rest> =>
  'rest' in entry && 'bytes' in entry

/**
 * The bytes of one after the other. Neighbours in the file are read together: they mostly come in
 * the order in which they lie there, and a read for each would be most of the work.
 */
function createCopier(entries: readonly object[], file: FileHandle | undefined) {
  let held: { readonly at: number; readonly bytes: Buffer } | undefined

  /** How far to read at once, from the one at this place on. */
  function endFrom(first: Lying<unknown>, place: number): number {
    let end = first.at + first.bytes
    for (let next = place + 1; next < entries.length; next += 1) {
      const entry = entries[next]
      if (entry === undefined || !isLying(entry)) continue
      const itsEnd = entry.at + entry.bytes
      if (entry.at < end || itsEnd - first.at > PIECE_BYTES) break
      end = itsEnd
    }
    return end
  }

  return async (lying: Lying<unknown>, place: number): Promise<Buffer> => {
    const { at, bytes } = lying
    if (held === undefined || at < held.at || at + bytes > held.at + held.bytes.length) {
      const whole = { at, bytes: endFrom(lying, place) - at }
      held = { at, bytes: await bytesOf(file, whole) }
    }
    return held.bytes.subarray(at - held.at, at - held.at + bytes)
  }
}

export async function bytesOf(
  file: FileHandle | undefined,
  { at, bytes }: Pick<Lying<unknown>, 'at' | 'bytes'>,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes)
  let read = 0
  while (read < bytes) {
    const more = (await file?.read(buffer, read, bytes - read, at + read))?.bytesRead ?? 0
    if (more === 0) throw new Error(`a journal ends before ${at + bytes}`)
    read += more
  }
  return buffer
}

/** Each whole line with where it begins. One that a crash cut off is none. */
export async function* linesOf(
  file: FileHandle,
): AsyncGenerator<{ readonly text: string; readonly at: number; readonly bytes: number }> {
  let begun: Buffer = Buffer.alloc(0)
  let at = 0
  for (;;) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, at + begun.length)
    if (bytesRead === 0) return
    const text = Buffer.concat([begun, piece.subarray(0, bytesRead)])
    let from = 0
    for (let end = text.indexOf(BREAK); end >= 0; end = text.indexOf(BREAK, from)) {
      yield { text: text.toString('utf8', from, end), at: at + from, bytes: end + 1 - from }
      from = end + 1
    }
    begun = text.subarray(from)
    at += from
  }
}

/** Which file has the name is on the disk, too: else a power cut could bring the old one back. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
