/**
 * The life of a piece of work. A collaboration, a job and a paid skill call are all this.
 *
 *   asked → accepted | deferred | refused
 *   deferred → accepted | refused            a second, final answer
 *   accepted → awaiting → accepted           where a person must agree first (OC-19)
 *   accepted → running → done | failed | cancelled | unknown
 *   unknown → done | failed | cancelled      reconciled by its key, never repeated (P-3)
 *   done | failed | cancelled → settled
 *
 *   K1  Work ends once. An end that is reported again changes nothing; another end is refused.
 *   K2  Done means by the deadline: what ends later has failed (OC-17).
 *   K3  A lost answer is unknown, not failed. It ends by what its agent says, or as the agent's
 *       failure 24 h after its deadline, or its acceptance where it has none (P-3).
 *   K4  Only ended work is settled, and only done work is paid.
 *   K5  The requester may cancel whatever has not ended (OC-18); cancelling costs nobody
 *       reputation.
 */
import type { Fault } from '../agent/condition.ts'
import { accept, type Decision, refuse } from '../decision.ts'
import type {
  AgentId,
  CorrelationId,
  Digest,
  HoldId,
  IdempotencyKey,
  Instant,
  TaskId,
  WorkId,
} from '../ids.ts'
import { LIMITS } from '../limits.ts'
import type { Refusal } from '../refusals.ts'

/**
 * What was asked for. The input itself is not here: facts carry its digest (design, "What is
 * kept").
 */
export type Ask = {
  readonly work: WorkId
  /** The requester's own name for it: the request, job or task id. */
  readonly task: TaskId
  /** The authenticated requester: an agent, or an owner without one. */
  readonly requester: string
  readonly agent: AgentId
  readonly skill: string
  readonly key: IdempotencyKey
  readonly content: Digest
  readonly correlation: CorrelationId
  readonly priority: number
  readonly askedAt: Instant
  readonly deadline?: Instant
  readonly budgetCents?: number
  /** The price that the requester was shown; a higher one is refused, not charged (CH-6). */
  readonly quotedCents?: number
  readonly hold?: HoldId
}

/** An ask as it came through a door, before anybody has looked at who sent it. */
export type WorkAsked = {
  readonly type: 'ask_work'
  readonly task: TaskId
  /** As the message claims. Who it really is, authentication says. */
  readonly claimedRequester: string
  readonly skill: string
  readonly input: Readonly<Record<string, unknown>>
  readonly key: IdempotencyKey
  readonly correlation: CorrelationId
  readonly priority: number
  readonly sentAt?: Instant
  readonly deadline?: Instant
  readonly budgetCents?: number
  readonly quotedCents?: number
  readonly callback?: string
}

/** How work stands according to whoever did it: an observation, believed only when it is signed. */
export type WorkReported = {
  readonly type: 'work_reported'
  readonly task: TaskId
  readonly agent: AgentId
  /** Absent where the dialect has no name of its own for the work. */
  readonly work?: WorkId
  /** Where the report says so: which skill it was, and who asked for it. */
  readonly skill?: string
  readonly requester?: AgentId
  readonly how: 'done' | 'failed' | 'cancelled' | 'pending'
  readonly output?: Readonly<Record<string, unknown>>
  readonly fault?: Fault
  readonly costCents?: number
  readonly durationMs?: number
  readonly endedAt?: Instant
  readonly correlation?: CorrelationId
}

/**
 * What makes work end badly. `agent`, `deadline` and `overdue` are the agent's own doing (CH-12).
 */
export type FailureCause = 'agent' | 'deadline' | 'overdue'
export type CancelCause = 'requester' | 'unapproved'

export type WorkState =
  | { readonly name: 'deferred'; readonly until: Instant }
  | { readonly name: 'awaiting'; readonly since: Instant; readonly until: Instant }
  | { readonly name: 'accepted'; readonly acceptedAt: Instant; readonly estimatedEnd?: Instant }
  | { readonly name: 'running'; readonly acceptedAt: Instant; readonly startedAt: Instant }
  | { readonly name: 'unknown'; readonly acceptedAt: Instant; readonly since: Instant }
  | { readonly name: 'refused'; readonly refusal: Refusal }
  | Ended
  | { readonly name: 'settled'; readonly end: Ended; readonly capturedCents: number }

