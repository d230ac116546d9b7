/**
 * The status feed's one message, `openclaw-status.v1`, and what its receiver answers. These objects
 * are the published JSON Schemas. The status is closed: publisher and receiver refuse an unknown
 * field (SF-1). The answers are open, so that a publisher gets along with any receiver.
 */
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { ErrorBody } from '../error.ts'
import { DateTime, SkillName, textUpTo, Uuid } from '../wire.ts'

export const SCHEMA_VERSION = 'openclaw-status.v1'
export const STATUSES = ['AVAILABLE', 'BUSY', 'PAUSED', 'HUMAN_REVIEW'] as const
export type StatusWord = (typeof STATUSES)[number]

/** Three hundred years: what is longer is a mistake of units. */
const MOST_UPTIME_S = 10_000_000_000

const AgentName = Type.String({
  minLength: 1,
  maxLength: LIMITS.ownerChars,
  description: 'Any name; it is an alias of an agent (X-10)',
})
const Capabilities = Type.Array(SkillName, { maxItems: LIMITS.skillsPerAgent })
const Uptime = Type.Number({ minimum: 0, maximum: MOST_UPTIME_S })
const Notes = textUpTo(LIMITS.notesChars)

export const Status = Type.Object(
  {
    schema_version: Type.Literal(SCHEMA_VERSION),
    message_id: Uuid,
    agent_id: AgentName,
    status: Type.Enum(STATUSES),
    capabilities: Type.Optional(Capabilities),
    last_updated: DateTime,
    uptime_s: Type.Optional(Uptime),
    notes: Type.Optional(Notes),
  },
  { title: 'Chimera Agent Status v1', additionalProperties: false },
)
export type Status = Static<typeof Status>

export const Accepted = Type.Object(
  {
    status: Type.Literal('accepted'),
    message_id: Uuid,
    result: Type.Enum(['observed', 'duplicate', 'outdated'], {
      description: 'Whether it is the newest, was known before, or is older than what is known',
    }),
  },
  { title: 'Status feed acceptance' },
)
export type Accepted = Static<typeof Accepted>

export const FeedState = Type.Object(
  {
    agent_id: AgentName,
    status: Type.Enum(STATUSES),
    message_id: Uuid,
    last_updated: DateTime,
    received_at: DateTime,
    capabilities: Type.Optional(Capabilities),
    uptime_s: Type.Optional(Uptime),
    notes: Type.Optional(Notes),
    stale: Type.Boolean({ description: 'Whether heartbeats that were due did not come' }),
    claimed: Type.Boolean({ description: 'Whether the name belongs to somebody (X-10)' }),
  },
  { title: 'Status feed state' },
)
export type FeedState = Static<typeof FeedState>

export const ErrorAnswer = Type.Object(ErrorBody.properties, { title: 'Status feed error' })
export type ErrorAnswer = Static<typeof ErrorAnswer>
