/**
 * The one lifecycle of an instance. Five documents have five vocabularies for it; this is what they
 * all talk about.
 *
 * An instance that accepts work is idle, working or waiting for a person; which of the three is not
 * chosen by anybody but follows from its workload. The other five are entered and left by command.
 *
 *   L1  idle ⇔ accepting and nothing in flight; work alone moves an accepting instance (OC-16).
 *   L2  Only idle, working and human_review accept new work.
 *   L3  Work in flight may end under every condition, and never changes one that was commanded.
 *   L4  error is entered with a reason and left by recovery, never by resuming.
 *   L5  A command that asks for what is already so changes nothing.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { Instant } from '../ids.ts'

/** From mildest to worst: an agent with no accepting instance shows the first of these it has. */
export const CONDITIONS = [
  'idle',
  'working',
  'human_review',
  'paused',
  'draining',
  'maintenance',
  'error',
  'stopped',
] as const
export type ConditionName = (typeof CONDITIONS)[number]

/** Why an instance is in error. `transient` ones are expected to pass without a person. */
export type Fault = {
  readonly code: string
  readonly message: string
  readonly lasting: 'transient' | 'permanent'
}

export type Condition = { readonly since: Instant } & (
  | { readonly name: Exclude<ConditionName, 'maintenance' | 'error'> }
  | { readonly name: 'maintenance'; readonly until?: Instant; readonly reason?: string }
  | { readonly name: 'error'; readonly fault: Fault }
)

/** `awaiting` is work that waits on a person: it counts as a task and takes no slot (OC-19). */
export type Workload = {
  readonly running: number
  readonly awaiting: number
  readonly slotsTotal: number
  readonly slotsFree: number
}

export type Standing = { readonly condition: Condition; readonly workload: Workload }

export type ConditionCommand =
  | { readonly type: 'update_workload'; readonly workload: Workload }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'drain' }
  | { readonly type: 'maintain'; readonly until?: Instant; readonly reason?: string }
  | { readonly type: 'fail'; readonly fault: Fault }
  | { readonly type: 'recover' }
  | { readonly type: 'stop' }
  | { readonly type: 'start' }

export type ConditionFact =
  | { readonly type: 'workload_changed'; readonly workload: Workload }
  | { readonly type: 'condition_changed'; readonly from: ConditionName; readonly to: Condition }

export type ConditionRefusal = 'reason_missing' | 'transition_illegal'

type Ordered = Exclude<ConditionCommand['type'], 'update_workload'>
/** `by_work` lets the workload choose; `same` is L5; `again` enters anew with other particulars. */
type Way =
  | 'by_work'
  | 'same'
  | 'again'
  | 'no'
  | 'paused'
  | 'draining'
  | 'maintenance'
  | 'error'
  | 'stopped'

// biome-ignore format: a table is read by its columns
const WAYS = {
  //             pause              resume             drain                maintain                
  // fail            recover             stop             start
  idle:         { pause: 'paused', resume: 'same',    drain: 'draining',   maintain: 'maintenance', fail: 'error',  recover: 'same',    stop: 'stopped', start: 'same' },
  working:      { pause: 'paused', resume: 'same',    drain: 'draining',   maintain: 'maintenance', fail: 'error',  recover: 'same',    stop: 'stopped', start: 'same' },
  human_review: { pause: 'paused', resume: 'same',    drain: 'draining',   maintain: 'maintenance', fail: 'error',  recover: 'same',    stop: 'stopped', start: 'same' },
  paused:       { pause: 'same',   resume: 'by_work', drain: 'draining',   maintain: 'maintenance', fail: 'error',  recover: 'no',      stop: 'stopped', start: 'no' },
  draining:     { pause: 'no',     resume: 'by_work', drain: 'same',       maintain: 'maintenance', fail: 'error',  recover: 'no',      stop: 'stopped', start: 'no' },
  maintenance:  { pause: 'paused', resume: 'by_work', drain: 'draining',   maintain: 'again',       fail: 'error',  recover: 'no',      stop: 'stopped', start: 'no' },
  error:        { pause: 'paused', resume: 'no',      drain: 'draining',   maintain: 'maintenance', fail: 'again',  recover: 'by_work', stop: 'stopped', start: 'no' },
  stopped:      { pause: 'no',     resume: 'no',      drain: 'no',         maintain: 'no',          fail: 'no',     recover: 'no',      stop: 'same',    start: 'by_work' },
} as const satisfies Record<ConditionName, Record<Ordered, Way>>

