/**
 * Domain → OpenClaw: status updates, requests, answers and results. Identities and reputation have
 * files of their own. What OpenClaw cannot say is listed in docs/dialects/openclaw.md.
 */

import type { Fault, Standing } from '@chimera/domain/agent/condition'
import { type Decision, type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId, Instant, TaskId, WorkId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import type { Admitted } from '@chimera/domain/work/admission'
import type { EndReported } from '@chimera/domain/work/result'
import type { Work, WorkAsked } from '@chimera/domain/work/work'
import { type Answer, statusOf } from '../http-status.ts'
import { writeInstant } from '../wire.ts'
import { encodeStatus } from './condition.ts'
import type { CancelAsked } from './decode.ts'
import { clip, correlationOf } from './names.ts'
import { encodeRefusal, encodeRejection, rejectionCode } from './refusals.ts'
import type * as wire from './schema.ts'
import { PROTOCOL_VERSION } from './version.ts'

export type StatusTold = {
  readonly agent: AgentId
  readonly standing: Standing
  /** What was told before this (OC-3); absent on the first update. */
  readonly previous?: wire.StatusWord
  readonly correlation: CorrelationId
}

export function encodeStatusUpdate(told: StatusTold, now: Instant): wire.StatusUpdate {
  return {
    protocol_version: PROTOCOL_VERSION,
    agent_id: told.agent,
    status_update: {
      ...encodeStatus(told.standing, now),
      ...(told.previous && { previous_status: told.previous }),
    },
    correlation_id: correlationOf(told.correlation),
    timestamp: writeInstant(now),
  }
}

/** The requester is an agent here: its id is a uuid. */
export function encodeRequest(asked: WorkAsked, now: Instant): wire.CollaborationRequest {
  const hasOwnKey = (asked.key as string) !== asked.task
  return {
    protocol_version: PROTOCOL_VERSION,
    request_id: asked.task,
    requester_agent_id: asked.claimedRequester,
    capability_id: asked.skill,
    input_data: asked.input,
    correlation_id: correlationOf(asked.correlation),
    ...(hasOwnKey && { idempotency_key: asked.key }),
    ...(asked.deadline !== undefined && { deadline: writeInstant(asked.deadline) }),
    priority: asked.priority,
    ...(asked.callback !== undefined && { callback_url: asked.callback }),
    timestamp: writeInstant(asked.sentAt ?? now),
  }
}

/** What is still to be signed. */
export function encodeCancel(
  { task, requester, correlation }: Omit<CancelAsked, 'type' | 'sentAt'>,
  now: Instant,
): Omit<wire.CollaborationCancel, 'signature'> {
  return {
    protocol_version: PROTOCOL_VERSION,
    request_id: task,
    requester_agent_id: requester,
    correlation_id: correlationOf(correlation),
    timestamp: writeInstant(now),
  }
}

/** What an answer echoes: the names of the ask, or of the retry that it answers (OC-12). */
export type Reply = {
  readonly task: TaskId
  readonly agent: AgentId
  readonly correlation: CorrelationId
}

export type ResponseAnswer = Answer<wire.CollaborationResponse | wire.ProtocolError>

/** A request is taken on, not yet done. */
const TAKEN_ON = 202

/** OC-11: whatever was decided, the asker gets an answer. */
export function encodeAnswer(
  decision: Decision<Admitted, Refusal>,
  to: Reply & { readonly work: WorkId },
  now: Instant,
): ResponseAnswer {
  if (!decision.ok) return encodeRefused(decision, to, now)
  const [admitted] = decision.facts
  if (admitted?.deferredUntil !== undefined) {
    return { status: TAKEN_ON, body: encodeDeferred(to, admitted.deferredUntil, now) }
  }
  // When a person will agree is anybody's guess, so nothing is estimated before.
  const estimatedEnd = admitted?.answer === 'accepted' ? admitted.estimatedEnd : undefined
  return { status: TAKEN_ON, body: encodeAccepted(to, { work: to.work, estimatedEnd }, now) }
}

/**
 * How an ask stands now: for a repeat of a deferred one, for the second answer that follows it, and
 * for whoever asks by id (OC-12, OC-15). Work that was once accepted stays so, however it ended.
 */
export function encodeProgress({ ask, state }: Work, to: Reply, now: Instant): ResponseAnswer {
  switch (state.name) {
    case 'deferred':
      return { status: TAKEN_ON, body: encodeDeferred(to, state.until, now) }
    case 'refused':
      return encodeRefused(refuse(state.refusal), to, now)
    default: {
      const estimatedEnd = state.name === 'accepted' ? state.estimatedEnd : undefined
      return { status: TAKEN_ON, body: encodeAccepted(to, { work: ask.work, estimatedEnd }, now) }
    }
  }
}

/** OC-22: as a response, or as the error where the request or its sender was not understood. */
export function encodeRefused(refused: Refused<Refusal>, to: Reply, now: Instant): ResponseAnswer {
  const code = rejectionCode(refused.refusal)
  if (code === undefined) return encodeRefusal(refused, now, to.correlation)
  const body = {
    ...opening(to, 'rejected'),
    rejection_reason: encodeRejection(refused, code, now),
    timestamp: writeInstant(now),
  }
  return { status: statusOf(refused.refusal), body }
}

export type Acceptance = { readonly work: WorkId; readonly estimatedEnd?: Instant | undefined }

export function encodeAccepted(
  to: Reply,
  { work, estimatedEnd }: Acceptance,
  now: Instant,
): wire.CollaborationResponse {
  return {
    ...opening(to, 'accepted'),
    collaboration_id: work,
    ...(estimatedEnd !== undefined && { estimated_completion: writeInstant(estimatedEnd) }),
    timestamp: writeInstant(now),
  }
}

export function encodeDeferred(
  to: Reply,
  until: Instant,
  now: Instant,
): wire.CollaborationResponse {
  return {
    ...opening(to, 'deferred'),
    deferred_until: writeInstant(until),
    timestamp: writeInstant(now),
  }
}

const ENDS = { done: 'completed', failed: 'failed', cancelled: 'cancelled' } as const
const UNNAMED: Fault = { code: 'FAILED', message: 'The work failed', lasting: 'permanent' }

export function encodeResult(report: EndReported, now: Instant): wire.CollaborationResult {
  const { how, durationMs, endedAt } = report
  const timestamp = writeInstant(now)
  // Put together step by step: there is one for each piece of work, and spreads are slow.
  const result: Writable<wire.CollaborationResult> = {
    protocol_version: PROTOCOL_VERSION,
    collaboration_id: report.work,
    request_id: report.task,
    responder_agent_id: report.agent,
    result_status: ENDS[how],
    correlation_id: correlationOf(report.correlation),
    timestamp,
  }
  if (report.requester !== undefined) result.requester_agent_id = report.requester
  if (report.skill !== undefined) result.capability_id = report.skill
  if (how === 'done') result.output_data = report.output ?? {}
  if (how === 'failed') result.error = encodeFault(report.fault ?? UNNAMED)
  if (durationMs !== undefined) result.execution_duration_ms = durationMs
  if (endedAt !== undefined) {
    result.completed_at = endedAt === now ? timestamp : writeInstant(endedAt)
  }
  return result
}

type Writable<Message> = { -readonly [Field in keyof Message]: Message[Field] }

/** OC-22: what may pass is worth asking for again. */
function encodeFault({ code, message, lasting }: Fault): wire.ResultError {
  return {
    code: clip(code, LIMITS.skillChars),
    message: clip(message, LIMITS.descriptionChars),
    error_type: lasting,
    retryable: lasting === 'transient',
  }
}

function opening(
  { task, agent, correlation }: Reply,
  response_status: wire.CollaborationResponse['response_status'],
) {
  return {
    protocol_version: PROTOCOL_VERSION,
    request_id: task,
    responder_agent_id: agent,
    response_status,
    correlation_id: correlationOf(correlation),
  }
}
