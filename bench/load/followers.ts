/**
 * Followers of a stream of server-sent events, in a thread of their own. Each counts the events of
 * one kind that reach it; the first also keeps what it heard, as it came.
 */
import { once } from 'node:events'
import { threadOf } from './thread-of.ts'

export type FollowersWanted = {
  readonly port: number
  readonly path: string
  readonly followers: number
  /** The line that every event of interest has once. */
  readonly mark: string
}

export type Heard = {
  /** What the first has heard since it was asked last, in the chunks that arrived. */
  readonly chunks: readonly Buffer[]
}

export type Followers = {
  /** Resolves when each has heard so many more; one that hears more ends the run. */
  readonly hear: (events: number) => Promise<Heard>
  readonly close: () => Promise<void>
}

export async function openFollowers(wanted: FollowersWanted): Promise<Followers> {
  const worker = threadOf(new URL('./followers-thread.ts', import.meta.url), wanted)
  await once(worker, 'message')
  return {
    async hear(events) {
      const heard = once(worker, 'message')
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
      worker.postMessage(events)
      const [{ chunks }] = (await heard) as [{ chunks: readonly Uint8Array[] }]
      return { chunks: chunks.map((each) => Buffer.from(each)) }
    },
    close: async () => void (await worker.terminate()),
  }
}
