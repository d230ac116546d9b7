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

/** What is written: an entry, or where it lies in the file before this one. */
export type Source = { readonly text: string } | { readonly lying: Lying<unknown> }

export const FILE_MODE = 0o600
/** Held at once, of reading as of writing: few calls, and little of a process. */
const PIECE_BYTES = 1 << 20
const BREAK = 0x0a

/** All that counts, in a new file that takes the place of the old one in one step. */
export async function rewrite(
  path: string,
  sources: Iterable<Source>,
  before?: FileHandle,
): Promise<Written> {
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
    for (const source of sources) {
      const line = 'text' in source ? Buffer.from(source.text) : await bytesOf(before, source.lying)
      if ('lying' in source) moved.push({ lying: source.lying, at: size })
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

export async function bytesOf(
  file: FileHandle | undefined,
  { at, bytes }: Lying<unknown>,
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
