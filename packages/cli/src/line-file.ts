/**
 * Files of lines, larger than memory: exports and backups.
 *
 *   L1  A line ends with `\n` and nothing else. Node's own readline also ends one at U+2028, which
 *       JSON leaves inside its strings.
 *   L2  A file appears whole, under its name, when its last line is on the disk; until then there is
 *       none, and an earlier one is not replaced.
 *   L3  Only its owner may read it: it holds everybody's balances, and in a backup more than that.
 */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { codeOf, MISUSED, Trouble } from './trouble.ts'

const CHUNK = 1024 * 1024
// The header of an export names every account: room for some millions of them.
const LONGEST = 256 * 1024 * 1024
const NEWLINE = 0x0a

/** Synchronous, because a chain is walked by an iterator, and a command does nothing beside it. */
export function* readLines(path: string): Generator<string> {
  const file = openToRead(path)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const chunk = Buffer.alloc(CHUNK)
  let begun: Buffer[] = []
  let length = 0
  let number = 0
  const finish = (last: Buffer): string => {
    number += 1
    const bytes = Buffer.concat([...begun, last])
    begun = []
    length = 0
    try {
      return decoder.decode(bytes)
    } catch {
      throw new Trouble(`${path}, line ${number}: not UTF-8 text.`)
    }
  }
  try {
    for (;;) {
      const count = readSync(file, chunk)
      if (count === 0) break
      let from = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0 && end < count; ) {
        yield finish(chunk.subarray(from, end))
        from = end + 1
        end = chunk.indexOf(NEWLINE, from)
      }
      // The chunk is filled again, so what is kept of it is copied.
      const rest = Buffer.from(chunk.subarray(from, count))
      length += rest.length
      if (length > LONGEST) throw new Trouble(`${path}, line ${number + 1}: too long to be ours.`)
      begun.push(rest)
    }
    if (length > 0) yield finish(Buffer.alloc(0))
  } finally {
    closeSync(file)
  }
}

function openToRead(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    throw new Trouble(`${path} cannot be read (${codeOf(cause)}).`, MISUSED)
  }
}

export type Put = (line: string) => Promise<void>

/** Writes to a draft beside it, which takes the name in the end (L2). */
export async function writeLines(path: string, fill: (put: Put) => Promise<void>): Promise<void> {
  const draft = `${path}.${process.pid}.part`
  const file = await openToWrite(draft)
  let begun: string[] = []
  let size = 0
  const flush = async () => {
    if (begun.length > 0) await file.write(`${begun.join('\n')}\n`)
    begun = []
    size = 0
  }
  try {
    await fill(async (line) => {
      begun.push(line)
      size += line.length
      if (size >= CHUNK) await flush()
    })
    await flush()
    await file.sync()
    await file.close()
    refuseTaken(path)
    await rename(draft, path)
  } catch (cause) {
    await file.close()
    await unlink(draft)
    throw cause
  }
}

/** Asked before the work as well, so that nobody waits for a no. */
export function refuseTaken(path: string): void {
  if (!existsSync(path)) return
  throw new Trouble(`${path} is there already. Name another file, or move that one away.`, MISUSED)
}

async function openToWrite(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (cause) {
    throw new Trouble(`${path} cannot be written (${codeOf(cause)}).`, MISUSED)
  }
}
