/** A workshop on a virtual clock, with a hub that does as a test tells it. */
import { randomUUID } from 'node:crypto'
import type { Workload } from '@chimera/domain/agent/condition'
import { refuse } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  IdempotencyKey,
  InstanceId,
  OwnerId,
  ReservationId,
  TaskId,
} from '@chimera/domain/ids'
import type { WorkAsked } from '@chimera/domain/work/work'
import { createSeededChance } from '@chimera/host/chance'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { createLog } from '@chimera/host/log'
import { createVirtualClock, type VirtualClock } from '@chimera/host/virtual-clock'
import { generateKeyPair } from '@chimera/identity/keys'
import type { Skill } from '@chimera/skill/contract'
import { defineSkill, Type } from '@chimera/skill/define'
import { createRunner, type RunnerOptions } from '@chimera/skill/runner'
import type { Held, Network, Self } from '../src/ports.ts'
import { createDesk } from '../src/work/desk.ts'
import type { Keep } from '../src/work/keep.ts'
import { createMemoryKeep } from '../src/work/memory-keep.ts'
import { createWorkshop } from '../src/work/workshop.ts'

const ASKER = randomUUID()
export const PAYER = 'ann' as OwnerId

/** A skill whose runs end when the test says so. */
export function createGate(more: { readonly price?: number; readonly approval?: boolean } = {}) {
  const runs: { readonly input: unknown; readonly end: (words?: number) => void }[] = []
  const stopped: unknown[] = []
  const skill = defineSkill({
    name: 'count',
    version: '1.0',
    timeout: '1h',
    duration: '10s',
    ...more,
    input: Type.Object({ text: Type.String() }),
    output: Type.Object({ words: Type.Integer() }),
    run: (input, { signal }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped.push(input)
          reject(signal.reason)
        })
        runs.push({ input, end: (words = 1) => resolve({ words }) })
      }),
  })
  return { skill, runs, stopped }
}

/** A hub in a test's hand. */
export function createHubStub() {
  const state = {
    open: true,
    away: false,
    /** Nobody who asks is registered. */
    strangers: false,
    holds: new Map<string, Held>(),
    confirmed: [] as HoldId[],
    released: [] as string[],
    reports: [] as Record<string, unknown>[],
    advances: [] as number[],
    refuseConfirm: false,
  }
  const away = () => refuse('service_unavailable')
  const network: Network = {
    isOpen: async () => state.open,
    hubKey: async () => undefined,
    agent: async (id) => {
      if (state.away) return away()
      return state.strangers ? undefined : { owner: `owner of ${id}` as OwnerId }
    },
    held: async ({ task }) => (state.away ? away() : state.holds.get(task)),
    confirm: async (hold) => {
      if (state.away) return away()
      if (state.refuseConfirm) return refuse('hold_ended')
      state.confirmed.push(hold)
      return { ok: true }
    },
    release: async (id) => {
      state.released.push(id)
      return { ok: true }
    },
    present: async () =>
      state.away
        ? away()
        : { ok: true, reservation: randomUUID() as ReservationId, lapsesAt: Number.MAX_VALUE },
    advance: async (_, { share }) => {
      state.advances.push(share)
    },
    report: async (result) => {
      if (state.away) return away()
      state.reports.push({ ...result })
      return { ok: true }
    },
  }
  return { state, network }
}

export type StageOptions = {
  readonly skills: readonly Skill[]
  readonly slots?: number
  readonly perMinute?: number
  readonly keep?: Keep
  readonly clock?: VirtualClock
  readonly hub?: ReturnType<typeof createHubStub>
  readonly answers?: RunnerOptions['answers']
  /** Instances of one agent share its id. */
  readonly agent?: AgentId
}

export function createStage(options: StageOptions) {
  const { skills, slots = 1, perMinute, clock = createVirtualClock() } = options
  const { hub = createHubStub(), answers } = options
  const chance = { ...createSeededChance(randomUUID()), fraction: () => 0 }
  const log = createLog({ clock, name: 'agent', level: 'silent' })
  const key = generateKeyPair()
  const self: Self = {
    agent: options.agent ?? (randomUUID() as AgentId),
    instance: randomUUID() as InstanceId,
    owner: 'acme' as OwnerId,
    key: () => key,
  }
  const desk = createDesk({
    instance: self.instance,
    slots,
    ...(perMinute !== undefined && { perMinute }),
  })
  const keep = options.keep ?? createMemoryKeep({ now: clock.now })
  const told: Workload[] = []
  const condition = { accepting: true }
  const runner = createRunner({ skills, clock, chance, ...(answers && { answers }) })
  const workshop = createWorkshop({
    self,
    network: hub.network,
    runner,
    skills,
    keep,
    desk,
    clock,
    chance,
    log,
    accepting: () => condition.accepting,
    dial: createGuardedClient({ clock, allowNet: ['localhost'] }),
    voices: { changed: (workload) => told.push(workload) },
  })

  const ask = (more: Partial<WorkAsked> = {}, door: 'openclaw' | 'chorus' = 'openclaw') =>
    workshop.ask({ door, asked: askFor(more), signer: undefined })
  return {
    workshop,
    ask,
    clock,
    hub: hub.state,
    network: hub.network,
    desk,
    keep,
    told,
    condition,
    self,
    key,
  }
}

export function askFor(more: Partial<WorkAsked> = {}): WorkAsked {
  const task = more.task ?? (randomUUID() as TaskId)
  return {
    type: 'ask_work',
    task,
    claimedRequester: ASKER,
    skill: 'count',
    input: { text: 'one' },
    key: task as string as IdempotencyKey,
    correlation: task as string as CorrelationId,
    priority: 5,
    ...more,
  }
}

export const held = (heldCents: number): Held => ({
  hold: randomUUID() as HoldId,
  payer: PAYER,
  heldCents,
})
