/**
 * Agents that post presence over the bus, in a thread of their own.
 *
 *   P1  Posts are signed before the clock runs, and published as bytes.
 *   P2  A broker without streams holds nobody back, so the posters do it: never more than a window
 *       of posts is ahead of what the hubs have taken, which is far less than a hub lets wait.
 */
import { once } from 'node:events'
import type { Instant } from '@chimera/domain/ids'
import { threadOf } from './thread-of.ts'

export type PostersWanted = {
  readonly broker: string
  readonly agents: number
  readonly window: number
}

/** What the thread is told. */
export type PostersTold =
  | { readonly type: 'sign'; readonly postsEach: number; readonly signedAt: Instant }
  | { readonly type: 'publish' }
  | { readonly type: 'taken'; readonly posts: number }

export type Posters = {
  /** So many posts of every agent, signed a millisecond apart from this moment on. */
  readonly sign: (postsEach: number, signedAt: Instant) => Promise<void>
  /** Begins to publish what was signed. */
  readonly publish: () => void
  /** So many more were taken. */
  readonly taken: (posts: number) => void
  readonly close: () => Promise<void>
}

export async function openPosters(wanted: PostersWanted): Promise<Posters> {
  const worker = threadOf(new URL('./posters-thread.ts', import.meta.url), wanted)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
  const tell = (told: PostersTold) => worker.postMessage(told)
  await once(worker, 'message')
  return {
    async sign(postsEach, signedAt) {
      const signed = once(worker, 'message')
      tell({ type: 'sign', postsEach, signedAt })
      await signed
    },
    publish: () => tell({ type: 'publish' }),
    taken: (posts) => tell({ type: 'taken', posts }),
    close: async () => void (await worker.terminate()),
  }
}
