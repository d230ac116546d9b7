/**
 * A keep in files, for one process that must survive a crash and has no database: work and the
 * answers of skills that run once, both in one directory.
 *
 *   F1  A change counts once its line is on the disk. Lines that wait together go together.
 *   F2  A line that was cut off by a crash was never acknowledged, and is passed over; a damaged
 *       one before it is not, since what it said is not known.
 *   F3  The file is written anew, beside and then in its place, when most of its lines are old.
 *   F4  One process at a time: the lock of the answers is the directory's. Only the owner reads it.
 */
import { type FileHandle, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, createClock } from '@chimera/host/clock'
import type { Answers } from '@chimera/skill/answers'
import { openFileAnswers } from '@chimera/skill/file-answers'
import type { Keep, KeptWork } from './keep.ts'
import { keepOn } from './memory-keep.ts'

export type FileKeepOptions = {
  /** Its own: nobody else writes there. */
  readonly directory: string
  readonly clock?: Clock
  /** Pieces of work at once: 100 000 unless given. */
  readonly most?: number
}

export type FileKeep = {
  readonly keep: Keep
  /** For the option of the same name: what `once` skills remember. */
  readonly answers: Answers
  readonly close: () => Promise<void>
}

/** What is in the file cannot be understood; somebody must look. */
export class KeepDamaged extends Error {
  override readonly name = 'KeepDamaged'
  readonly code = 'keep_damaged'
}

type Line = {
  readonly text: string
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

const MODE = 0o600
const FOLDER_MODE = 0o700
// Below so many lines a rewrite saves nothing worth its time.
const FEW_LINES = 1_000

export async function openFileKeep(options: FileKeepOptions): Promise<FileKeep> {
  const { directory, clock = createClock(), most } = options
  await mkdir(directory, { recursive: true, mode: FOLDER_MODE })
  const answers = await openFileAnswers({ path: join(directory, 'answers.jsonl'), clock })
  try {
    const path = join(directory, 'work.jsonl')
    const now = clock.now()
    const first = [...(await load(path)).values()].filter(
      ({ forgetAt }) => forgetAt === undefined || forgetAt > now,
    )
    let entries = (): Iterable<KeptWork> => first
    const journal = await openJournal(path, () => entries())
    const on = keepOn(
      { durable: true, first, write: journal.write },
      { now: clock.now, ...(most !== undefined && { most }) },
    )
    entries = on.entries
    return {
      keep: on.keep,
      answers,
      async close() {
        await journal.close()
        await answers.close()
      },
    }
  } catch (error) {
    await answers.close()
    throw error
  }
}

async function openJournal(path: string, entries: () => Iterable<KeptWork>) {
  let { file, lines } = await rewrite(path, entries())
  let waiting: Line[] = []
  let writing: Promise<void> | undefined
  let kept = lines

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      if (lines >= FEW_LINES && lines >= 2 * kept) await tidy()
      const batch = waiting
      waiting = []
      try {
        await file.appendFile(batch.map(({ text }) => text).join(''))
        await file.datasync()
        lines += batch.length
        for (const each of batch) each.done()
      } catch (error) {
        for (const each of batch) each.failed(error)
      }
    }
    writing = undefined
  }

  /** F3. If it fails the file stays as it is, only longer. */
  async function tidy(): Promise<void> {
    // What was acknowledged last is among the entries a moment later, and must not be missed.
    await new Promise((next) => setImmediate(next))
    try {
      const fresh = await rewrite(path, entries())
      await file.close()
      ;({ file, lines } = fresh)
      kept = lines
    } catch {
      kept = lines
    }
  }

  return {
    write: (one: KeptWork): Promise<void> =>
      new Promise((done, failed) => {
        waiting.push({ text: lineOf(one), done, failed })
        writing ??= drain()
      }),
    async close(): Promise<void> {
      await writing
      await file.close()
    },
  }
}

const lineOf = (kept: KeptWork): string => `${JSON.stringify(kept)}\n`

async function rewrite(
  path: string,
  entries: Iterable<KeptWork>,
): Promise<{ file: FileHandle; lines: number }> {
  const draft = `${path}.new`
  const texts = Array.from(entries, lineOf)
  await writeFile(draft, texts.join(''), { mode: MODE, flush: true })
  await rename(draft, path)
  return { file: await open(path, 'a', MODE), lines: texts.length }
}

/** By scope, in the order of their coming; the latest line of a scope counts. */
async function load(path: string): Promise<ReadonlyMap<string, KeptWork>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  })
  const lines = text.split('\n')
  // Whole files end with a line break, so the last piece is empty or was cut off (F2).
  lines.pop()
  const entries = new Map<string, KeptWork>()
  for (const [at, line] of lines.entries()) {
    const kept = readLine(line)
    if (kept === undefined) throw new KeepDamaged(`work.jsonl: line ${at + 1} cannot be read`)
    entries.set(kept.scope, kept)
  }
  return entries
}

/** Our own lines, written whole: what is there in parts was not written by us. */
function readLine(line: string): KeptWork | undefined {
  try {
    const kept = JSON.parse(line) as Partial<KeptWork> | null
    const isWhole = typeof kept?.scope === 'string' && kept.work?.ask !== undefined
    return isWhole ? (kept as KeptWork) : undefined
  } catch {
    return undefined
  }
}
