/** What lets an agent speak at the broker for some minutes (AV-12): asked for, and given. */
import type { AgentId, InstanceId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { DateTime, instantOf, readUuid, Uuid, writeInstant } from '../wire.ts'

const ConnectionKey = Type.String({
  pattern: '^U[A-Z2-7]{55}$',
  description: 'Public half of a NATS user key that was made for this connection',
})
const Subjects = Type.Array(Type.String({ minLength: 1 }))

export const NewGrant = Type.Object(
  {
    agent_id: Type.Optional({ ...Uuid, description: 'Whose; the one that signs unless told' }),
    public_key: ConnectionKey,
    instance_ids: Type.Optional(
      Type.Array(Uuid, {
        maxItems: LIMITS.grantInstances,
        uniqueItems: true,
        description: 'Whose offers and releases it hears',
      }),
    ),
    ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.grantMs / 1_000 })),
  },
  { title: 'New grant', additionalProperties: false },
)
export const GrantMade = Type.Object(
  {
    grant: Type.String({
      minLength: 1,
      description: 'A NATS user token; worth nothing without the key that it names',
    }),
    agent_id: Uuid,
    public_key: ConnectionKey,
    addresses: Type.Array(Type.String({ minLength: 1 }), { description: 'Of the broker' }),
    inbox: Type.String({ minLength: 1, description: 'Where it may hear answers' }),
    publish: Subjects,
    subscribe: Subjects,
    expires_at: DateTime,
  },
  { title: 'Grant' },
)

export type GrantWanted = {
  readonly agent?: AgentId
  readonly connection: string
  readonly instances: readonly InstanceId[]
  readonly ttlMs?: number
}

export type GrantGiven = {
  readonly grant: string
  readonly agent: AgentId
  readonly connection: string
  readonly addresses: readonly string[]
  readonly inbox: string
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
  readonly expiresAt: Instant
}

export const readNewGrant = reader(
  checker(NewGrant),
  ({ agent_id, public_key, instance_ids = [], ttl_seconds }): GrantWanted => ({
    ...(agent_id !== undefined && { agent: readUuid<AgentId>(agent_id) }),
    connection: public_key,
    instances: instance_ids.map((each) => readUuid<InstanceId>(each)),
    ...(ttl_seconds !== undefined && { ttlMs: ttl_seconds * 1_000 }),
  }),
)

export const encodeNewGrant = (wanted: GrantWanted): Static<typeof NewGrant> => ({
  ...(wanted.agent !== undefined && { agent_id: wanted.agent }),
  public_key: wanted.connection,
  instance_ids: [...wanted.instances],
  ...(wanted.ttlMs !== undefined && { ttl_seconds: Math.floor(wanted.ttlMs / 1_000) }),
})

export const readGrant = reader(
  checker(GrantMade),
  (made): GrantGiven => ({
    grant: made.grant,
    agent: readUuid<AgentId>(made.agent_id),
    connection: made.public_key,
    addresses: made.addresses,
    inbox: made.inbox,
    publish: made.publish,
    subscribe: made.subscribe,
    expiresAt: instantOf(made.expires_at),
  }),
)

export const encodeGrant = (given: GrantGiven): Static<typeof GrantMade> => ({
  grant: given.grant,
  agent_id: given.agent,
  public_key: given.connection,
  addresses: [...given.addresses],
  inbox: given.inbox,
  publish: [...given.publish],
  subscribe: [...given.subscribe],
  expires_at: writeInstant(given.expiresAt),
})

export const GRANT_MESSAGES = {
  'new-grant': { schema: NewGrant, read: readNewGrant },
  'grant-made': { schema: GrantMade, read: readGrant, carries: ['grant'] },
} satisfies Messages
