/**
 * The messages of MoltBook availability: presence, capabilities, the handshake that reserves slots,
 * key rotation, and what a hub answers about instances. These objects are the published JSON
 * Schemas. Unknown fields are ignored here and covered by signatures.
 */
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { ErrorBody } from '../error.ts'
import { requiredIf } from '../required-if.ts'
import { AnyObject, Credits, DateTime, SkillName, TraceId, textUpTo, Uuid } from '../wire.ts'
import { EVENTS_PER_PAGE, REJECT_REASONS, STATES, VERIFICATIONS } from './words.ts'

/** 64 bytes in the one spelling of base64 that they have: padded, no loose bits, no white space. */
const Signature = Type.String({
  pattern: '^[A-Za-z0-9+/]{85}[AQgw]==$',
  description: 'Ed25519 over the RFC 8785 canonical JSON of the message without this field',
})
/** 32 bytes as base64url without padding. */
const THIRTY_TWO_BYTES = '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$'
const PublicKeyText = Type.String({
  pattern: THIRTY_TWO_BYTES,
  description: 'An Ed25519 public key, as the x of its JWK',
})
const KeyIdText = Type.String({
  pattern: THIRTY_TWO_BYTES,
  description: 'The RFC 7638 thumbprint of a key',
})
const State = Type.Enum(STATES)
const Capabilities = Type.Array(SkillName, { maxItems: LIMITS.skillsPerAgent })
const SlotCount = Type.Integer({ minimum: 0, maximum: LIMITS.slotsPerInstance })
const Capacity = Type.Object({ slots_total: SlotCount, slots_free: SlotCount })
const Share = Type.Number({ minimum: 0, maximum: 1 })
const Load = Type.Object({ cpu: Share, mem: Share })
const CallbackUrl = Type.String({ format: 'http-url', maxLength: LIMITS.urlChars })

export const Presence = Type.Object(
  {
    agent_id: Uuid,
    instance_id: Uuid,
    state: State,
    capabilities: Capabilities,
    capacity: Capacity,
    load: Load,
    expires_at: DateTime,
    trace_id: TraceId,
    signed_at: DateTime,
    signature: Signature,
  },
  { title: 'MoltBook presence post' },
)
export type Presence = Static<typeof Presence>

export const Capability = Type.Object(
  {
    agent_id: Uuid,
    instance_id: Uuid,
    state: State,
    capabilities: Capabilities,
    callback_url: Type.Optional(CallbackUrl),
    public_key: PublicKeyText,
    trace_id: TraceId,
    signed_at: DateTime,
    expires_at: DateTime,
    signature: Signature,
  },
  { title: 'MoltBook capability declaration' },
)
export type Capability = Static<typeof Capability>

export const ReserveOffer = Type.Object(
  {
    planner_id: Uuid,
    task_id: Uuid,
    instance_id: Uuid,
    requested_slots: Type.Integer({ minimum: 1, maximum: LIMITS.slotsPerInstance }),
    deadline: DateTime,
    max_cost: Type.Optional({
      ...Credits,
      description: 'The most that the planner lets the hub hold for this task; absent means 0',
    }),
    trace_id: TraceId,
    signed_at: DateTime,
    expires_at: DateTime,
    signature: Signature,
  },
  { title: 'MoltBook reserve offer' },
)
export type ReserveOffer = Static<typeof ReserveOffer>

export const ReserveAck = Type.Object(
  {
    instance_id: Uuid,
    task_id: Uuid,
    accepted: Type.Boolean(),
    reservation_id: Type.Optional(Uuid),
    expires_at: Type.Optional(DateTime),
    reason: Type.Optional(Type.Enum(REJECT_REASONS)),
    retry_after_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
    trace_id: Type.Optional(TraceId),
    signed_at: Type.Optional(DateTime),
    signature: Signature,
  },
  {
    title: 'MoltBook reserve ack',
    allOf: [
      requiredIf('accepted', true, ['reservation_id', 'expires_at']),
      requiredIf('accepted', false, ['reason', 'trace_id', 'signed_at']),
    ],
  },
)
export type ReserveAck = Static<typeof ReserveAck>