export function accepts({ name }: Condition): boolean {
  return name === 'idle' || name === 'working' || name === 'human_review'
}

/** Tasks as the documents count them: what runs and what waits on a person. */
export function tasksOf({ running, awaiting }: Workload): number {
  return running + awaiting
}

/** L1: what an accepting instance is, given its work. Waiting on a person outweighs working. */
export function nameByWork(workload: Workload): 'idle' | 'working' | 'human_review' {
  if (workload.awaiting > 0) return 'human_review'
  return workload.running > 0 ? 'working' : 'idle'
}

export function decideCondition(
  { condition, workload }: Standing,
  command: ConditionCommand,
  now: Instant,
): Decision<ConditionFact, ConditionRefusal> {
  if (command.type === 'update_workload') {
    if (sameWorkload(workload, command.workload)) return accept()
    const changed = { type: 'workload_changed', workload: command.workload } as const
    const to = nameByWork(command.workload)
    if (!accepts(condition) || to === condition.name) return accept(changed)
    return accept(changed, moved(condition, { name: to, since: now }))
  }

  if (command.type === 'fail' && command.fault.message.trim() === '') {
    return refuse('reason_missing')
  }
  const way: Way = WAYS[condition.name][command.type]
  if (way === 'no') {
    return refuse('transition_illegal', { figures: { from: condition.name, asked: command.type } })
  }
  if (way === 'same') return accept()
  if (way === 'by_work') return accept(moved(condition, { name: nameByWork(workload), since: now }))
  // A fault or a maintenance that is reported again keeps its beginning: it is the same one.
  const since = way === 'again' ? condition.since : now
  return accept(moved(condition, entered(command, since)))
}

export function applyCondition(standing: Standing, fact: ConditionFact): Standing {
  return fact.type === 'workload_changed'
    ? { ...standing, workload: fact.workload }
    : { ...standing, condition: fact.to }
}

/**
 * What an agent is, given its instances: tasks and slots are summed over those that are not
 * stopped, and only an accepting one has room. If none accepts, the mildest condition speaks.
 */
export function summarise(standings: readonly Standing[], now: Instant): Standing {
  const live = standings.filter(({ condition }) => condition.name !== 'stopped')
  const open = live.filter(({ condition }) => accepts(condition))
  const workload: Workload = {
    running: total(live, (each) => each.running),
    awaiting: total(live, (each) => each.awaiting),
    slotsTotal: total(live, (each) => each.slotsTotal),
    slotsFree: total(open, (each) => each.slotsFree),
  }
  const [first, ...rest] = open.length > 0 ? open : standings
  if (first === undefined) return { condition: { name: 'stopped', since: now }, workload }
  const mildest = rest.reduce((best, each) => (rank(each) < rank(best) ? each : best), first)
  if (open.length === 0) return { condition: mildest.condition, workload }
  const name = nameByWork(workload)
  const since = Math.max(...open.map(({ condition }) => condition.since))
  return { condition: { name, since }, workload }
}

const rank = ({ condition }: Standing): number => CONDITIONS.indexOf(condition.name)

const total = (standings: readonly Standing[], of: (workload: Workload) => number): number =>
  standings.reduce((sum, each) => sum + of(each.workload), 0)

const sameWorkload = (one: Workload, other: Workload): boolean =>
  one.running === other.running &&
  one.awaiting === other.awaiting &&
  one.slotsTotal === other.slotsTotal &&
  one.slotsFree === other.slotsFree

function moved(from: Condition, to: Condition): ConditionFact {
  return { type: 'condition_changed', from: from.name, to }
}

function entered(command: ConditionCommand, since: Instant): Condition {
  switch (command.type) {
    case 'pause':
      return { name: 'paused', since }
    case 'drain':
      return { name: 'draining', since }
    case 'maintain': {
      const { type: _, ...particulars } = command
      return { name: 'maintenance', since, ...particulars }
    }
    case 'fail':
      return { name: 'error', since, fault: command.fault }
    default:
      return { name: 'stopped', since }
  }
}
