/**
 * Records and used approvals in a file, for whoever publishes without a database: each change is a
 * line on the disk before it counts, and one process at a time has the file (journal.ts, J1 … J5).
 *
 *   B1  What is out stays known for ever, and lies in the file: a process holds its name alone.
 */
import { lock } from '@chimera/skill/file-answers'
import { type Lying, openJournal } from '@chimera/skill/journal'
import type { LocalUse, LocalUses } from '../approvals/local-desk.ts'
import { keepOn, type PlannedRecord, type PublicationKeep } from './keep.ts'
import type { Post, Posted } from './platform.ts'

/** A post of the local outbox. */
export type FilePost = Posted & Pick<Post, 'key' | 'platform' | 'text' | 'title' | 'hashtags'>

type Line =
  | { readonly is: 'planner'; readonly name: string }
  | { readonly is: 'record'; readonly record: PlannedRecord }
  | { readonly is: 'use'; readonly use: LocalUse }
  | { readonly is: 'post'; readonly post: FilePost }

type Of<Is extends Line['is']> = Extract<Line, { readonly is: Is }>

export type FileKeep = {
  readonly keep: PublicationKeep
  readonly uses: LocalUses
  readonly posts: {
    readonly find: (key: string) => Promise<FilePost | undefined>
    readonly add: (post: FilePost) => Promise<FilePost>
  }
  readonly close: () => Promise<void>
}

export async function openFileKeep({
  path,
  uuid,
}: {
  readonly path: string
  readonly uuid: () => string
}): Promise<FileKeep> {
  const unlock = await lock(`${path}.lock`)
  try {
    const journal = await openJournal<Line, string>({
      path,
      read: readLine,
      nameOf,
      isOver: () => false,
      restOf: (line) => (isOut(line) ? nameOf(line) : undefined),
      unusable: (_, message) => new Error(message),
    })
    const lines = new Map<string, Line | Lying<string>>()
    for (const each of journal.all) {
      if ('rest' in each) lines.set(each.rest, each)
      else lines.set(nameOf(each), freed(each))
    }
    journal.holds(() => lines.values())
    const find = async <Is extends Line['is']>(
      is: Is,
      name: string,
    ): Promise<Of<Is> | undefined> => {
      const entry = lines.get(name)
      const line = entry !== undefined && 'rest' in entry ? await journal.fetch(entry) : entry
      return line?.is === is ? (line as Of<Is>) : undefined
    }
    const write = async (line: Line): Promise<void> => {
      const name = nameOf(line)
      lines.set(name, (await journal.lay(line)) ?? line)
    }
    // Of two that come at once under one name, the second finds the first.
    let turn: Promise<unknown> = Promise.resolve()
    const once = <Is extends 'use' | 'post'>(line: Of<Is>, is: Is): Promise<Of<Is>> => {
      const next = turn.then(async () => {
        const known = await find(is, nameOf(line))
        if (known === undefined) await write(line)
        return known ?? line
      })
      turn = next.catch(() => undefined)
      return next
    }
    const known = await find('planner', PLANNER)
    const planner = known?.name ?? uuid()
    if (known === undefined) await write({ is: 'planner', name: planner })
    return {
      keep: keepOn(planner, {
        find: async (key) => (await find('record', `record ${key}`))?.record,
        put: (record) => write({ is: 'record', record }),
        awake: () => recordsOf(lines.values()),
      }),
      uses: {
        find: async (id) => (await find('use', `use ${id}`))?.use,
        add: async (use) => (await once({ is: 'use', use }, 'use')).use,
      },
      posts: {
        find: async (key) => (await find('post', `post ${key}`))?.post,
        add: async (post) => (await once({ is: 'post', post }, 'post')).post,
      },
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

/** B1. A record that nobody must look at any more, and whatever is never changed. */
function isOut(line: Line): boolean {
  if (line.is === 'planner') return false
  if (line.is !== 'record') return true
  const { wakeAt, kept } = line.record
  return wakeAt === undefined && (kept.stage === 'posted' || kept.stage === 'failed')
}

function* recordsOf(entries: Iterable<Line | Lying<string>>): Generator<PlannedRecord> {
  for (const each of entries) if ('is' in each && each.is === 'record') yield each.record
}

/** One process has the file, so whoever had a record in hand is dead, and nobody need wait. */
function freed(line: Line): Line {
  if (line.is !== 'record' || line.record.kept.stage !== 'sending') return line
  const { wakeAt, kept } = line.record
  const { leaseUntil: _, ...free } = kept
  const record = { ...line.record, ...(wakeAt !== undefined && { wakeAt: 0 }), kept: free }
  return { is: 'record', record }
}

const PLANNER = 'planner'

function nameOf(line: Line): string {
  switch (line.is) {
    case 'planner':
      return PLANNER
    case 'record':
      return `record ${line.record.key}`
    case 'use':
      return `use ${line.use.id}`
    case 'post':
      return `post ${line.post.key}`
  }
}

/** As it was written here; a line of anything else says that the file is another. */
function readLine(value: unknown): Line | undefined {
  const { is }: { readonly is?: unknown } = Object(value)
  const isOurs = is === 'planner' || is === 'record' || is === 'use' || is === 'post'
  return isOurs ? (value as Line) : undefined
}
