/**
 * Trust, told with its reasons: on request (P-2, P-6), after each settled outcome and once a day
 * (OC-9), and what a ring of fresh agents would pay for it.
 *
 *   T1  What is told of an outcome is the window as it stood right after it.
 *   T2  Each outcome is told once, in the order of the chain, by whichever hub claims it first.
 *       One that was settled while no hub ran, or not yet told when one stopped, is told at the
 *       next start.
 *   T3  No 24 hours pass without an update of a registered agent, and none gets two in a row for
 *       a restart: when each was last told of is kept with the state.
 */
import type { RingsPriced } from '@chimera/dialects/chimera'
import { encodeReputationUpdate } from '@chimera/dialects/openclaw'
import type { Agent } from '@chimera/domain/agent/agent'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import { type ChangePage, pageOf } from '@chimera/domain/trust/change'
import { decideRules, type TrustRules } from '@chimera/domain/trust/pair-limit'
import { LEAST_PRICE_CENTS, priceRing } from '@chimera/domain/trust/ring-cost'
import { POINT_MICRO } from '@chimera/domain/trust/running-score'
import { dueSince, updateAfter } from '@chimera/domain/trust/score-update'
import type { Standing } from '@chimera/domain/trust/trust'
import type { ScoreMoved } from '../views/scores.ts'
import type { Hub } from './hub.ts'

export type TrustShown = ChangePage & {
  readonly agent: Agent
  readonly standing: Standing
  /** The last fact of the trail that is counted in. */
  readonly throughSeq: number
}

export function showTrust(
  hub: Hub,
  asked: { readonly agent: AgentId; readonly before?: number; readonly limit: number },
): ({ readonly ok: true } & TrustShown) | Refused<'agent_unknown'> {
  const agent = hub.directory.find(asked.agent)
  if (agent === undefined) return refuse('agent_unknown')
  return {
    ok: true,
    agent,
    standing: hub.scores.standingOf(agent.id),
    throughSeq: hub.scores.seq(),
    ...pageOf(hub.scores.changesOf(agent.id), asked),
  }
}

/** Owners in a ring: a pair, a few friends, and what a program opens in a minute. */
const RINGS = [2, 3, 10, 50, 100]
const GAIN_MICRO = 10 * POINT_MICRO

/** By the rules of the trail. Takes some 100 ms, so it is worked out once for each of them. */
export function priceRings(hub: Pick<Hub, 'settlement' | 'grantCents' | 'scores'>): RingsPriced {
  const { settlement, grantCents, scores } = hub
  const terms = { ...settlement, ...scores.rules() }
  const asked = { ...terms, gainMicro: GAIN_MICRO, priceCents: LEAST_PRICE_CENTS }
  const rings = RINGS.flatMap((owners) => {
    const cost = priceRing({ ...asked, owners })
    if (cost === undefined) return []
    const { plan: _, ...price } = cost
    return [{ owners, ...price, grantedCents: owners * grantCents }]
  })
  return { ...asked, grantCents, rings }
}

/** Puts the rules of the settings into the trail, where they hold for every hub from then on. */
export async function setRules(
  { keep, scores, now, uuid }: Pick<Hub, 'keep' | 'scores' | 'now' | 'uuid'>,
  rules: TrustRules,
): Promise<void> {
  const { facts } = decideRules(scores.rules(), rules, now())
  for (const fact of facts) await keep.trail.append(fact, uuid() as CorrelationId, fact.at)
}

export type Telling = {
  /** Takes note of what moved; of what was told before, nothing. */
  readonly note: (moved: readonly ScoreMoved[]) => void
  /** Tells what was noted and nobody has told. One run at a time, in the order of the chain. */
  readonly tell: (hub: Hub) => Promise<void>
}

/** `through` is the last fact of the trail that was told of. */
export function createTelling(through: number): Telling {
  let noted: ScoreMoved[] = []
  let running: Promise<void> = Promise.resolve()

  async function tellNoted(hub: Hub): Promise<void> {
    const batch = noted
    if (batch.length === 0) return
    noted = []
    const last = new Map(batch.map(({ change }) => [change.agent, change.seq]))
    const claims = [...last].map(([agent, seq]) => ({ agent, seq }))
    let before: number
    try {
      before = await hub.keep.told.claimOutcomes(claims, hub.now())
    } catch (error) {
      noted = [...batch, ...noted]
      throw error
    }
    for (const moved of batch) if (moved.change.seq > before) tellOutcome(hub, moved)
  }

  return {
    note(moved) {
      const news = moved.filter(({ change }) => change.seq > through && updateAfter(change))
      noted = [...noted, ...news]
    },
    tell(hub) {
      running = running.catch(() => undefined).then(() => tellNoted(hub))
      return running
    },
  }
}

function tellOutcome(hub: Hub, { change, window }: ScoreMoved): void {
  const { agent, work, correlation } = change
  const update = updateAfter(change)
  if (update === undefined) return
  const told = { agent, window, correlation, update, work }
  hub.publish('reputation', encodeReputationUpdate(told, hub.now()))
}

// As many as are encoded in a few milliseconds, between which others have their turn.
const PAGE = 100

/** Tells of everybody of whom nothing was told for a day; answers how many. */
export async function tellDue(hub: Hub): Promise<number> {
  for (let count = 0; ; ) {
    const now = hub.now()
    const due = { lastBy: dueSince(now), now, limit: PAGE }
    const agents = await hub.keep.told.claimDue(due)
    for (const agent of agents) {
      const { window } = hub.scores.standingOf(agent)
      const correlation = hub.uuid() as CorrelationId
      const told = { agent, window, correlation, update: 'periodic' } as const
      hub.publish('reputation', encodeReputationUpdate(told, now))
    }
    count += agents.length
    if (agents.length < PAGE) return count
  }
}
