/**
 * Publishes once, as a process of its own that kills itself where it is told:
 * `publishing-child.ts <JSON>`.
 */
import { join } from 'node:path'
import type { PublishContentInput, PublishContentOutput } from '@chimera/dialects/skills/schema'
import { createClock } from '@chimera/host/clock'
import { loadOrCreateKeyFile } from '@chimera/identity/key-file'
import type { CallOutcome } from '@chimera/skill/calls'
import { createRunner } from '@chimera/skill/runner'
import { openDatabase } from '@chimera/store/engine/open'
import { createPlanned } from '@chimera/store/posts-planned'
import { createLocalDesk, type LocalDesk } from '../src/approvals/local-desk.ts'
import { openFileKeep } from '../src/publish/file-keep.ts'
import type { Planned, PublicationKeep } from '../src/publish/keep.ts'
import type { PlatformPublisher } from '../src/publish/platform.ts'
import { createPublishing } from '../src/publish/publishing.ts'
import { publishContent } from '../src/publish-content.ts'
import { publisherOf } from './platform-server.ts'

/**
 * After the approval was used; after the intent was kept; when it is noted as being sent; when the
 * platform has it; when that is kept.
 */
export type Cut = 'used' | 'kept' | 'sending' | 'published' | 'recorded' | 'none'

export type Asked = {
  readonly platform: string
  /** Where key, approvals and records are. */
  readonly folder: string
  /** A directory for the embedded database, instead of the file of records. */
  readonly database?: string
  readonly cut: Cut
  /** So much later than it is. */
  readonly aheadMs?: number
  readonly input?: PublishContentInput
}

export type Opened = {
  readonly desk: LocalDesk
  readonly publish: (input: PublishContentInput) => Promise<CallOutcome<PublishContentOutput>>
  readonly close: () => Promise<void>
}

export async function openPublisher(asked: Asked): Promise<Opened> {
  const { platform, folder, database: place, cut, aheadMs = 0 } = asked
  const at = async (point: Cut): Promise<void> => {
    if (point !== cut) return
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  }
  const real = createClock()
  const clock = { ...real, now: () => real.now() + aheadMs }
  const uuid = () => crypto.randomUUID()
  const file = await openFileKeep({ path: join(folder, 'publications.jsonl'), uuid })
  const database = place === undefined ? undefined : await openDatabase(`pglite:${place}`)
  const keep: PublicationKeep =
    database === undefined
      ? file.keep
      : createPlanned<Planned>({ database, planner: file.keep.planner })
  const { pair: key } = await loadOrCreateKeyFile(join(folder, 'key.json'))
  const desk = createLocalDesk({ key, now: clock.now, uuid, uses: file.uses })
  const twitter: PlatformPublisher = publisherOf(platform)
  const publishing = createPublishing({
    clock,
    desk: {
      ...desk,
      use: async (asking, signal) => {
        const used = await desk.use(asking, signal)
        await at('used')
        return used
      },
    },
    keep: {
      ...keep,
      add: async (record) => {
        const added = await keep.add(record)
        await at('kept')
        return added
      },
      change: async (record) => {
        const changed = await keep.change(record)
        await at(record.kept.stage === 'posted' ? 'recorded' : 'sending')
        return changed
      },
    },
    publishers: {
      twitter: {
        ...twitter,
        publish: async (post, signal) => {
          const posted = await twitter.publish(post, signal)
          await at('published')
          return posted
        },
      },
    },
  })
  const runner = createRunner({ skills: [publishContent({ publishing })], clock })
  return {
    desk,
    publish: async (input) =>
      (await runner.run('publish_content', input)) as CallOutcome<PublishContentOutput>,
    async close() {
      await runner.close()
      await database?.close()
      await file.close()
    },
  }
}

const [, , order, text = ''] = process.argv
if (order === 'publish') {
  const asked = JSON.parse(text) as Asked
  const { publish } = await openPublisher(asked)
  if (asked.input !== undefined) await publish(asked.input)
}
