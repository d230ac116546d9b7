/**
 * Answers in a file, for whoever needs them after a restart and has no database: a journal with one
 * line for each (J1 … J4 of `journal.ts`).
 *
 *   W1  One process at a time. The lock of a dead one is recognised and taken over.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import type { Digest } from '@chimera/domain/ids'
import { isForgotten, type Remembered } from '@chimera/domain/work/idempotency'
import { type Answers, answersOn, type MemoryOptions } from './answers.ts'
import { FILE_MODE, isCode, openJournal } from './journal.ts'

export type FileAnswers = Answers & { readonly close: () => Promise<void> }

export type FileOptions = MemoryOptions & { readonly path: string }

/** The file cannot be used; `code` says why. */
export class AnswersUnusable extends Error {
  override readonly name = 'AnswersUnusable'
  readonly code: 'answers_locked' | 'answers_damaged' | 'answers_closed'

  constructor(code: AnswersUnusable['code'], message: string) {
    super(message)
    this.code = code
  }
}

type Entry = Remembered<unknown> & { readonly scope: string }

export async function openFileAnswers({ path, clock, most }: FileOptions): Promise<FileAnswers> {
  const unlock = await lock(`${path}.lock`)
  try {
    const journal = await openJournal<Entry>({
      path,
      read: readEntry,
      nameOf: ({ scope }) => scope,
      isOver: (entry) => isForgotten(entry, clock.now()),
      unusable: (why, message) => new AnswersUnusable(`answers_${why}`, message),
    })
    const entries = new Map<string, Remembered<unknown>>(journal.first)
    journal.holds(() => Array.from(entries, ([scope, entry]) => ({ ...entry, scope })))
    const answers = answersOn(
      { entries, write: (scope, entry) => journal.write({ ...entry, scope }) },
      { clock, ...(most !== undefined && { most }) },
    )
    return {
      ...answers,
      async close() {
        await journal.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

function readEntry(line: unknown): Entry | undefined {
  const { scope, content, answer, forgetAt }: Partial<Record<keyof Entry, unknown>> = Object(line)
  if (typeof scope !== 'string' || typeof content !== 'string') return undefined
  const entry = { scope, content: content as Digest, answer }
  return typeof forgetAt === 'number' ? { ...entry, forgetAt } : entry
}

/** One process at a time; answers how to let go. */
export async function lock(path: string): Promise<() => Promise<void>> {
  const mine = JSON.stringify({ pid: process.pid, birth: await birthOf(process.pid) })
  for (const last of [false, true]) {
    try {
      await writeFile(path, mine, { flag: 'wx', mode: FILE_MODE })
      return () => rm(path, { force: true })
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error
      const holder = await readFile(path, 'utf8').catch(() => '')
      if (last || (await isAlive(holder))) {
        throw new AnswersUnusable('answers_locked', `${path} is held by another process`)
      }
      await rm(path, { force: true })
    }
  }
  throw new AnswersUnusable('answers_locked', path)
}

/** By number and birth, since numbers are used again. */
async function isAlive(holder: string): Promise<boolean> {
  try {
    const { pid, birth } = JSON.parse(holder)
    process.kill(Number(pid), 0)
    return birth === (await birthOf(Number(pid)))
  } catch (error) {
    // A process of another user may not be signalled, but it is there.
    return isCode(error, 'EPERM')
  }
}

/** When a process began, in the terms of this boot; known on Linux only. */
async function birthOf(pid: number): Promise<string> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The second field is a name in brackets and may hold anything; the 22nd is the start.
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${boot.trim()}:${start}`
  } catch {
    return ''
  }
}
