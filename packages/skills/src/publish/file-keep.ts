/**
 * Records and used approvals in a file, for whoever publishes without a database: each change is a
 * line on the disk before it counts, and one process at a time has the file (journal.ts, J1 … J4).
 */
import { lock } from '@chimera/skill/file-answers'
import { openJournal } from '@chimera/skill/journal'
import type { LocalUse, LocalUses } from '../approvals/local-desk.ts'
import { createMemoryKeep, type PlannedRecord, type PublicationKeep } from './keep.ts'
import type { Post, Posted } from './platform.ts'

/** A post of the local outbox. */
export type FilePost = Posted & Pick<Post, 'key' | 'platform' | 'text' | 'title' | 'hashtags'>

type Line =
  | { readonly is: 'planner'; readonly name: string }
  | { readonly is: 'record'; readonly record: PlannedRecord }
  | { readonly is: 'use'; readonly use: LocalUse }
  | { readonly is: 'post'; readonly post: FilePost }

export type FileKeep = {
  readonly keep: PublicationKeep
  readonly uses: LocalUses
  readonly posts: {
    readonly find: (key: string) => FilePost | undefined
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
    const journal = await openJournal<Line>({
      path,
      read: readLine,
      nameOf,
      isOver: () => false,
      unusable: (_, message) => new Error(message),
    })
    const lines = new Map(journal.first)
    journal.holds(() => lines.values())
    const write = async (line: Line): Promise<void> => {
      await journal.write(line)
      lines.set(nameOf(line), line)
    }
    // Of two that come at once under one name, the second finds the first.
    let turn: Promise<unknown> = Promise.resolve()
    const once = <Kept extends Line>(line: Kept): Promise<Kept> => {
      const next = turn.then(async () => {
        const known = lines.get(nameOf(line))
        if (known !== undefined) return known as Kept
        await write(line)
        return line
      })
      turn = next.catch(() => undefined)
      return next
    }
    const known = lines.get(PLANNER)
    const planner = known?.is === 'planner' ? known.name : uuid()
    if (known === undefined) await write({ is: 'planner', name: planner })
    const records = new Map(
      [...lines.values()].flatMap((line) =>
        line.is === 'record' ? [[line.record.key, leftBehind(line.record)] as const] : [],
      ),
    )
    return {
      keep: createMemoryKeep({
        planner,
        records,
        write: (record) => write({ is: 'record', record }),
      }),
      uses: {
        find: async (id) => {
          const line = lines.get(`use ${id}`)
          return line?.is === 'use' ? line.use : undefined
        },
        add: async (use) => (await once({ is: 'use', use })).use,
      },
      posts: {
        find: (key) => {
          const line = lines.get(`post ${key}`)
          return line?.is === 'post' ? line.post : undefined
        },
        add: async (post) => (await once({ is: 'post', post })).post,
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

/** One process has the file, so whoever had a record in hand is dead, and nobody need wait. */
function leftBehind(record: PlannedRecord): PlannedRecord {
  const { wakeAt, kept } = record
  if (kept.stage !== 'sending') return record
  const { leaseUntil: _, ...free } = kept
  return { ...record, ...(wakeAt !== undefined && { wakeAt: 0 }), kept: free }
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
