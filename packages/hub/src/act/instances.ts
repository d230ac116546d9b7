/** The directory of instances: who is there, in the order in which a planner should ask (AV-7). */

import type { InstancesFound } from '@chimera/dialects/moltbook'
import { explainPlace, type InstanceFound, type InstancesSought } from '@chimera/dialects/moltbook'
import { presentKey } from '@chimera/domain/agent/keys'
import type { Instant } from '@chimera/domain/ids'
import { explainExclusion } from '@chimera/domain/matching/candidate'
import { rankForPlanner } from '@chimera/domain/matching/planner-rank'
import { latestWord } from '@chimera/domain/presence/declaration'
import type { InstanceEntry } from '../views/directory.ts'
import type { Hub } from './hub.ts'

/** Those with room first, ranked; then those that match but take nothing now, by their ids. */
export function findInstances(hub: Hub, sought: InstancesSought): InstancesFound {
  const now = hub.now()
  const { capabilities, minSlotsFree = 0, limit, offset } = sought
  const entries = new Map<string, InstanceEntry>()
  for (const entry of hub.directory.instances(now, sought.agent)) {
    if (isSought(entry, sought)) entries.set(entry.shown.seen.last.instance, entry)
  }
  const all = [...entries.values()].map(({ candidate }) => candidate)
  const candidates = [...hub.records.restrain(all)]
  // Whoever asks for no number of slots still comes for one.
  const need = { required: capabilities, slots: Math.max(1, minSlotsFree) }
  const hits = rankForPlanner(need, candidates, now)
  const places = new Map(hits.map((hit) => [hit.candidate.instance as string, hit]))

  const search = { skills: capabilities, match: 'all', minSlotsFree } as const
  const unranked = [...entries.keys()]
    .filter((id) => !places.has(id))
    .filter((id) => {
      const entry = entries.get(id)
      return (
        entry &&
        explainExclusion(search, entry.candidate, now).every(({ code }) => ABSENT.has(code))
      )
    })
    .sort()
  const order = [...places.keys(), ...unranked]
  const instances = order.slice(offset, offset + limit).flatMap((id) => {
    const entry = entries.get(id)
    if (entry === undefined) return []
    const hit = places.get(id)
    const found = describe(entry, hit ? explainPlace(hit, now) : [], now)
    return hit || !hub.records.isClosed(entry.agent.id) ? [found] : [closed(found)]
  })
  return { instances, total: order.length }
}

/** What keeps an instance from work but not out of the list, if it is asked for by its state. */
const ABSENT: ReadonlySet<string> = new Set(['offline', 'not_accepting'])

function isSought({ shown }: InstanceEntry, { availability }: InstancesSought): boolean {
  return availability === undefined
    ? shown.availability !== 'offline'
    : shown.availability === availability
}

/** Its own word may be that it is available; its record outweighs it. */
const closed = (found: InstanceFound): InstanceFound => ({
  ...found,
  why: ['takes no new work: its record says so', ...found.why.slice(1)],
})

/** P-6: it says that it is there, and cannot be reached. */
const explainSilence = (agoMs: number): string =>
  `posts, but did not answer when it was asked directly ${Math.round(agoMs / 1_000)} s ago`

function describe(
  { agent, shown }: InstanceEntry,
  place: readonly string[],
  now: Instant,
): InstanceFound {
  const { seen, declared, availability, liveness, unansweredAt } = shown
  const { last, seenAt } = seen
  const publicKey = presentKey(agent.keys)?.publicKey
  const heard = Math.max(0, Math.round((now - seenAt) / 1_000))
  const full = last.slotsFree === 0 ? 'no slot is free' : `takes no new work: ${availability}`
  const reason = unansweredAt === undefined ? full : explainSilence(now - unansweredAt)
  const why = [
    ...(place.length > 0 ? place : [reason, `heard ${heard} s ago`]),
    ...(liveness === 'suspect' ? ['overdue, and kept because many fell silent at once'] : []),
  ]
  return {
    agent: last.agent,
    instance: last.instance,
    availability,
    liveness,
    capabilities: latestWord(seen, declared).capabilities,
    slotsTotal: last.slotsTotal,
    slotsFree: last.slotsFree,
    load: last.load,
    seenAt,
    expiresAt: last.expiresAt,
    verdict: 'verified',
    ...(declared?.callback !== undefined && { callback: declared.callback }),
    ...(publicKey !== undefined && { publicKey }),
    why,
  }
}
