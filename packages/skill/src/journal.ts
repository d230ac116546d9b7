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
 *   J5  What need not be at hand is left in the file (`restOf`), and read when somebody asks for
 *       it: a process holds what goes on, and not all that ever was.
 */
import { open } from 'node:fs/promises'
import { bytesOf, isLying, type Lying, lineOf, linesOf, rewrite } from './journal-file.ts'

export { FILE_MODE, type Lying } from './journal-file.ts'

export type JournalOptions<Entry, Rest = never> = {
  readonly path: string
  /** What was written, from JSON; undefined: it was not written here. */
  readonly read: (line: unknown) => Entry | undefined
  readonly nameOf: (entry: Entry) => string
  /** It need not be kept any longer. */
  readonly isOver: (entry: Entry) => boolean
  /** What is known of an entry that is left in the file; undefined: it stays at hand (J5). */
  readonly restOf?: (entry: Entry) => Rest | undefined
  /** What to throw when the file cannot be used. */
  readonly unusable: (why: 'damaged' | 'closed', message: string) => Error
}

export type Journal<Entry, Rest = never> = {
  /** What was there and is at hand, by name, in the order of its coming. */
  readonly first: ReadonlyMap<string, Entry>
  /** All that was there, in the same order, with what is left in the file. */
  readonly all: readonly (Entry | Lying<Rest>)[]
  /** Where all that counts is found when the file is written anew; until then it is `first`. */
  readonly holds: (entries: () => Iterable<Entry | Lying<Rest>>) => void
  readonly write: (entry: Entry) => Promise<void>
  /** Writes it, and answers where it lies if it need not be at hand. */
  readonly lay: (entry: Entry) => Promise<Lying<Rest> | undefined>
  readonly fetch: (lying: Lying<Rest>) => Promise<Entry>
  readonly close: () => Promise<void>
}

/** What is so under a name, and whoever waits until that is on the disk. */
type Line<Entry, Rest> = {
  entry: Entry
  readonly waits: {
    readonly done: (lying: Lying<Rest> | undefined) => void
    readonly failed: (error: unknown) => void
  }[]
}

// Below so many lines a rewrite saves nothing worth its time.
const FEW_LINES = 1_000

export async function openJournal<Entry extends object, Rest = never>(
  options: JournalOptions<Entry, Rest>,
): Promise<Journal<Entry, Rest>> {
  const { path, unusable, restOf = () => undefined } = options
  const { all, first, written } = await load(options)
  let entries = (): Iterable<Entry | Lying<Rest>> => all
  let { file, lines, size } = written
  let kept = lines
  let waiting = new Map<string, Line<Entry, Rest>>()
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
        for (const [place, { entry, waits }] of batch.entries()) {
          const bytes = Buffer.byteLength(texts[place] ?? '')
          const rest = restOf(entry)
          const lies = rest === undefined ? undefined : { rest, at: size, bytes }
          size += bytes
          for (const { done } of waits) done(lies)
        }
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
      const before = file
      // Those of this moment: writing them takes a while, in which more may come.
      const fresh = await rewrite(path, Array.from(entries()), before)
      // In one turn, so that nobody looks for what lies in one file in the other.
      ;({ file, lines, size } = fresh)
      fresh.move()
      torn = false
      await before.close()
    } catch {
      // Later, when it has grown as much again.
    }
    kept = lines
  }

  function lay(entry: Entry): Promise<Lying<Rest> | undefined> {
    if (closed) return Promise.reject(unusable('closed', `${path} is closed`))
    return new Promise((done, failed) => {
      const name = options.nameOf(entry)
      const line = waiting.get(name) ?? { entry, waits: [] }
      line.entry = entry
      line.waits.push({ done, failed })
      waiting.set(name, line)
      writing ??= drain()
    })
  }

  return {
    first,
    all,
    holds: (now) => {
      entries = now
    },
    lay,
    write: async (entry) => void (await lay(entry)),
    async fetch(lies) {
      const entry = readLine(options, (await bytesOf(file, lies)).toString())
      if (entry === undefined) throw unusable('damaged', `${path}: byte ${lies.at} cannot be read`)
      return entry
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
function textOf({ entry, waits }: Line<object, never>): string {
  try {
    return lineOf(entry)
  } catch (error) {
    for (const { failed } of waits.splice(0)) failed(error)
    return ''
  }
}

async function load<Entry extends object, Rest>(options: JournalOptions<Entry, Rest>) {
  const { path, nameOf, isOver, restOf, unusable } = options
  const found = new Map<string, Entry | Lying<Rest>>()
  const file = await open(path, 'r').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  })
  try {
    let number = 0
    for await (const { text, at, bytes } of file ? linesOf(file) : []) {
      number += 1
      const entry = readLine(options, text)
      if (entry === undefined) throw unusable('damaged', `${path}: line ${number} cannot be read`)
      const rest = restOf?.(entry)
      if (isOver(entry)) found.delete(nameOf(entry))
      else found.set(nameOf(entry), rest === undefined ? entry : { rest, at, bytes })
    }
    const all = [...found.values()]
    const written = await rewrite(path, all, file)
    written.move()
    const first = new Map<string, Entry>()
    for (const [name, each] of found) if (!isLying(each)) first.set(name, each)
    return { all, first, written }
  } finally {
    await file?.close()
  }
}

function readLine<Entry>(
  { read }: Pick<JournalOptions<Entry>, 'read'>,
  line: string,
): Entry | undefined {
  try {
    return read(JSON.parse(line))
  } catch {
    return undefined
  }
}

export const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
