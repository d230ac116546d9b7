/**
 * The person in a campaign: shown what is to be published, waited for, and believed.
 *
 *   P1  While somebody has to look at a text because a judge or its writer doubted it, the agent
 *       says that it waits for a person (HUMAN_REVIEW).
 *   P2  An answer that does not come in time is no answer: the review expires.
 */
import type { ReviewSeen, ReviewWanted } from '@chimera/dialects/chimera'
import type { CampaignDesk } from './desk.ts'

export type PeopleHands = {
  readonly desk: Pick<CampaignDesk, 'open' | 'review'>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
  /** Whether the agent waits for somebody now (P1). */
  readonly awaiting: (does: boolean) => void
}

export type People = {
  /** The review when somebody has answered it, or nobody has. */
  readonly ask: (review: ReviewWanted, doubted: boolean) => Promise<ReviewSeen>
}

// A person takes minutes: a second later is soon enough, and one look is one small read.
const LOOK_MS = 1_000

export function createPeople({ desk, sleep, signal, awaiting }: PeopleHands): People {
  const doubts = new Set<string>()

  function doubt(id: string, does: boolean): void {
    if (does) doubts.add(id)
    else doubts.delete(id)
    awaiting(doubts.size > 0)
  }

  return {
    async ask(review, doubted) {
      await desk.open(review, signal)
      if (doubted) doubt(review.review_id, true)
      try {
        for (;;) {
          const seen = await desk.review(review.review_id, signal)
          if (seen !== undefined && seen.state !== 'pending') return seen
          await sleep(LOOK_MS, signal)
        }
      } finally {
        if (doubted) doubt(review.review_id, false)
      }
    },
  }
}
