/**
 * Who takes part in the tour: an agent that counts words, a planner that hires it, and the hour.
 */
import type { Agent, Registration } from '@chimera/domain/agent/agent'
import type { Standing } from '@chimera/domain/agent/condition'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  IdempotencyKey,
  InstanceId,
  OwnerId,
  ReservationId,
  TaskId,
  TransferId,
  WorkId,
} from '@chimera/domain/ids'
import type { OfferedSkill } from '@chimera/domain/work/admission'
import type { Capacity } from '@chimera/domain/work/capacity'
import type { WorkAsked } from '@chimera/domain/work/work'

export const NOON = Date.UTC(2026, 1, 11, 12)
export const PRICE_CENTS = 5

export const counter = 'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as AgentId
export const instance = 'c0ffee00-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as InstanceId
export const planner = '1f0e3dad-9990-4b16-8e48-6a1c2a3d4e5f' as AgentId
export const acme = 'acme' as OwnerId
export const bolt = 'bolt' as OwnerId

export const task = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' as TaskId
export const work = '220e8400-e29b-41d4-a716-446655440012' as WorkId
export const reservation = '990e8400-e29b-41d4-a716-446655440004' as ReservationId
export const hold = 'bb0e8400-e29b-41d4-a716-446655440006' as HoldId
export const payment = '0b1f2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d' as TransferId
export const grant = '1c2f2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d' as TransferId
export const correlation = '110e8400-e29b-41d4-a716-446655440011' as CorrelationId

export const skill: OfferedSkill & Agent['skills'][number] = {
  name: 'word_count',
  version: { major: 1, minor: 0 },
  description: 'Counts the words of a text',
  priceCents: PRICE_CENTS,
  durationMs: 1_000,
  needsApproval: false,
}

export const registration = {
  type: 'register_agent',
  id: counter,
  owner: bolt,
  profile: { name: 'Counter', endpoint: 'https://counter.example.org/jobs', skills: [skill] },
} as const satisfies Registration

export const idle: Standing = {
  condition: { name: 'idle', since: NOON },
  workload: { running: 0, awaiting: 0, slotsTotal: 2, slotsFree: 2 },
}

export const room: Capacity = { instance, slots: 2, draining: false, reservations: [], running: [] }

export const asked: WorkAsked = {
  type: 'ask_work',
  task,
  claimedRequester: planner,
  skill: skill.name,
  input: { text: 'the quick brown fox jumps over the lazy dog' },
  key: task as string as IdempotencyKey,
  correlation,
  priority: 5,
  deadline: NOON + 60_000,
  budgetCents: 10,
}
