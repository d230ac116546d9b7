/**
 * An agent that dies at a chosen step, in process: at the n-th thing that it does to the world,
 * before or after that is done, it falls silent for good. Whoever is opened after it on the same
 * database and hub is the process that was started anew.
 */
import { randomUUID } from 'node:crypto'
import type { AgentId, InstanceId, OwnerId } from '@chimera/domain/ids'
import { createChance } from '@chimera/host/chance'
import { type Clock, createClock } from '@chimera/host/clock'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { createLog } from '@chimera/host/log'
import type { Party } from '@chimera/hub/testing/hiring'
import { defineSkill, Type } from '@chimera/skill/define'
import { createRunner } from '@chimera/skill/runner'
import type { AgentStore } from '@chimera/store/agents'
import { createHubClient } from '../src/hub/client.ts'
import type { Self } from '../src/ports.ts'
import { createDesk } from '../src/work/desk.ts'
import { createNetwork } from '../src/work/network.ts'
import { createReserving } from '../src/work/reserving.ts'
import { createWorkshop } from '../src/work/workshop.ts'
import { type Around, around, forever } from './around.ts'

export const PRICE_CENTS = 5
/** Longer than a claim of a skill that is to run once may be alive. */
export const UNKNOWN_MS = 6 * 60_000

/** What an agent does to the world; what it only reads leaves no trace that a crash could show. */
const STEPS = new Set([
  'keep.enter',
  'keep.save',
  'answers.once',
  'answers.forgetAt',
  'network.confirm',
  'network.release',
  'network.present',
  'network.report',
  'network.reportAll',
  'dial.request',
  'skill.run',
])

export type When = 'before' | 'after'
export type Point = { readonly at: number; readonly when: When }

export function createFate(point?: Point) {
  const steps: string[] = []
  let dead = false
  let die = () => {}
  const died = new Promise<void>((resolve) => {
    die = () => {
      dead = true
      resolve()
    }
  })
  const call: Around = async (name, run) => {
    if (dead) return forever()
    const isStep = STEPS.has(name)
    if (isStep) steps.push(name)
    const isIt = isStep && steps.length === point?.at
    if (isIt && point.when === 'before') {
      die()
      return forever()
    }
    const [outcome] = await Promise.allSettled([run()])
    if (isIt) die()
    // Also what was under way when it died is never heard of.
    if (dead) return forever()
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }
  return { call, died, steps, isDead: () => dead }
}
export type Fate = ReturnType<typeof createFate>

/** The real clock, ahead by as much as a test wants; nobody stays awake for its timers. */
export function createPassingClock() {
  const real = createClock({ unref: true })
  let aheadMs = 0
  const clock: Clock = { ...real, now: () => real.now() + aheadMs }
  return {
    clock,
    pass: (ms: number) => {
      aheadMs += ms
    },
  }
}

/** How often each text was worked on, over all lives of the agent. */
export type Executions = Map<string, number>

function skillsOf(fate: Fate, executions: Executions) {
  const shape = Type.Object({ text: Type.String() })
  const terms = { version: '1.0', price: PRICE_CENTS / 100, timeout: '30s' } as const
  const contract = { ...terms, input: shape, output: shape } as const
  const work = async (text: string) => {
    const run = async () => {
      executions.set(text, (executions.get(text) ?? 0) + 1)
      return { text }
    }
    return (await fate.call('skill.run', run)) as { text: string }
  }
  return [
    defineSkill({ ...contract, name: 'copy', run: ({ text }) => work(text) }),
    defineSkill({ ...contract, name: 'ponder', approval: true, run: ({ text }) => work(text) }),
    defineSkill({
      ...contract,
      name: 'pay',
      run: ({ text }) => work(text),
      idempotency: {
        once: true,
        reconcile: async ({ text }) =>
          executions.has(text) ? { is: 'done', output: { text } } : { is: 'not_done' },
      },
    }),
    defineSkill({
      ...contract,
      name: 'wait',
      run: ({ text }, { signal }) =>
        new Promise((_, reject) => {
          executions.set(text, (executions.get(text) ?? 0) + 1)
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    }),
  ]
}

export const OFFERED = ['copy', 'ponder', 'pay', 'wait'].map((skill_name) => ({
  skill_name,
  cost_per_call: PRICE_CENTS / 100,
}))

export type LifeHands = {
  readonly hub: string
  readonly party: Party
  readonly store: AgentStore
  readonly clock: Clock
  readonly executions: Executions
}

/** One life of the agent, from its start to its death or its stop. */
export function openLife(
  { hub, party, store, clock, executions }: LifeHands,
  fate: Fate = createFate(),
) {
  const agent = party.id as AgentId
  const instance = randomUUID() as InstanceId
  const chance = createChance()
  const log = createLog({ clock, name: 'agent', level: 'silent' })
  const client = createHubClient({ hub, key: party.key, clock, chance })
  const network = around(createNetwork({ hub: client, agent, clock }), fate.call, 'network.')
  const keep = around(store.keep.of(agent), fate.call, 'keep.')
  const answers = around(store.answers, fate.call, 'answers.')
  const dial = createGuardedClient({ clock, allowNet: ['localhost'] })
  const self: Self = { agent, instance, owner: party.owner as OwnerId, key: () => party.key }
  const desk = createDesk({ instance, slots: 1 })
  const skills = skillsOf(fate, executions)
  const runner = createRunner({ skills, agent: 'crashing', clock, chance, answers })
  const shared = { self, network, desk, clock, chance, accepting: () => true }
  const workshop = createWorkshop({
    ...shared,
    runner,
    skills,
    keep,
    log,
    dial: { ...dial, ...around({ request: dial.request }, fate.call, 'dial.') },
    voices: { changed: () => undefined },
  })
  const reserving = createReserving({ ...shared, changed: workshop.pump })
  return {
    fate,
    workshop,
    reserving,
    desk,
    keep,
    instance,
    /** Of one that lives; a dead one holds nothing but memory. */
    async close() {
      reserving.close()
      await workshop.close()
      await client.close()
      await dial.close()
    },
  }
}
export type Life = ReturnType<typeof openLife>
