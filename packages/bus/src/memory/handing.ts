/**
 * Streams handed out to groups, in this process. A group has a place in its stream, and remembers
 * what was handed out and is not dealt with yet.
 */
import type { Instant } from '@chimera/domain/ids'
import { HAND_AGAIN_MS } from '../limits.ts'
import type { BusClock, Handing, HandingOut, Kept } from '../link.ts'
import { matches } from '../subjects.ts'
import type { StreamKeep } from './keep.ts'

type Group = {
  next: number
  /** Handed out, and when it is handed out again. */
  readonly open: Map<number, { readonly kept: Kept; dueAt: Instant }>
  readonly waiting: Set<() => void>
}

export type MemoryHanding = {
  readonly handOut: (asked: HandingOut, over: AbortSignal) => AsyncGenerator<Handing, void>
  /** Something was kept. */
  readonly wake: () => void
}

const READ_AT_ONCE = 64

export function createHanding(keep: StreamKeep, clock: BusClock): MemoryHanding {
  const groups = new Map<string, Group>()

  function groupOf({ stream, group }: HandingOut): Group {
    const name = `${stream} ${group}`
    const found = groups.get(name) ?? { next: 1, open: new Map(), waiting: new Set() }
    groups.set(name, found)
    return found
  }

  const wakeAll = ({ waiting }: Group): void => {
    for (const wake of waiting) wake()
  }

  /** One that waited too long, or the next of the stream. */
  async function nextFor(group: Group, { stream, pattern }: HandingOut): Promise<Kept | undefined> {
    const now = clock.now()
    const late = [...group.open.values()].find(({ dueAt }) => dueAt <= now)
    if (late !== undefined) {
      // At once, or another of the group would find it too.
      group.open.set(late.kept.seq, { kept: late.kept, dueAt: now + HAND_AGAIN_MS })
      return late.kept
    }
    for (;;) {
      const batch = await keep.read(stream, group.next, READ_AT_ONCE)
      if (batch.length === 0) return undefined
      for (const kept of batch) {
        // Another of the group may have taken it while this one was reading.
        if (kept.seq < group.next) continue
        group.next = kept.seq + 1
        if (matches(pattern, kept.delivery.subject)) return kept
      }
    }
  }

  function handing(group: Group, kept: Kept): Handing {
    const hold = (ms: number): void => {
      const held = { kept, dueAt: clock.now() + ms }
      group.open.set(kept.seq, held)
      clock.after(ms, () => {
        // A timer may end a moment before the clock says so, and nobody would look again.
        held.dueAt = Math.min(held.dueAt, clock.now())
        wakeAll(group)
      })
    }
    hold(HAND_AGAIN_MS)
    return { ...kept, done: () => void group.open.delete(kept.seq), again: hold }
  }

  async function* handOut(asked: HandingOut, over: AbortSignal): AsyncGenerator<Handing, void> {
    const group = groupOf(asked)
    while (!over.aborted) {
      let wake = (): void => {}
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      group.waiting.add(wake)
      over.addEventListener('abort', wake, { once: true })
      try {
        const kept = await nextFor(group, asked)
        if (kept === undefined) await woken
        else yield handing(group, kept)
      } finally {
        group.waiting.delete(wake)
        over.removeEventListener('abort', wake)
      }
    }
  }

  return { handOut, wake: () => groups.forEach(wakeAll) }
}