export type Ended =
  | { readonly name: 'done'; readonly endedAt: Instant; readonly output: Digest }
  | {
      readonly name: 'failed'
      readonly endedAt: Instant
      readonly cause: FailureCause
      readonly fault: Fault
    }
  | { readonly name: 'cancelled'; readonly endedAt: Instant; readonly cause: CancelCause }

export type Work = {
  readonly ask: Ask
  readonly priceCents: number
  readonly state: WorkState
}

export type WorkCommand =
  | { readonly type: 'admit'; readonly estimatedEnd?: Instant }
  | { readonly type: 'turn_away'; readonly refusal: Refusal }
  | { readonly type: 'await_person' }
  | { readonly type: 'start' }
  | { readonly type: 'finish'; readonly endedAt: Instant; readonly output: Digest }
  | { readonly type: 'fail'; readonly endedAt: Instant; readonly fault: Fault }
  | { readonly type: 'cancel'; readonly by: string }
  | { readonly type: 'lose' }
  | { readonly type: 'settle'; readonly capturedCents: number }
  /** The clock speaks: what is overdue ends. */
  | { readonly type: 'pass_time' }

export type WorkFact = {
  readonly type: 'work_moved'
  readonly work: WorkId
  readonly from: WorkState['name']
  readonly to: WorkState
}

export type WorkRefusal =
  | 'work_ended'
  | 'work_not_begun'
  | 'caller_forbidden'
  | 'settlement_mismatch'

export function decideWork(
  work: Work,
  command: WorkCommand,
  now: Instant,
): Decision<WorkFact, WorkRefusal> {
  const { state } = work
  const to = (next: WorkState) => accept(moved(work, next))

  switch (command.type) {
    case 'admit': {
      if (state.name === 'accepted' || state.name === 'running') return accept()
      if (state.name !== 'deferred' && state.name !== 'awaiting') return outOfPlace(state)
      const { estimatedEnd } = command
      const accepted = { name: 'accepted', acceptedAt: now } as const
      return to(estimatedEnd === undefined ? accepted : { ...accepted, estimatedEnd })
    }
    case 'turn_away':
      if (state.name !== 'deferred') return outOfPlace(state)
      return to({ name: 'refused', refusal: command.refusal })
    case 'await_person':
      if (state.name === 'awaiting') return accept()
      if (state.name !== 'accepted') return outOfPlace(state)
      return to({
        name: 'awaiting',
        since: now,
        until: work.ask.deadline ?? now + LIMITS.approvalWaitMs,
      })
    case 'start':
      if (state.name === 'running') return accept()
      if (state.name !== 'accepted') return outOfPlace(state)
      return to({ name: 'running', acceptedAt: state.acceptedAt, startedAt: now })
    case 'finish':
    case 'fail':
      return decideEnd(work, command, now)
    case 'cancel':
      if (command.by !== work.ask.requester) return refuse('caller_forbidden')
      if (endOf(state)?.name === 'cancelled') return accept()
      if (endOf(state) !== undefined || state.name === 'refused') return refuse('work_ended')
      return to({ name: 'cancelled', endedAt: now, cause: 'requester' })
    case 'lose':
      if (state.name === 'unknown') return accept()
      if (state.name !== 'running' && state.name !== 'accepted') return outOfPlace(state)
      return to({ name: 'unknown', acceptedAt: state.acceptedAt, since: now })
    case 'settle':
      return decideSettle(work, command.capturedCents)
    case 'pass_time':
      return decideOverdue(work, now)
  }
}

export function applyWork(work: Work, fact: WorkFact): Work {
  return { ...work, state: fact.to }
}

