/**
 * A piece of content on its way from a trend to a post.
 *
 *   C1  It goes from state to state by the table and in no other way; nothing leaves `published`.
 *   C2  Nobody but a person brings it from `approval_pending` to `approved`.
 *   C3  What a person rejected goes back to its writer with the person's words, so often at most:
 *       then it ends there, since one more attempt is a person's work and not a writer's.
 *   C4  An approval that nobody gave in time is no rejection: it ends, and says so.
 *   C5  Of what is put away nothing is written, judged or asked for any more. What is being
 *       published may be out already, and is not said to have failed.
 */
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'

export const CONTENT_STATES = [
  'trend_detected',
  'filtered_out',
  'accepted',
  'generating',
  'generation_failed',
  'generated',
  'validating',
  'validation_failed',
  'validated',
  'approval_pending',
  'approval_expired',
  'rejected',
  'approved',
  'publishing',
  'publish_failed',
  'published',
] as const
export type ContentState = (typeof CONTENT_STATES)[number]

/** C1. What may follow; a state that nothing follows is an end. */
// biome-ignore format: a table is read by its columns
const FOLLOWS: Readonly<Record<ContentState, readonly ContentState[]>> = {
  trend_detected:    ['filtered_out', 'accepted'],
  filtered_out:      [],
  accepted:          ['generating'],
  generating:        ['generation_failed', 'generated'],
  generation_failed: [],
  generated:         ['validating'],
  validating:        ['validation_failed', 'validated'],
  validation_failed: [],
  validated:         ['approval_pending'],
  approval_pending:  ['approval_expired', 'rejected', 'approved'],
  approval_expired:  [],
  rejected:          ['generating'],
  approved:          ['publishing'],
  publishing:        ['publish_failed', 'published'],
  publish_failed:    [],
  published:         [],
}

export type ContentMoment = {
  readonly state: ContentState
  readonly at: Instant
  /** Why, where somebody said: a reviewer, a judge, a failure. */
  readonly words?: string
}

/** Its whole way, the first moment first: at least the one when its trend was seen. */
export type ContentWay = readonly [ContentMoment, ...ContentMoment[]]

export const contentStateOf = (way: ContentWay): ContentState => (way.at(-1) ?? way[0]).state

/** How often a person has sent it back. */
export const rejectionsOf = (way: ContentWay): number =>
  way.filter(({ state }) => state === 'rejected').length

/** C3. */
const isSpent = (way: ContentWay): boolean => rejectionsOf(way) >= LIMITS.contentRejections

export function mayFollow(way: ContentWay, next: ContentState): boolean {
  const state = contentStateOf(way)
  if (state === 'rejected' && isSpent(way)) return false
  return FOLLOWS[state].includes(next)
}

/** C5. How it ends there; undefined: it stays where it is. */
export function putAwayAs(way: ContentWay): ContentState | undefined {
  switch (contentStateOf(way)) {
    case 'generating':
      return 'generation_failed'
    case 'validating':
      return 'validation_failed'
    case 'approval_pending':
      return 'approval_expired'
    default:
      return undefined
  }
}

/** Nothing follows any more. */
export function isContentOver(way: ContentWay): boolean {
  const state = contentStateOf(way)
  return FOLLOWS[state].length === 0 || (state === 'rejected' && isSpent(way))
}
