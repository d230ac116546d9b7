/**
 * Publishing on what there is: the user's own tools where they are mapped to a platform, the hub's
 * outbox for the rest, and without a hub an outbox and a desk on this machine, which say so.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { PUBLISH_PLATFORMS, type PublishPlatform } from '@chimera/dialects/skills/words'
import { loadOrCreateKeyFile } from '@chimera/identity/key-file'
import { generateKeyPair } from '@chimera/identity/keys'
import type { Clock } from '@chimera/skill/clock'
import type { ApprovalDesk } from '../approvals/desk.ts'
import { createHubDesk } from '../approvals/hub-desk.ts'
import { createLocalDesk, type LocalDesk } from '../approvals/local-desk.ts'
import { type FileKeep, openFileKeep } from './file-keep.ts'
import type { HubDoor } from './hub-door.ts'
import { createHubOutbox } from './hub-outbox.ts'
import { createMemoryKeep, type PublicationKeep } from './keep.ts'
import { createLocalOutbox } from './local-outbox.ts'
import type { PlatformPublisher } from './platform.ts'
import { createPublishing, type Publishing, type PublishingOptions } from './publishing.ts'

export type OpenPublishingOptions = Pick<PublishingOptions, 'audit'> & {
  readonly clock: Clock
  /** By platform, such as MCP tools. */
  readonly publishers?: Readonly<Partial<Record<PublishPlatform, PlatformPublisher>>>
  readonly hub?: HubDoor
  /** Where plans, uses and posts outlive the process; absent: in memory. */
  readonly directory?: string
  /** Such as the store's `createPlanned`, for several instances. */
  readonly keep?: PublicationKeep
  readonly uuid?: () => string
}

export type OpenPublishing = {
  readonly publishing: Publishing
  /** Without a hub: approves on this machine. */
  readonly localDesk?: LocalDesk
  readonly close: () => Promise<void>
}

export async function openPublishing(options: OpenPublishingOptions): Promise<OpenPublishing> {
  const { clock, hub, directory, uuid = randomUUID, audit } = options
  const file: FileKeep | undefined =
    directory === undefined
      ? undefined
      : await openFileKeep({ path: join(directory, 'publications.jsonl'), uuid })
  try {
    const localDesk =
      hub === undefined
        ? createLocalDesk({
            key: await localKey(directory),
            now: clock.now,
            uuid,
            ...(file && { uses: file.uses }),
          })
        : undefined
    const desk: ApprovalDesk | undefined = localDesk ?? (hub && createHubDesk(hub))
    const outbox = hub
      ? createHubOutbox(hub)
      : createLocalOutbox({ now: clock.now, ...(file && { posts: file.posts }) })
    if (desk === undefined) throw new Error('neither a hub nor this machine judges approvals')
    const every = PUBLISH_PLATFORMS.map((platform) => [platform, outbox])
    return {
      publishing: createPublishing({
        publishers: { ...Object.fromEntries(every), ...options.publishers },
        desk,
        keep: options.keep ?? file?.keep ?? createMemoryKeep({ planner: uuid() }),
        clock,
        ...(audit && { audit }),
      }),
      ...(localDesk && { localDesk }),
      close: async () => file?.close(),
    }
  } catch (error) {
    await file?.close()
    throw error
  }
}

async function localKey(directory: string | undefined) {
  if (directory === undefined) return generateKeyPair()
  return (await loadOrCreateKeyFile(join(directory, 'approvals-key.json'))).pair
}
