/**
 * A journal: what is so, in a file of lines, for whoever needs it after a restart and has no
 * database. One line for each change, and the latest under a name counts.
 *
 *   J1  A change counts once its line is on the disk. Lines that wait together go together, and of
 *       several under one name the last one alone.
 *   J2  A line that was cut off by a crash was never acknowledged, and is passed over; a damaged
 *       one before it is not, since what it said is not known.
 *   J3  The file is written anew, beside and then in its place, when most of its lines are old, and
 *       after a line that could not be written: what is left of that must not meet the next one.
 *   J4  Only the owner of the file may read it.
 */
import { type FileHandle, open, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

export type JournalOptions<Entry> = {
  readonly path: string
  /** What was written, from JSON; undefined: it was not written here. */
  readonly read: (line: unknown) => Entry | undefined
  readonly nameOf: (entry: Entry) => string
  /** It need not be kept any longer. */
  readonly isOver: (entry: Entry) => boolean
  /** What to throw when the file cannot be used. */
  readonly unusable: (why: 'damaged' | 'closed', message: string) => Error
}

export type Journal<Entry> = {
  /** What was there, by name, in the order of its coming. */
  readonly first: ReadonlyMap<string, Entry>
  /** Where all that counts is found when the file is written anew; until then it is `first`. */
  readonly holds: (entries: () => Iterable<Entry>) => void
  readonly write: (entry: Entry) => Promise<void>
  readonly close: () => Promise<void>
}

/** What is so under a name, and whoever waits until that is on the disk. */
type Line = {
  entry: unknown
  readonly waits: { readonly done: () => void; readonly failed: (error: unknown) => void }[]
}

export const FILE_MODE = 0o600
// Below so many lines a rewrite saves nothing worth its time.
const FEW_LINES = 1_000

export async function openJournal<Entry>(options: JournalOptions<Entry>): Promise<Journal<Entry>> {
  const { path, unusable } = options
  const first = await load(options)
  let entries = (): Iterable<Entry> => first.values()
  let { file, lines } = await rewrite(path, entries())
  let kept = lines
  let waiting = new Map<string, Line>()
  let writing: Promise<void> | undefined
  let torn = false
  let closed = false

  async function drain(): Promise<void> {
    while (waiting.size > 0) {
      // After all that changes in the same turn: of several changes under a name the last counts.
      await new Promise((next) => setImmediate(next))
      if (torn || (lines >= FEW_LINES && lines >= 2 * kept)) await tidy()
      const batch = [...waiting.values()]
      waiting = new Map()
      try {
        if (torn) throw unusable('damaged', `${path}: an earlier line was not written whole`)
        const texts = batch.map(textOf)
        await append(texts.join(''))
        lines += texts.length
        for (const { waits } of batch) for (const { done } of waits) done()
      } catch (error) {
        for (const { waits } of batch) for (const { failed } of waits) failed(error)
      }
    }
    writing = undefined
  }

  async function append(text: string): Promise<void> {
    try {
      await file.appendFile(text)
      await file.datasync()
    } catch (error) {
      torn = true
      throw error
    }
  }

  /** J3. If it fails the file stays as it is, only longer. */
  async function tidy(): Promise<void> {
    // What was acknowledged last is among the entries a moment later, and must not be missed.
    await new Promise((next) => setImmediate(next))
    try {
      const fresh = await rewrite(path, entries())
      await file.close()
      ;({ file, lines } = fresh)
      torn = false
    } catch {
      // Later, when it has grown as much again.
    }
    kept = lines
  }

  return {
    first,
    holds: (now) => {
      entries = now
    },
    write(entry) {
      if (closed) return Promise.reject(unusable('closed', `${path} is closed`))
      return new Promise((done, failed) => {
        const name = options.nameOf(entry)
        const line = waiting.get(name) ?? { entry, waits: [] }
        line.entry = entry
        line.waits.push({ done, failed })
        waiting.set(name, line)
        writing ??= drain()
      })
    },
    async close() {
      if (closed) return
      closed = true
      await writing
      await file.close()
    },
  }
}

/** What cannot be written is told so, and harms nothing that waits with it. */
function textOf({ entry, waits }: Line): string {
  try {
    return lineOf(entry)
  } catch (error) {
    for (const { failed } of waits.splice(0)) failed(error)
    return ''
  }
}

const lineOf = (entry: unknown): string => `${JSON.stringify(entry)}\n`

/** All that counts, in a new file that takes the place of the old one in one step. */
async function rewrite(
  path: string,
  entries: Iterable<unknown>,
): Promise<{ file: FileHandle; lines: number }> {
  const draft = `${path}.new`
  const texts = Array.from(entries, lineOf)
  await writeFile(draft, texts.join(''), { mode: FILE_MODE, flush: true })
  await rename(draft, path)
  await syncFolder(dirname(path))
  return { file: await open(path, 'a', FILE_MODE), lines: texts.length }
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

async function load<Entry>(options: JournalOptions<Entry>): Promise<ReadonlyMap<string, Entry>> {
  const { path, nameOf, isOver, unusable } = options
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return ''
    throw error
  })
  const lines = text.split('\n')
  // Whole files end with a line break, so the last piece is empty or was cut off (J2).
  lines.pop()
  const entries = new Map<string, Entry>()
  for (const [at, line] of lines.entries()) {
    const entry = readLine(options, line)
    if (entry === undefined) throw unusable('damaged', `${path}: line ${at + 1} cannot be read`)
    entries.set(nameOf(entry), entry)
  }
  for (const [name, entry] of entries) if (isOver(entry)) entries.delete(name)
  return entries
}

function readLine<Entry>({ read }: JournalOptions<Entry>, line: string): Entry | undefined {
  try {
    return read(JSON.parse(line))
  } catch {
    return undefined
  }
}

export const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
