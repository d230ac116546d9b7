/**
 * Answers in a file, for whoever needs them after a restart and has no database: one line for each,
 * the latest line of a scope counts.
 *
 *   W1  An answer counts once its line is on the disk. Lines that wait together go together.
 *   W2  A line that was cut off by a crash was never acknowledged, and is passed over; a damaged
 *       one before it is not, since what it said is not known.
 *   W3  The file is written anew, beside and then in its place, when most of its lines are old.
 *   W4  One process at a time. The lock of a dead one is recognised and taken over.
 *   W5  Answers may hold what people pay for: only the owner of the file may read it.
 */
import { type FileHandle, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import type { Digest } from '@chimera/domain/ids'
import { isForgotten, type Remembered } from '@chimera/domain/work/idempotency'
import { type Answers, answersOn, type MemoryOptions } from './answers.ts'

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

type Entry = Remembered<unknown>
type Entries = Map<string, Entry>
type Line = {
  readonly text: string
  readonly done: () => void
  readonly failed: (e: unknown) => void
}

const MODE = 0o600
// Below so many lines a rewrite saves nothing worth its time.
const FEW_LINES = 1_000

export async function openFileAnswers({ path, clock, most }: FileOptions): Promise<FileAnswers> {
  const unlock = await lock(`${path}.lock`)
  try {
    const entries = await load(path)
    for (const [scope, entry] of entries) {
      if (isForgotten(entry, clock.now())) entries.delete(scope)
    }
    const journal = await createJournal(path, entries)
    const answers = answersOn(
      { entries, write: (scope, entry) => journal.write(scope, entry) },
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

async function createJournal(path: string, entries: Entries) {
  let file = await rewrite(path, entries)
  let lines = entries.size
  let waiting: Line[] = []
  let writing: Promise<void> | undefined
  let closed = false

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      if (lines >= FEW_LINES && lines >= 2 * entries.size) await tidy().catch(() => undefined)
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

  async function tidy(): Promise<void> {
    // What was acknowledged last is in the map a moment later, and must not be missed.
    await new Promise((next) => setImmediate(next))
    const fresh = await rewrite(path, entries)
    await file.close()
    file = fresh
    lines = entries.size
  }

  return {
    write(scope: string, entry: Entry): Promise<void> {
      if (closed) return Promise.reject(new AnswersUnusable('answers_closed', 'closed already'))
      const text = `${JSON.stringify({ scope, ...entry })}\n`
      return new Promise((done, failed) => {
        waiting.push({ text, done, failed })
        writing ??= drain()
      })
    },
    async close(): Promise<void> {
      if (closed) return
      closed = true
      await writing
      await file.close()
    },
  }
}

/** All that counts, in a new file that takes the place of the old one in one step (W3). */
async function rewrite(path: string, entries: Entries): Promise<FileHandle> {
  const draft = `${path}.new`
  const text = [...entries].map(([scope, entry]) => `${JSON.stringify({ scope, ...entry })}\n`)
  await writeFile(draft, text.join(''), { mode: MODE, flush: true })
  await rename(draft, path)
  return open(path, 'a', MODE)
}

async function load(path: string): Promise<Entries> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return ''
    throw error
  })
  const lines = text.split('\n')
  // Whole files end with a line break, so the last piece is empty or was cut off (W2).
  lines.pop()
  const entries: Entries = new Map()
  for (const [at, line] of lines.entries()) {
    const read = readLine(line)
    if (read === undefined) {
      throw new AnswersUnusable('answers_damaged', `${path}: line ${at + 1} cannot be read`)
    }
    entries.delete(read.scope)
    entries.set(read.scope, read.entry)
  }
  return entries
}

function readLine(line: string): { scope: string; entry: Entry } | undefined {
  try {
    const { scope, content, answer, forgetAt } = JSON.parse(line)
    if (typeof scope !== 'string' || typeof content !== 'string') return undefined
    const entry = { content: content as Digest, answer }
    return { scope, entry: typeof forgetAt === 'number' ? { ...entry, forgetAt } : entry }
  } catch {
    return undefined
  }
}

async function lock(path: string): Promise<() => Promise<void>> {
  const mine = JSON.stringify({ pid: process.pid, birth: await birthOf(process.pid) })
  for (const last of [false, true]) {
    try {
      await writeFile(path, mine, { flag: 'wx', mode: MODE })
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

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