export const Release = Type.Object(
  {
    reservation_id: Uuid,
    instance_id: Uuid,
    planner_id: Uuid,
    task_id: Uuid,
    released_by: Type.Enum(['planner', 'instance'], { description: 'Whose key signs the notice' }),
    trace_id: TraceId,
    signed_at: DateTime,
    signature: Signature,
  },
  { title: 'MoltBook release notice' },
)
export type Release = Static<typeof Release>

export const KeyRotation = Type.Object(
  {
    agent_id: Uuid,
    old_key: KeyIdText,
    new_public_key: PublicKeyText,
    signed_at: DateTime,
    new_signature: {
      ...Signature,
      description: 'By the new key, over the message without both signatures',
    },
    signature: { ...Signature, description: 'By the old key, over all but this field' },
  },
  { title: 'MoltBook key rotation' },
)
export type KeyRotation = Static<typeof KeyRotation>

export const DirectoryQuery = Type.Object(
  {
    capability: Type.Optional(
      Type.Array(SkillName, { minItems: 1, maxItems: 10, description: 'All of these' }),
    ),
    state: Type.Optional({ ...State, description: 'Absent: every instance that is not offline' }),
    min_slots_free: Type.Optional(SlotCount),
    agent_id: Type.Optional(Uuid),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.hitsPerPage })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
  },
  { title: 'MoltBook directory query' },
)
export type DirectoryQuery = Static<typeof DirectoryQuery>

export const InstanceEntry = Type.Object({
  agent_id: Uuid,
  instance_id: Uuid,
  state: State,
  liveness: Type.Enum(['online', 'suspect', 'offline']),
  capabilities: Capabilities,
  capacity: Capacity,
  load: Load,
  last_seen: DateTime,
  expires_at: DateTime,
  verification: Type.Enum(VERIFICATIONS),
  callback_url: Type.Optional(CallbackUrl),
  public_key: Type.Optional(PublicKeyText),
  why: Type.Array(textUpTo(LIMITS.descriptionChars), {
    maxItems: 20,
    description: 'Why this instance is here and in this place',
  }),
})
export type InstanceEntry = Static<typeof InstanceEntry>

export const Directory = Type.Object(
  {
    instances: Type.Array(InstanceEntry, { maxItems: LIMITS.hitsPerPage }),
    total: Type.Integer({ minimum: 0 }),
  },
  { title: 'MoltBook directory answer' },
)
export type Directory = Static<typeof Directory>

export const EventsQuery = Type.Object(
  {
    agent_id: Type.Optional(Uuid),
    instance_id: Type.Optional(Uuid),
    state: Type.Optional(State),
    since: Type.Optional({ ...DateTime, description: 'Absent: 24 hours ago' }),
    until: Type.Optional({ ...DateTime, description: 'Absent: now' }),
    after: Type.Optional({ ...Uuid, description: 'The last event seen: resumes behind it' }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: EVENTS_PER_PAGE })),
  },
  { title: 'MoltBook presence events query' },
)
export type EventsQuery = Static<typeof EventsQuery>

export const PresenceEvent = Type.Object({
  event_id: Uuid,
  agent_id: Uuid,
  instance_id: Uuid,
  state: State,
  capabilities: Capabilities,
  slots_total: SlotCount,
  slots_free: SlotCount,
  load: Load,
  trace_id: TraceId,
  signed_at: DateTime,
  expires_at: DateTime,
  received_at: DateTime,
  verification: Type.Enum(VERIFICATIONS),
  signature: Signature,
  raw_message: AnyObject,
})
export type PresenceEvent = Static<typeof PresenceEvent>

export const Events = Type.Object(
  {
    events: Type.Array(PresenceEvent, { maxItems: EVENTS_PER_PAGE, description: 'Oldest first' }),
    next_after: Type.Optional({ ...Uuid, description: 'Asked for as `after`: the next page' }),
  },
  { title: 'MoltBook presence events answer' },
)
export type Events = Static<typeof Events>

export const ErrorAnswer = Type.Object(ErrorBody.properties, { title: 'MoltBook error' })
export type ErrorAnswer = Static<typeof ErrorAnswer>
