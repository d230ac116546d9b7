/**
 * An agent's record of itself that others may update: versioned, so that two writers never
 * overwrite each other unseen (SK-12).
 *
 *   U1  All of an update or none of it.
 *   U2  An update that expects another version than the present one is refused.
 *   U3  The condition changes by the lifecycle's own rules; nobody is set busy without work.
 *   U4  The version rises by one with every update that changes something.
 *   U5  What was ordered holds until something else is ordered; otherwise an agent stands as it is
 *       seen. The worse of the two shows, and who is gone has stopped.
 *   U6  Where no slots are known, the tasks that the record states are the work.
 */

import { accept, type Decision, refuse } from '../decision.ts'
import type { AgentId, Instant } from '../ids.ts'
import {
  accepts,
  applyCondition,
  CONDITIONS,
  type ConditionCommand,
  type ConditionRefusal,
  decideCondition,
  type Fault,
  type Standing,
  tasksOf,
} from './condition.ts'

export type AgentRecord = {
  readonly agent: AgentId
  readonly version: number
  readonly standing: Standing
  readonly pendingTasks: number
  readonly lastExecutionAt?: Instant
  /** As the wallet reported it: shown, never a ground for spending. */
  readonly walletBalance?: number
}

/** What the updater wants the agent to be, in the terms of the lifecycle. */
export type WantedCondition =
  | { readonly name: 'accepting' }
  | { readonly name: 'occupied' }
  | { readonly name: 'paused' }
  | { readonly name: 'failed'; readonly fault: Fault }

export type RecordUpdate = {
  readonly expectedVersion?: number
  readonly condition?: WantedCondition
  readonly pendingTasks?: number
  readonly lastExecutionAt?: Instant
  readonly walletBalance?: number
}

/** Before anybody has written one, an agent has its first version. */
export function firstRecord(agent: AgentId, seen: Standing): AgentRecord {
  return { agent, version: 1, standing: seen, pendingTasks: 0 }
}

/** U5: the record as it is now, given how the agent is seen. */
export function presentRecord(record: AgentRecord, seen: Standing): AgentRecord {
  if (seen.condition.name === 'stopped') return { ...record, standing: seen }
  const idle = tasksOf(seen.workload) === 0
  const worked = idle ? withStatedWork(seen, record.pendingTasks) : seen
  const ordered = record.standing.condition
  const holds = !accepts(ordered) && rank(ordered) > rank(worked.condition)
  return { ...record, standing: holds ? { ...worked, condition: ordered } : worked }
}

/** U6. */
function withStatedWork(standing: Standing, tasks: number): Standing {
  const { condition, workload } = standing
  if (workload.slotsTotal > 0) return standing
  const stated = { ...workload, running: tasks, awaiting: 0 }
  const command = { type: 'update_workload', workload: stated } as const
  const decision = decideCondition(standing, command, condition.since)
  return decision.ok ? decision.facts.reduce(applyCondition, standing) : standing
}

const rank = ({ name }: Standing['condition']): number => CONDITIONS.indexOf(name)

export type RecordUpdated = { readonly type: 'record_updated'; readonly record: AgentRecord }

export function decideUpdate(
  record: AgentRecord | undefined,
  update: RecordUpdate,
  now: Instant,
): Decision<RecordUpdated, 'agent_unknown' | 'state_changed' | ConditionRefusal> {
  if (record === undefined) return refuse('agent_unknown')
  const { expectedVersion, condition, ...fields } = update
  if (expectedVersion !== undefined && expectedVersion !== record.version) {
    return refuse('state_changed', { figures: { version: record.version } })
  }
  const { pendingTasks } = fields
  const before =
    pendingTasks === undefined ? record.standing : withStatedWork(record.standing, pendingTasks)
  const moved = condition === undefined ? accept(before) : decideWanted(before, condition, now)
  if (!moved.ok) return moved
  const standing = moved.facts[0] ?? before
  const after = { ...record, ...fields, standing }
  if (isSame(record, after)) return accept()
  return accept({ type: 'record_updated', record: { ...after, version: record.version + 1 } })
}

function decideWanted(
  standing: Standing,
  wanted: WantedCondition,
  now: Instant,
): Decision<Standing, ConditionRefusal> {
  const command = commandFor(standing, wanted)
  if (command === undefined) return refuse('transition_illegal')
  const decision = decideCondition(standing, command, now)
  if (!decision.ok) return decision
  return accept(decision.facts.reduce(applyCondition, standing))
}

/** U3: being occupied follows from work. Asking for it only states what must already be so. */
function commandFor(
  { condition, workload }: Standing,
  wanted: WantedCondition,
): ConditionCommand | undefined {
  const hasWork = tasksOf(workload) > 0
  switch (wanted.name) {
    case 'paused':
      return { type: 'pause' }
    case 'failed':
      return { type: 'fail', fault: wanted.fault }
    case 'accepting':
      if (hasWork) return undefined
      return { type: condition.name === 'error' ? 'recover' : 'resume' }
    case 'occupied':
      return hasWork ? { type: 'resume' } : undefined
  }
}

const isSame = (one: AgentRecord, other: AgentRecord): boolean =>
  one.standing === other.standing &&
  one.pendingTasks === other.pendingTasks &&
  one.lastExecutionAt === other.lastExecutionAt &&
  one.walletBalance === other.walletBalance
