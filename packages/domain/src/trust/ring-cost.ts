/**
 * What it costs a ring to lift itself: owners in league who hire each other's fresh agents for
 * nothing of worth, until each agent has gained so many points (P-2).
 *
 * The answer is a plan that works, not a proof that none is cheaper: one agent, the leader, is
 * lifted first and then vouches for the rest, by how far is tried out. `floorSettlements` is what
 * no plan can go below. Owners are counted as free, as they are wherever anybody may open an
 * account.
 *
 * At a fee of 0 the price is near nothing: the same hundredth goes round, and with the default
 * limit per pair it takes no time either. Only a fee makes a settlement cost, a hundredth at least.
 */
import { feeOf, type SettlementTerms } from '../money/amount.ts'
import type { TrustRules } from './pair-limit.ts'
import {
  applySuccess,
  HIGHEST_MICRO,
  NO_RUNNING,
  POINT_MICRO,
  type RunningRecord,
  START_MICRO,
} from './running-score.ts'

/** The smallest price that counts: one hundredth of a credit. */
export const LEAST_PRICE_CENTS = 1

export type RingTerms = SettlementTerms &
  TrustRules & {
    /** Owners in the ring, each with one fresh agent that is to be lifted. */
    readonly owners: number
    /** How far each agent is to be lifted, in millionths of a point: at most 50 points. */
    readonly gainMicro: number
    readonly priceCents: number
  }

/** Owners are numbered from 0; `hirer` pays for work of `agent`, so long after the first one. */
export type RingSettlement = {
  readonly hirer: number
  readonly agent: number
  readonly afterMs: number
}

export type RingCost = {
  readonly plan: readonly RingSettlement[]
  readonly settlements: number
  readonly floorSettlements: number
  /** What the ring loses for good. */
  readonly feesCents: number
  /** What it must have to begin with: all but the fees is still there at the end. */
  readonly capitalCents: number
  /** From the first settlement to the last. */
  readonly tookMs: number
}

/** Of the plans tried, the fewest settlements, then the least time; undefined where none works. */
export function priceRing(terms: RingTerms): RingCost | undefined {
  const goalMicro = START_MICRO + terms.gainMicro
  const { owners, pairSuccesses, priceCents } = terms
  if (owners < 2 || pairSuccesses < 1 || priceCents < LEAST_PRICE_CENTS) return undefined
  if (goalMicro > HIGHEST_MICRO) return undefined

  let best: readonly RingSettlement[] | undefined
  for (let leaderMicro = goalMicro; leaderMicro <= HIGHEST_MICRO; leaderMicro += POINT_MICRO) {
    const plan = planRing(terms, { goalMicro, leaderMicro })
    if (best === undefined || isCheaper(plan, best)) best = plan
  }
  return best && costOf(terms, best)
}

type Goals = { readonly goalMicro: number; readonly leaderMicro: number }

/**
 * Round by round, a round being one window of the pair limit: each agent in its turn is hired by
 * the best of the others, as often as the limit lets them.
 */
function planRing(terms: RingTerms, { goalMicro, leaderMicro }: Goals): RingSettlement[] {
  const ring: Member[] = Array.from({ length: terms.owners }, (_, agent) => ({
    agent,
    targetMicro: agent === 0 ? leaderMicro : goalMicro,
    record: NO_RUNNING,
  }))
  const bestFirst = [...ring]
  const plan: RingSettlement[] = []

  let waiting: readonly Member[] = ring
  for (let afterMs = 0; waiting.length > 0; afterMs += terms.pairWindowMs) {
    for (const member of waiting) {
      for (const hirer of turnsOf(bestFirst, member, terms)) {
        member.record = applySuccess(member.record, hirer.record.scoreMicro)
        plan.push({ hirer: hirer.agent, agent: member.agent, afterMs })
      }
      moveUp(bestFirst, member)
    }
    waiting = waiting.filter(isShort)
  }
  return plan
}

type Member = { readonly agent: number; readonly targetMicro: number; record: RunningRecord }

const isShort = ({ record, targetMicro }: Member) => record.scoreMicro < targetMicro

/** Who hires the member in this round: each as often as the limit has room, until it is lifted. */
function* turnsOf(
  bestFirst: readonly Member[],
  member: Member,
  { pairSuccesses }: TrustRules,
): Generator<Member> {
  for (const hirer of bestFirst) {
    if (hirer === member) continue
    for (let times = 0; times < pairSuccesses; times += 1) {
      if (!isShort(member)) return
      yield hirer
    }
  }
}

/** Only one member has moved, and only upwards: cheaper than sorting a large ring at every turn. */
function moveUp(bestFirst: Member[], member: Member): void {
  bestFirst.splice(bestFirst.indexOf(member), 1)
  const above = (each: Member) => each.record.scoreMicro >= member.record.scoreMicro
  const place = bestFirst.findIndex((each) => !above(each))
  bestFirst.splice(place < 0 ? bestFirst.length : place, 0, member)
}

function costOf(terms: RingTerms, plan: readonly RingSettlement[]): RingCost {
  const { owners, gainMicro, priceCents } = terms
  const feeCents = feeOf(priceCents, terms)
  const mostMicro = applySuccess(NO_RUNNING, HIGHEST_MICRO).scoreMicro - START_MICRO
  return {
    plan,
    settlements: plan.length,
    floorSettlements: owners * Math.ceil(gainMicro / mostMicro),
    feesCents: plan.length * feeCents,
    // What is left of a payment is handed to the next payer, since a gift bears no fee: so there
    // must be one price at the last settlement, after the fees of all before it.
    capitalCents: priceCents + Math.max(0, plan.length - 1) * feeCents,
    tookMs: plan.at(-1)?.afterMs ?? 0,
  }
}

function isCheaper(plan: readonly RingSettlement[], best: readonly RingSettlement[]): boolean {
  if (plan.length !== best.length) return plan.length < best.length
  return (plan.at(-1)?.afterMs ?? 0) < (best.at(-1)?.afterMs ?? 0)
}
