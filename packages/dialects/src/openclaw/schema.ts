/**
 * The messages of OpenClaw 1.0.0. These objects are the published JSON Schemas, and the "required
 * if" of the document's prose is part of them (OC-2). Unknown fields are ignored here and covered
 * by signatures. What is not in the document is listed in docs/dialects/openclaw.md.
 */
import { CATEGORIES, type PublishedSchema } from '@chimera/domain/agent/agent'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { ErrorBody } from '../error.ts'
import { requiredIf } from '../required-if.ts'
import { AnyObject, DateTime, SkillName, textUpTo, Uuid } from '../wire.ts'
import { LONGEST, SEMVER } from './version.ts'

const Semver = Type.String({ pattern: SEMVER, maxLength: LONGEST })
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const AtLeastOne = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
/** Between 0 and 1. */
const Share = Type.Number({ minimum: 0, maximum: 1 })
const Words = textUpTo(LIMITS.descriptionChars)
const Code = textUpTo(LIMITS.skillChars)
const Lasting = Type.Enum(['transient', 'permanent'])
const Signature = Type.String({
  pattern: '^[A-Za-z0-9+/]{85}[AQgw]==$',
  description:
    'By the sender\u2019s key, over the canonical JSON of the message without this field',
})

/** On every message; one without it is read as 1.0.0. */
const versioned = { protocol_version: Type.Optional(Semver) }

/** What an answer says about asking again (OC-22). */
const retryGuidance = {
  retryable: Type.Optional(Type.Boolean({ description: 'Whether asking again may help' })),
  retry_after_seconds: Type.Optional(Count),
}

const StatusWord = Type.Enum(['idle', 'busy', 'error', 'maintenance'])
export type StatusWord = Static<typeof StatusWord>

const StatusDetails = Type.Object({
  active_tasks: Type.Optional(Count),
  error_code: Type.Optional(Code),
  error_message: Type.Optional(Words),
  error_type: Type.Optional(Lasting),
  maintenance_until: Type.Optional(DateTime),
  maintenance_reason: Type.Optional(Words),
})
export type StatusDetails = Static<typeof StatusDetails>

const status = {
  current_status: StatusWord,
  status_timestamp: DateTime,
  status_details: Type.Optional(StatusDetails),
}

const needsDetails = (word: StatusWord, ...required: readonly string[]) =>
  requiredIf('current_status', word, ['status_details'], { status_details: { required } })

const BUSY = needsDetails('busy', 'active_tasks')
const MAINTENANCE = needsDetails('maintenance', 'maintenance_until')

/** The document's identity has no `error_type`, so none is asked for there. */
export const Status = Type.Object(status, {
  allOf: [BUSY, MAINTENANCE, needsDetails('error', 'error_code', 'error_message')],
})
export type Status = Static<typeof Status>

export const Capability = Type.Object({
  capability_id: SkillName,
  capability_name: textUpTo(LIMITS.nameChars),
  description: Words,
  category: Type.Enum([...CATEGORIES]),
  input_schema_ref: Type.Optional(textUpTo(LIMITS.urlChars)),
  output_schema_ref: Type.Optional(textUpTo(LIMITS.urlChars)),
  estimated_duration_ms: Type.Optional(Count),
  requires_approval: Type.Optional(Type.Boolean()),
})
export type Capability = Static<typeof Capability>

const SchemasById = Type.Unsafe<Readonly<Record<string, PublishedSchema>>>({
  type: 'object',
  description: 'By capability_id; a capability without one takes what its description says',
  additionalProperties: { type: 'object' },
  maxProperties: LIMITS.skillsPerAgent,
})

export const Identity = Type.Object(
  {
    ...versioned,
    agent_id: Uuid,
    agent_name: Type.String({ pattern: '^chimera-[a-z0-9-]+$', maxLength: LIMITS.nameChars }),
    agent_type: Type.Literal('autonomous_content_node'),
    version: Semver,
    spec_version: Type.Optional(Semver),
    capabilities: Type.Object({
      advertised_capabilities: Type.Array(Capability, {
        minItems: 1,
        maxItems: LIMITS.skillsPerAgent,
      }),
      input_schemas: SchemasById,
      output_schemas: SchemasById,
    }),
    status: Status,
    trust_signals: Type.Optional(
      Type.Object({
        reputation_score: Type.Optional(Share),
        total_collaborations: Type.Optional(Count),
        success_rate: Type.Optional(Share),
        average_response_time_ms: Type.Optional(Count),
      }),
    ),
    resource_limits: Type.Optional(
      Type.Object({
        max_concurrent_tasks: Type.Optional(AtLeastOne),
        current_task_count: Type.Optional(Count),
        rate_limit_per_minute: Type.Optional(AtLeastOne),
      }),
    ),
    published_at: Type.Optional(DateTime),
    correlation_id: Type.Optional(Uuid),
  },
  { title: 'OpenClaw agent identity' },
)
export type Identity = Static<typeof Identity>

export const StatusUpdate = Type.Object(
  {
    ...versioned,
    agent_id: Uuid,
    status_update: Type.Object(
      { ...status, previous_status: Type.Optional(StatusWord) },
      {
        allOf: [
          BUSY,
          MAINTENANCE,
          needsDetails('error', 'error_code', 'error_message', 'error_type'),
        ],
      },
    ),
    correlation_id: Uuid,
    timestamp: DateTime,
  },
  { title: 'OpenClaw status update' },
)
export type StatusUpdate = Static<typeof StatusUpdate>

