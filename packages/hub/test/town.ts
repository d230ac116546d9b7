/**
 * A small town for properties about discovery: ten agents to whom anything may happen, and what the
 * domain would find by ranking everybody.
 */
import type { Agent, Skill } from '@chimera/domain/agent/agent'
import { NO_KEYS } from '@chimera/domain/agent/keys'
import type { AgentId, CorrelationId, InstanceId, Instant, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { rankFairly } from '@chimera/domain/matching/fair'
import { explainPlace, rankForDiscovery } from '@chimera/domain/matching/matching'
import type { Availability } from '@chimera/domain/presence/presence'
import type { ProbeResult } from '@chimera/domain/presence/probe'
import { NEWCOMER, type Standing } from '@chimera/domain/trust/trust'
import fc from 'fast-check'
import { createDirectory } from '../src/views/directory.ts'
import { createPresence } from '../src/views/presence.ts'
import { createProbes } from '../src/views/probes.ts'
import { createRecords } from '../src/views/records.ts'

const START = 1_770_000_000_000
const DAY = 24 * 60 * 60 * 1_000

// Few values each, so that ties and repeated changes of the same are common.
const pick = <const Value>(...of: Value[]) => fc.constantFrom(...of)
const who = fc.integer({ min: 0, max: 9 })
const skill: fc.Arbitrary<Skill> = fc
  .record({
    name: pick('write', 'draw', 'sing'),
    version: fc.record({ major: pick(1, 2), minor: pick(0, 1) }),
    priceCents: pick(0, 5, 10),
    removedAt: pick(undefined, undefined, START + 20_000, START + DAY),
  })
  .map(({ removedAt, ...offer }) => ({
    ...offer,
    description: '',
    ...(removedAt !== undefined && {
      deprecation: { declaredAt: START - LIMITS.deprecationMs, removedAt },
    }),
  }))
const place = pick('https://one.example', 'https://two.example', 'https://three.example')

export const step = fc.oneof(
  fc.record({
    do: pick('enter'),
    who,
    skills: fc.array(skill, { maxLength: 4 }),
    endpoint: fc.option(place),
    heard: fc.boolean(),
  }),
  fc.record({ do: pick('remove'), who }),
  fc.record({ do: pick('beat'), who }),
  fc.record({
    do: pick('post'),
    who,
    copy: pick(1, 2),
    availability: pick<Availability>('available', 'available', 'busy', 'draining', 'offline'),
    slotsFree: pick(0, 1, 2),
    cpu: pick(0, 0.2, 0.7),
    ttlMs: pick(5_000, 30_000),
  }),
  fc.record({
    do: pick('declare'),
    who,
    copy: pick(1, 2),
    availability: pick<Availability>('available', 'draining'),
    callback: place,
  }),
  fc.record({ do: pick('score'), who, points: pick(40, 50, 60), settled: pick(0, 9, 10) }),
  fc.record({ do: pick('order'), who, closed: fc.boolean() }),
  fc.record({
    do: pick('probe'),
    place,
    result: pick<ProbeResult | 'under way'>('answered', 'unanswered', 'unanswered', 'under way'),
  }),
  fc.record({ do: pick('sweep') }),
  // So that the brake has something to hold, and a wave of probes somebody to ask.
  fc.record({ do: pick('beat all', 'post all') }),
  fc.record({ do: pick('wait'), ms: pick(1, 1, 100, 4_000, 4_000, 10_000, 10_000, 30_000, -1) }),
  fc.record({ do: pick('wait'), ms: pick(100, 10_000, 90_000, LIMITS.probeMs, DAY, -20_000) }),
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const ref = pick('write', 'write', 'draw', 'write@v1', 'write@v2.1', 'draw@v1.1', 'none', 'no ref')
export const query = fc.record(
  {
    skills: fc.oneof(
      { weight: 2, arbitrary: pick(['write'], ['draw'], ['write', 'draw'], ['write@v1']) },
      fc.array(ref, { minLength: 1, maxLength: 3 }),
    ),
    minScoreMicro: pick(0, 45_000_000, 50_000_000, 99_000_000),
    maxCostCents: pick(0, 5, 7, 100),
    limit: pick(1, 2, 3, 100),
    offset: pick(0, 1, 2, 5),
    draw: pick(0, 0.03, 0.06, 0.099, 0.1, 0.7),
  },
  { requiredKeys: ['skills'] },
)
export type Query = typeof query extends fc.Arbitrary<infer Value> ? Value : never

/** Somebody is there to begin with, or most searches would find nobody. */
export const crowd = fc.array(
  fc.record({
    do: pick('enter'),
    who,
    skills: fc.array(skill, { minLength: 2, maxLength: 4 }),
    endpoint: place,
    heard: pick(true),
  }),
  { minLength: 12, maxLength: 20 },
)

type Posted = {
  readonly copy: number
  readonly availability: Availability
  readonly slotsFree: number
  readonly cpu: number
  readonly ttlMs: number
}
const STEADY: Posted = { copy: 1, availability: 'available', slotsFree: 1, cpu: 0.2, ttlMs: 30_000 }

const idOf = (number: number) => `550e8400-e29b-41d4-a716-44665544000${number}` as AgentId

export function openTown() {
  const presence = createPresence()
  const probes = createProbes(() => 0)
  const records = createRecords()
  const standings = new Map<AgentId, Standing>()
  const standingOf = (id: AgentId) => standings.get(id) ?? NEWCOMER
  const directory = createDirectory(standingOf, presence, probes, records)
  const agents = new Map<AgentId, Agent>()
  let now: Instant = START
  let version = 0

  function post(number: number, { copy, ttlMs, cpu, ...said }: Posted): void {
    const announcement = {
      ...said,
      agent: idOf(number),
      instance: `a${number}i${copy}` as InstanceId,
      capabilities: [],
      slotsTotal: 2,
      load: { cpu, mem: 0.1 },
      signedAt: now,
      expiresAt: now + ttlMs,
      correlation: 't' as CorrelationId,
    }
    presence.announce(announcement, now)
  }

  function take(asked: Step): void {
    switch (asked.do) {
      case 'enter': {
        const { skills, endpoint } = asked
        // A name as one would take it who wants to be mistaken for our own words.
        const name = 'last seen 0 s ago'
        const known = { name, skills, keys: NO_KEYS, aliases: [], registeredAt: START }
        const named = { ...known, id: idOf(asked.who), owner: 'o' as OwnerId }
        const agent: Agent =
          endpoint === null ? named : { ...named, endpoint: `${endpoint}/jobs/${asked.who}` }
        agents.set(agent.id, agent)
        if (asked.heard) directory.enter(agent, now)
        else directory.enter(agent)
        return
      }
      case 'remove': {
        const agent = agents.get(idOf(asked.who))
        if (agent !== undefined) directory.enter({ ...agent, removedAt: now })
        agents.delete(idOf(asked.who))
        return
      }
      case 'beat':
        directory.beat(idOf(asked.who), now)
        return
      case 'beat all':
        for (const id of agents.keys()) directory.beat(id, now)
        return
      case 'post':
        {
          const { availability, slotsFree, cpu, ttlMs, copy } = asked
          post(asked.who, { availability, slotsFree, cpu, ttlMs, copy })
        }
        return
      case 'post all':
        for (let each = 0; each < 10; each += 1) post(each, STEADY)
        return
      case 'declare':
        presence.declare(
          {
            agent: idOf(asked.who),
            instance: `a${asked.who}i${asked.copy}` as InstanceId,
            availability: asked.availability,
            capabilities: [],
            callback: `${asked.callback}/offers/${asked.who}`,
            claimedKey: 'k' as never,
            signedAt: now,
            expiresAt: now + 30_000,
          },
          now,
        )
        return
      case 'score': {
        const { points, settled } = asked
        const running = { scoreMicro: points * 1_000_000, successes: settled, failures: 0 }
        const window = { ...NEWCOMER.window, doneCount: settled }
        standings.set(idOf(asked.who), { running, window })
        directory.reconsider(idOf(asked.who))
        return
      }
      case 'order': {
        version += 1
        const name = asked.closed ? 'paused' : 'idle'
        const workload = { running: 0, awaiting: 0, slotsTotal: 1, slotsFree: 1 }
        const standing = { condition: { name, since: 0 }, workload } as const
        records.note({ agent: idOf(asked.who), version, standing, pendingTasks: 0 })
        return
      }
      case 'probe': {
        const { result } = asked
        const due = directory.dueProbes(now)
        if (result === 'under way') return
        const ended = due.map(({ place: address }) => ({
          address,
          sentAt: now,
          result: address === asked.place ? result : ('answered' as const),
        }))
        directory.noteProbes(ended, now)
        return
      }
      case 'sweep':
        directory.sweep(now)
        return
      case 'wait':
        now += asked.ms
    }
  }

  function reference({ limit, offset, draw, ...sought }: Query) {
    const candidates = [...agents.values()]
      .filter(({ endpoint }) => endpoint !== undefined)
      .flatMap(({ id }) => directory.candidateOf(id, [...new Set(sought.skills)], now) ?? [])
    const search = { ...sought, match: 'all' } as const
    const page = { limit, offset }
    if (draw !== undefined) return rankFairly(search, candidates, now, { ...page, draw })
    const { next: _, ...found } = rankForDiscovery(search, candidates, now, page)
    return found
  }

  function ask({ limit, offset, draw, ...sought }: Query) {
    const page = { limit, offset, ...(draw !== undefined && { draw }) }
    const { places, total } = directory.discover(sought, page, now)
    return { hits: places.map((each) => explainPlace(each, now)), total }
  }
  return { take, reference, ask, directory, now: () => now }
}
