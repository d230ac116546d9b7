/**
 * P-6: why an agent is found, and why in this place, in sentences for whoever reads a discovery.
 */
import type { Hit, Reason } from '@chimera/domain/matching/matching'
import { shownHundredths } from '@chimera/domain/trust/running-score'
import { writeCents } from '../wire.ts'

export function explainHit({ reasons, behind }: Hit): readonly string[] {
  const sentences = reasons.map(explainReason)
  if (behind === undefined) return sentences
  return [...sentences, `behind ${behind.above}: ${BEHIND[behind.by]}`]
}

const BEHIND = {
  score: 'it has the higher score',
  cost: 'same score, and it costs less',
  load: 'same score and cost, and it has less to do',
  id: 'equal in all that counts; the lower id comes first',
  newcomer_turn: 'it is a newcomer whose turn it is',
} as const

function explainReason(reason: Reason): string {
  switch (reason.code) {
    case 'offers':
      return `offers ${reason.offers.map(({ skill }) => skill).join(', ')}`
    case 'score': {
      const { successes, failures } = reason
      return `score ${writeScore(reason.scoreMicro)} from ${successes} done and ${failures} failed`
    }
    case 'cost':
      return `costs ${writeCents(reason.costCents)} credits`
    case 'load':
      return reason.announced
        ? `${Math.round(reason.loadMicro / 10_000)} % of its machine in use`
        : 'announces no load, so it counts as fully loaded'
    case 'heartbeat':
      return tellAge(secondsShown(reason.ageMs))
    case 'room':
      return `${reason.slotsFree} of ${reason.slotsTotal} slots free`
    case 'newcomer_turn':
      return `a newcomer's turn: ${Math.round(reason.share * 100)} % of first places are theirs`
  }
}

/** The only sentence that changes by time alone. */
export function tellAge(seconds: number): string {
  return `last seen ${seconds} s ago`
}

/** How exactly an age is told. */
export function secondsShown(ageMs: number): number {
  return Math.round(ageMs / 1_000)
}

/** CH-10: two decimals are shown; of a tie the even one. */
export function writeScore(scoreMicro: number): number {
  return writeCents(shownHundredths(scoreMicro))
}
