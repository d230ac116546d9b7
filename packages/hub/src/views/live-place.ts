/** How far a reader of the live feed has come, and what lies behind that. */
import type { LiveEntry, LivePlace } from '@chimera/domain/live'

/** Facts go by their number and posts by their place, so that neither depends on the other. */
export function isBehind({ place, post }: LiveEntry, at: LivePlace): boolean {
  return post === undefined ? place.seq > at.seq : !isPostPast(at, place)
}

/** Whether the posts up to `b` were read at `a`. */
export function isPostPast(a: LivePlace, b: LivePlace): boolean {
  return a.tx === b.tx ? a.event >= b.event : a.tx > b.tx
}

export function furthest(a: LivePlace, b: LivePlace): LivePlace {
  if (b.seq >= a.seq && isPostPast(b, a)) return b
  const posts = isPostPast(a, b) ? a : b
  return { seq: Math.max(a.seq, b.seq), tx: posts.tx, event: posts.event }
}
