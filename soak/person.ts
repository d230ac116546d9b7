/**
 * The person of a soak: approves most, edits some, sends some back with words. What becomes of a
 * review hangs on its name alone, so that a run can be told from its ids.
 */
import { createHash } from 'node:crypto'
import type { ReviewSeen } from '@chimera/dialects/chimera'

export type Said = 'approves' | 'edits' | 'rejects'

/** Of a hundred: these are edited or rejected, and the rest approved. */
export const EDITED = 15
export const REJECTED = 10

/** 0 to 99, the same for the same review. */
export const lotOf = (review: string): number =>
  createHash('sha256').update(review).digest().readUInt32BE() % 100

export function sayingOf(lot: number): Said {
  if (lot < REJECTED) return 'rejects'
  return lot < REJECTED + EDITED ? 'edits' : 'approves'
}

/** As the hub is told. */
export function answerTo(review: ReviewSeen, said: Said): Readonly<Record<string, unknown>> {
  const { content, content_hash } = review
  const shown = { content_hash, reviewer_id: 'Soak' }
  switch (said) {
    case 'approves':
      return { ...shown, verdict: 'approve' }
    case 'edits':
      return { ...shown, verdict: 'approve', content: edited(content), words: 'Shorter by hand' }
    case 'rejects':
      return { ...shown, verdict: 'reject', words: `Say it more plainly, round ${review.round}` }
  }
}

/** Another text of the same kind; never longer, since platforms count. */
function edited(content: ReviewSeen['content']): ReviewSeen['content'] {
  return { ...content, captions: content.captions.replace(/.$/u, '!') }
}