export const ReputationUpdate = Type.Object(
  {
    ...versioned,
    agent_id: Uuid,
    reputation_update: Type.Object(
      {
        update_type: Type.Enum([
          'collaboration_completed',
          'collaboration_failed',
          'periodic_update',
        ]),
        reputation_score: Share,
        update_timestamp: DateTime,
        metrics: Type.Optional(
          Type.Object({
            total_collaborations: Type.Optional(Count),
            successful_collaborations: Type.Optional(Count),
            failed_collaborations: Type.Optional(Count),
            success_rate: Type.Optional(Share),
            average_response_time_ms: Type.Optional(Count),
            on_time_completion_rate: Type.Optional(Share),
          }),
        ),
        collaboration_id: Type.Optional(Uuid),
      },
      {
        allOf: [
          requiredIf('update_type', 'collaboration_completed', ['collaboration_id']),
          requiredIf('update_type', 'collaboration_failed', ['collaboration_id']),
        ],
      },
    ),
    correlation_id: Uuid,
    timestamp: DateTime,
  },
  { title: 'OpenClaw reputation update' },
)
export type ReputationUpdate = Static<typeof ReputationUpdate>

export const CollaborationRequest = Type.Object(
  {
    ...versioned,
    request_id: Uuid,
    requester_agent_id: Uuid,
    capability_id: SkillName,
    input_data: AnyObject,
    correlation_id: Uuid,
    idempotency_key: Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.keyChars })),
    deadline: Type.Optional(DateTime),
    priority: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10, description: '1 is the highest, 5 if not given' }),
    ),
    callback_url: Type.Optional(
      Type.String({
        format: 'http-url',
        maxLength: LIMITS.urlChars,
        description: 'Where later responses and the result are posted',
      }),
    ),
    timestamp: DateTime,
    signature: Type.Optional(Signature),
  },
  { title: 'OpenClaw collaboration request' },
)
export type CollaborationRequest = Static<typeof CollaborationRequest>

/** OC-18 where there is no address to post to. Always signed, since it comes without a request. */
export const CollaborationCancel = Type.Object(
  {
    ...versioned,
    request_id: Uuid,
    requester_agent_id: Uuid,
    correlation_id: Uuid,
    timestamp: DateTime,
    signature: Signature,
  },
  { title: 'OpenClaw collaboration cancel' },
)
export type CollaborationCancel = Static<typeof CollaborationCancel>

const RejectionCode = Type.Enum([
  'capability_not_available',
  'invalid_input',
  'resource_exhausted',
  'policy_violation',
  'deadline_too_soon',
])
export type RejectionCode = Static<typeof RejectionCode>

const RejectionReason = Type.Object({
  code: RejectionCode,
  message: Words,
  ...retryGuidance,
  details: Type.Optional(AnyObject),
})
export type RejectionReason = Static<typeof RejectionReason>

export const CollaborationResponse = Type.Object(
  {
    ...versioned,
    request_id: Uuid,
    responder_agent_id: Uuid,
    response_status: Type.Enum(['accepted', 'rejected', 'deferred']),
    correlation_id: Uuid,
    collaboration_id: Type.Optional(Uuid),
    rejection_reason: Type.Optional(RejectionReason),
    deferred_until: Type.Optional(DateTime),
    estimated_completion: Type.Optional(DateTime),
    timestamp: DateTime,
    signature: Type.Optional(Signature),
  },
  {
    title: 'OpenClaw collaboration response',
    allOf: [
      requiredIf('response_status', 'accepted', ['collaboration_id']),
      requiredIf('response_status', 'rejected', ['rejection_reason']),
      requiredIf('response_status', 'deferred', ['deferred_until']),
    ],
  },
)
export type CollaborationResponse = Static<typeof CollaborationResponse>

const ResultError = Type.Object({
  code: Code,
  message: Words,
  error_type: Type.Optional(Lasting),
  ...retryGuidance,
  details: Type.Optional(AnyObject),
})
export type ResultError = Static<typeof ResultError>

export const CollaborationResult = Type.Object(
  {
    ...versioned,
    collaboration_id: Uuid,
    request_id: Uuid,
    responder_agent_id: Uuid,
    requester_agent_id: Type.Optional(Uuid),
    capability_id: Type.Optional(SkillName),
    result_status: Type.Enum(['completed', 'failed', 'cancelled']),
    correlation_id: Uuid,
    output_data: Type.Optional(AnyObject),
    error: Type.Optional(ResultError),
    execution_duration_ms: Type.Optional(Count),
    completed_at: Type.Optional(DateTime),
    timestamp: DateTime,
    signature: Type.Optional(Signature),
  },
  {
    title: 'OpenClaw collaboration result',
    allOf: [
      requiredIf('result_status', 'completed', ['output_data']),
      requiredIf('result_status', 'failed', ['error']),
    ],
  },
)
export type CollaborationResult = Static<typeof CollaborationResult>

/** OC-22: what is answered when there is no request to respond to. */
export const ProtocolError = Type.Object(
  { ...versioned, ...ErrorBody.properties, correlation_id: Type.Optional(Uuid) },
  { title: 'OpenClaw error' },
)
export type ProtocolError = Static<typeof ProtocolError>
