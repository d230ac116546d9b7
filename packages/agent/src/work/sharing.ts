/**
 * One of several instances on one keep: it says that it lives, takes over what others left or have
 * no slot for, and hears what is its no more and what it is to cancel.
 *
 *   S1  It beats some times in each lease, and begins nothing before the first beat.
 *   S2  A beat that fails is followed by the next: the lease says when others may think it dead.
 */
import type { WorkId } from '@chimera/domain/ids'
import type { Clock, Timer } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Shared, Taken } from './keep.ts'

export type SharingHands = {
  readonly shared: Shared
  readonly clock: Clock
  readonly log: Log
  /** Slots that nobody waits for; undefined while nothing is taken over. */
  readonly room: () => number | undefined
  readonly knows: (id: WorkId) => boolean
  readonly adopt: (taken: readonly Taken[]) => void
  readonly lose: (id: WorkId) => void
  readonly cancel: (id: WorkId) => void
}

export type Sharing = {
  /** Resolves after the first beat. */
  readonly start: () => Promise<void>
  /** No beat is under way afterwards; the lease still stands. */
  readonly stop: () => Promise<void>
}

// So many beats in a lease: three may fail before anybody takes anything over.
const BEATS = 4

export function createSharing(hands: SharingHands): Sharing {
  const { shared, clock, log } = hands
  let timer: Timer | undefined
  let beating: Promise<void> = Promise.resolve()
  let stopped = false

  async function beat(): Promise<void> {
    const { lost, cancel } = await shared.renew(hands.knows)
    for (const id of lost) hands.lose(id)
    for (const id of cancel) hands.cancel(id)
    const room = hands.room()
    if (!stopped && room !== undefined) hands.adopt(await shared.takeOver(room))
  }

  function next(): void {
    if (stopped) return
    timer = clock.after(shared.leaseMs / BEATS, () => {
      beating = beatOn()
    })
  }

  /** S2. */
  async function beatOn(): Promise<void> {
    try {
      await beat()
    } catch (error) {
      log.warn({ err: error }, 'the lease was not renewed')
    }
    next()
  }

  return {
    async start() {
      beating = beat()
      await beating
      next()
    },
    async stop() {
      stopped = true
      timer?.cancel()
      await beating.catch(() => undefined)
    },
  }
}
