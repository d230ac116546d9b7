/**
 * How agents and instances look to whoever ranks them: an agent with its instances summed up, or
 * one instance by itself.
 *
 *   K1  What an agent announces wins over what is assumed of one that announces nothing.
 *   K2  Whom only the brake keeps is still considered: presumably it is the hub that cannot hear.
 *   K3  An instance that posts but was asked in vain takes no work: an offer would be lost on it.
 */
import type { Agent } from '@chimera/domain/agent/agent'
import { readSkillRef, resolveSkill } from '@chimera/domain/agent/skill-version'
import type { Instant } from '@chimera/domain/ids'
import type { Candidate, Offer } from '@chimera/domain/matching/candidate'
import { latestWord } from '@chimera/domain/presence/declaration'
import type { Availability, Liveness } from '@chimera/domain/presence/presence'
import type { Standing } from '@chimera/domain/trust/trust'
import type { Instance } from './presence.ts'

/** One instance, as the directory sees it at a moment. */
export type Shown = Instance & {
  readonly availability: Availability
  readonly liveness: Liveness
  /** When it was asked directly and did not answer; absent while nothing is held against it. */
  readonly unansweredAt?: Instant
}

type Who = {
  readonly agent: Agent
  readonly standing: Standing
  readonly now: Instant
}

// What an agent that announces no slots counts as having: it is asked and may say no.
const UNANNOUNCED_SLOTS = 1
const NO_OFFERS: readonly Offer[] = []

/** A full instance still takes work on: it may queue it. */
const takesWork = ({ availability, unansweredAt }: Shown): boolean =>
  (availability === 'available' || availability === 'busy') && unansweredAt === undefined

/** `heardAt` and `online` are what holds for the whole agent. */
export function agentCandidate(
  who: Who,
  asked: {
    readonly skills: readonly string[]
    readonly heardAt: Instant
    readonly online: boolean
    readonly instances: readonly Shown[]
  },
): Candidate {
  const { instances, online, heardAt: seenAt } = asked
  const offers = asked.skills.length === 0 ? NO_OFFERS : offersOf(who, asked.skills)
  const unannounced = instances.length === 0
  let slotsFree = unannounced ? UNANNOUNCED_SLOTS : 0
  let slotsTotal = slotsFree
  let load: Load | undefined
  let accepting = unannounced
  for (const each of instances) {
    if (!takesWork(each)) continue
    const { last } = each.seen
    accepting = true
    slotsFree += last.slotsFree
    slotsTotal += last.slotsTotal
    // The least loaded one is where the work would go.
    load = lighter(load, last.load)
  }
  const { agent, owner, scoreMicro, successes, failures, settledCount } = scored(who)
  const candidate = {
    agent,
    owner,
    offers,
    scoreMicro,
    successes,
    failures,
    settledCount,
    slotsFree,
    slotsTotal,
    seenAt,
    online,
    accepting,
  }
  return load === undefined ? candidate : { ...candidate, load }
}

export function instanceCandidate(who: Who, shown: Shown): Candidate {
  const { last, seenAt } = shown.seen
  return {
    ...scored(who),
    instance: last.instance,
    offers: latestWord(shown.seen, shown.declared).capabilities.map((skill) => ({
      skill,
      // What has no price here moves no money.
      costCents: offersOf(who, [skill])[0]?.costCents ?? 0,
    })),
    slotsFree: last.slotsFree,
    slotsTotal: last.slotsTotal,
    load: last.load,
    seenAt,
    online: shown.liveness !== 'offline',
    accepting: takesWork(shown),
  }
}

function scored({ agent, standing: { running, window } }: Who) {
  return {
    agent: agent.id,
    owner: agent.owner,
    scoreMicro: running.scoreMicro,
    successes: running.successes,
    failures: running.failures,
    settledCount: window.doneCount + window.failedCount,
  }
}

export function offersOf(
  { agent, now }: Pick<Who, 'agent' | 'now'>,
  skills: readonly string[],
): readonly Offer[] {
  return skills.flatMap((skill) => {
    const ref = readSkillRef(skill)
    const found = ref && resolveSkill(agent.skills, ref, now)
    return found?.ok ? [{ skill, costCents: found.offer.priceCents }] : []
  })
}

type Load = { readonly cpu: number; readonly mem: number }

const lighter = (one: Load | undefined, other: Load): Load =>
  one !== undefined && heaviness(one) <= heaviness(other) ? one : other

const heaviness = ({ cpu, mem }: Load): number => Math.max(cpu, mem)
