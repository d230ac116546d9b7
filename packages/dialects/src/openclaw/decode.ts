/**
 * OpenClaw → domain: status updates, requests, answers and results. A message that passed its
 * schema always decodes, and what it says is taken as said: a status or a result is what its sender
 * states, and changes nothing by itself (A4).
 */
import type { Fault } from '@chimera/domain/agent/condition'
import type {
  AgentId,
  CorrelationId,
  IdempotencyKey,
  Instant,
  TaskId,
  WorkId,
} from '@chimera/domain/ids'
import { DEFAULT_PRIORITY } from '@chimera/domain/work/queue'
import type { EndReported } from '@chimera/domain/work/result'
import type { WorkAsked } from '@chimera/domain/work/work'
import { checker, reader } from '../check.ts'
import { instantOf, readUuid } from '../wire.ts'
import { decodeStatus, decodeWord, type Stated, type StatedCondition } from './condition.ts'
import { decodeProtocolError, decodeRejection, type RefusalStated } from './refusals.ts'
import * as wire from './schema.ts'

export type ConditionObserved = StatedCondition & {
  readonly type: 'condition_observed'
  readonly agent: AgentId
  readonly previously?: Stated
  readonly sentAt: Instant
  readonly correlation: CorrelationId
}

/** What an agent answers to an ask. */
export type WorkAnswered = {
  readonly type: 'work_answered'
  readonly task: TaskId
  readonly agent: AgentId
  readonly at: Instant
  readonly correlation: CorrelationId
} & (
  | { readonly answer: 'accepted'; readonly work: WorkId; readonly estimatedEnd?: Instant }
  | { readonly answer: 'deferred'; readonly until: Instant }
  | ({ readonly answer: 'refused' } & RefusalStated)
)

export function decodeStatusUpdate(message: wire.StatusUpdate): ConditionObserved {
  const { status_update: status } = message
  return {
    type: 'condition_observed',
    agent: readUuid<AgentId>(message.agent_id),
    ...decodeStatus(status),
    ...(status.previous_status && { previously: decodeWord(status.previous_status) }),
    sentAt: instantOf(message.timestamp),
    correlation: readUuid<CorrelationId>(message.correlation_id),
  }
}

/** OC-12: without a key of its own, the request's id is its key. */
export function decodeRequest(message: wire.CollaborationRequest): WorkAsked {
  const task = readUuid<TaskId>(message.request_id)
  const asked: WorkAsked = {
    type: 'ask_work',
    task,
    claimedRequester: readUuid(message.requester_agent_id),
    skill: message.capability_id,
    input: message.input_data,
    key: (message.idempotency_key ?? task) as IdempotencyKey,
    correlation: readUuid<CorrelationId>(message.correlation_id),
    priority: message.priority ?? DEFAULT_PRIORITY,
    sentAt: instantOf(message.timestamp),
  }
  const { deadline, callback_url: callback } = message
  if (deadline === undefined && callback === undefined) return asked
  return {
    ...asked,
    ...(deadline !== undefined && { deadline: instantOf(deadline) }),
    ...(callback !== undefined && { callback }),
  }
}

export type CancelAsked = {
  readonly type: 'cancel_work'
  readonly task: TaskId
  readonly requester: AgentId
  readonly correlation: CorrelationId
  readonly sentAt: Instant
}

export function decodeCancel(message: wire.CollaborationCancel): CancelAsked {
  return {
    type: 'cancel_work',
    task: readUuid<TaskId>(message.request_id),
    requester: readUuid<AgentId>(message.requester_agent_id),
    correlation: readUuid<CorrelationId>(message.correlation_id),
    sentAt: instantOf(message.timestamp),
  }
}

/** OC-12: what must be the same under one key, to be made canonical and digested by the edge. */
export function contentOf({ skill, input }: Pick<WorkAsked, 'skill' | 'input'>) {
  return { capability_id: skill, input_data: input }
}

export function decodeResponse(message: wire.CollaborationResponse): WorkAnswered {
  const type = 'work_answered'
  const task = readUuid<TaskId>(message.request_id)
  const agent = readUuid<AgentId>(message.responder_agent_id)
  const at = instantOf(message.timestamp)
  const correlation = readUuid<CorrelationId>(message.correlation_id)
  // The schema has seen to it that what each answer needs is there.
  switch (message.response_status) {
    case 'accepted': {
      const work = readUuid<WorkId>(message.collaboration_id ?? '')
      const accepted = { type, task, agent, at, correlation, answer: 'accepted', work } as const
      const { estimated_completion: end } = message
      return end === undefined ? accepted : { ...accepted, estimatedEnd: instantOf(end) }
    }
    case 'deferred': {
      const until = instantOf(message.deferred_until ?? '')
      return { type, task, agent, at, correlation, answer: 'deferred', until }
    }
    case 'rejected': {
      const stated = decodeRejection(message.rejection_reason ?? UNSAID)
      return { type, task, agent, at, correlation, answer: 'refused', ...stated }
    }
  }
}

/** Never met: a rejection has its reason, by the schema. */
const UNSAID: wire.RejectionReason = { code: 'policy_violation', message: '' }

const HOW = { completed: 'done', failed: 'failed', cancelled: 'cancelled' } as const

export function decodeResult(message: wire.CollaborationResult): EndReported {
  const how = HOW[message.result_status]
  const { output_data: output, error, completed_at: end, execution_duration_ms } = message
  const { requester_agent_id: requester, capability_id: skill } = message
  return {
    type: 'work_reported',
    task: readUuid<TaskId>(message.request_id),
    agent: readUuid<AgentId>(message.responder_agent_id),
    work: readUuid<WorkId>(message.collaboration_id),
    ...(requester !== undefined && { requester: readUuid<AgentId>(requester) }),
    ...(skill !== undefined && { skill }),
    how,
    ...(how === 'done' && output && { output }),
    ...(how === 'failed' && error && { fault: decodeError(error) }),
    ...(execution_duration_ms !== undefined && { durationMs: execution_duration_ms }),
    ...(end !== undefined && { endedAt: instantOf(end) }),
    correlation: readUuid<CorrelationId>(message.correlation_id),
  }
}

/** Who leaves `error_type` out may still have said whether asking again helps. */
function decodeError({ code, message, error_type, retryable }: wire.ResultError): Fault {
  return { code, message, lasting: error_type ?? (retryable ? 'transient' : 'permanent') }
}

export const readStatusUpdate = reader(checker(wire.StatusUpdate), decodeStatusUpdate)
export const readRequest = reader(checker(wire.CollaborationRequest), decodeRequest)
export const readCancel = reader(checker(wire.CollaborationCancel), decodeCancel)
export const readResponse = reader(checker(wire.CollaborationResponse), decodeResponse)
export const readResult = reader(checker(wire.CollaborationResult), decodeResult)
export const readProtocolError = reader(checker(wire.ProtocolError), decodeProtocolError)