/** How the work ended, settled or not; undefined while it has not. */
export function endOf(state: WorkState): Ended | undefined {
  switch (state.name) {
    case 'done':
    case 'failed':
    case 'cancelled':
      return state
    case 'settled':
      return state.end
    default:
      return undefined
  }
}

/** When `pass_time` next has something to say, so that whoever keeps time can wake then. */
export function nextDueAt({ ask, state }: Work): Instant | undefined {
  switch (state.name) {
    case 'awaiting':
      return state.until
    case 'deferred':
    case 'accepted':
    case 'running':
      return (
        ask.deadline ??
        (state.name === 'deferred' ? undefined : state.acceptedAt + LIMITS.holdGraceMs)
      )
    case 'unknown':
      return (ask.deadline ?? state.acceptedAt) + LIMITS.holdGraceMs
    default:
      return undefined
  }
}

const LATE: Fault = {
  code: 'DEADLINE_MISSED',
  message: 'The work was not done by its deadline',
  lasting: 'permanent',
}

function decideEnd(
  work: Work,
  command: Extract<WorkCommand, { type: 'finish' | 'fail' }>,
  now: Instant,
): Decision<WorkFact, WorkRefusal> {
  const { ask, state } = work
  const end = endOf(state)
  if (end !== undefined) return isSameEnd(end, command) ? accept() : refuse('work_ended')
  if (state.name !== 'running' && state.name !== 'unknown') return outOfPlace(state)

  // An agent cannot have ended its work in the future, nor before it began.
  const begun = state.name === 'running' ? state.startedAt : state.acceptedAt
  const endedAt = Math.min(Math.max(command.endedAt, begun), now)
  if (command.type === 'fail') {
    return accept(moved(work, { name: 'failed', endedAt, cause: 'agent', fault: command.fault }))
  }
  if (ask.deadline !== undefined && endedAt > ask.deadline) {
    return accept(moved(work, { name: 'failed', endedAt, cause: 'deadline', fault: LATE }))
  }
  return accept(moved(work, { name: 'done', endedAt, output: command.output }))
}

function decideSettle(work: Work, capturedCents: number): Decision<WorkFact, WorkRefusal> {
  const { state } = work
  if (state.name === 'settled') {
    return state.capturedCents === capturedCents ? accept() : refuse('settlement_mismatch')
  }
  const end = endOf(state)
  if (end === undefined) return outOfPlace(state)
  const most = end.name === 'done' ? work.priceCents : 0
  if (capturedCents < 0 || capturedCents > most) return refuse('settlement_mismatch')
  return accept(moved(work, { name: 'settled', end, capturedCents }))
}

function decideOverdue(work: Work, now: Instant): Decision<WorkFact, never> {
  const { state } = work
  const due = nextDueAt(work)
  if (due === undefined || now < due) return accept()
  switch (state.name) {
    case 'awaiting':
      return accept(moved(work, { name: 'cancelled', endedAt: now, cause: 'unapproved' }))
    case 'deferred':
      return accept(moved(work, { name: 'refused', refusal: 'deadline_too_soon' }))
    case 'unknown':
      return accept(moved(work, { name: 'failed', endedAt: now, cause: 'overdue', fault: LATE }))
    default: {
      const cause = work.ask.deadline === undefined ? 'overdue' : 'deadline'
      return accept(moved(work, { name: 'failed', endedAt: now, cause, fault: LATE }))
    }
  }
}

function isSameEnd(
  end: Ended,
  command: Extract<WorkCommand, { type: 'finish' | 'fail' }>,
): boolean {
  if (command.type === 'finish') return end.name === 'done' && end.output === command.output
  return end.name === 'failed' && end.cause === 'agent' && end.fault.code === command.fault.code
}

function outOfPlace(state: WorkState) {
  const over = endOf(state) !== undefined || state.name === 'refused'
  return refuse(over ? 'work_ended' : 'work_not_begun', { figures: { state: state.name } })
}

const moved = (work: Work, to: WorkState): WorkFact => ({
  type: 'work_moved',
  work: work.ask.work,
  from: work.state.name,
  to,
})
