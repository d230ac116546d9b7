/**
 * Work that waits for a slot: who is next, and when (OC-15).
 *
 *   W1  Priority first (1 is best, 5 when none is given), one level better for each minute waited,
 *       so that nobody waits for ever; then age; then the id, so that the order is total.
 *   W2  The queue is bounded, and nothing enters it that could not end by its deadline.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { Instant, WorkId } from '../ids.ts'
import { LIMITS } from '../limits.ts'

export const DEFAULT_PRIORITY = 5

export type Queued = {
  readonly work: WorkId
  readonly priority: number
  readonly queuedAt: Instant
  /** How long the skill is expected to run; what the wait of those behind is reckoned from. */
  readonly durationMs: number
  readonly deadline?: Instant
}

/** What waits, and when each slot is expected to be free (in the past: it is free now). */
export type WaitingRoom = {
  readonly queue: readonly Queued[]
  readonly slotsFreeAt: readonly Instant[]
}

export function inOrder(queue: readonly Queued[], now: Instant): readonly Queued[] {
  return [...queue].sort(
    (one, other) =>
      level(one, now) - level(other, now) ||
      one.queuedAt - other.queuedAt ||
      (one.work < other.work ? -1 : 1),
  )
}

/**
 * When this entry would begin, if every slot is given to the next in line as soon as it is free.
 * Those of the same or a better level are before it; a later arrival of a better level may still
 * overtake it, so this is an expectation and not a promise.
 */
export function expectedStart(room: WaitingRoom, entry: Queued, now: Instant): Instant {
  const lanes = room.slotsFreeAt.map((at) => Math.max(at, now))
  if (lanes.length === 0) return Number.POSITIVE_INFINITY
  const line = inOrder([...room.queue.filter((each) => each.work !== entry.work), entry], now)
  for (const each of line) {
    const soonest = lanes.indexOf(Math.min(...lanes))
    const start = lanes[soonest] ?? now
    if (each.work === entry.work) return start
    lanes[soonest] = start + each.durationMs
  }
  return Number.POSITIVE_INFINITY
}

export function decideDefer(
  room: WaitingRoom,
  entry: Queued,
  now: Instant,
): Decision<
  { readonly type: 'work_deferred'; readonly until: Instant },
  'queue_full' | 'deadline_too_soon'
> {
  if (room.queue.length >= LIMITS.queuedWork) {
    const retryAt = Math.max(now, Math.min(...room.slotsFreeAt, now + LIMITS.priorityAgeMs))
    return refuse('queue_full', { retryAt, figures: { queued: room.queue.length } })
  }
  const start = expectedStart(room, entry, now)
  const ends = start + entry.durationMs
  if (entry.deadline !== undefined && ends > entry.deadline) return refuse('deadline_too_soon')
  if (!Number.isFinite(start)) return refuse('queue_full', { figures: { slots: 0 } })
  return accept({ type: 'work_deferred', until: start })
}

const level = (entry: Queued, now: Instant): number =>
  entry.priority - Math.floor(Math.max(0, now - entry.queuedAt) / LIMITS.priorityAgeMs)
