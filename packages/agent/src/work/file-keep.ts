/**
 * A keep in files, for one process that must survive a crash and has no database: work and the
 * answers of skills that run once, each in a journal (J1 … J4 of the skills' `journal.ts`), both in
 * one directory.
 *
 *   F1  One process at a time: the lock of the answers is the directory's.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, createClock } from '@chimera/host/clock'
import type { Answers } from '@chimera/skill/answers'
import { openFileAnswers } from '@chimera/skill/file-answers'
import { openJournal } from '@chimera/skill/journal'
import type { Keep, KeptWork } from './keep.ts'
import { type EndedName, endedName, keepOn } from './memory-keep.ts'

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

/** The file cannot be used; `code` says why. */
export class KeepUnusable extends Error {
  override readonly name = 'KeepUnusable'
  readonly code: 'keep_damaged' | 'keep_closed'

  constructor(code: KeepUnusable['code'], message: string) {
    super(message)
    this.code = code
  }
}

const FOLDER_MODE = 0o700

/** For one process without a database: what is kept outlives it. */
export async function openFileKeep(options: FileKeepOptions): Promise<FileKeep> {
  const { directory, clock = createClock(), most } = options
  await mkdir(directory, { recursive: true, mode: FOLDER_MODE })
  const answers = await openFileAnswers({ path: join(directory, 'answers.jsonl'), clock })
  try {
    const now = clock.now()
    const journal = await openJournal<KeptWork, EndedName>({
      path: join(directory, 'work.jsonl'),
      read: readKept,
      nameOf: ({ scope }) => scope,
      isOver: ({ forgetAt }) => forgetAt !== undefined && forgetAt <= now,
      restOf: endedName,
      unusable: (why, message) => new KeepUnusable(`keep_${why}`, message),
    })
    const { keep, entries } = keepOn(
      {
        durable: true,
        first: journal.all,
        write: journal.lay,
        fetch: journal.fetch,
      },
      { now: clock.now, ...(most !== undefined && { most }) },
    )
    journal.holds(entries)
    return {
      keep,
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

/** Our own lines, written whole: what is there in parts was not written by us. */
function readKept(line: unknown): KeptWork | undefined {
  const kept = line as Partial<KeptWork> | null
  const isWhole = typeof kept?.scope === 'string' && kept.work?.ask !== undefined
  return isWhole ? (kept as KeptWork) : undefined
}
