/** Passes: how an agent asks its hub for one, and what the hub that signed it is known by. */
import type { AgentId, Instant, PublicKey } from '@chimera/domain/ids'
import { Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { DateTime, instantOf, readUuid, Uuid, writeInstant } from '../wire.ts'
import { HubKeysShown } from './keys.ts'

export const NewPass = Type.Object(
  {
    agent_id: { ...Uuid, description: 'The agent that is to believe it' },
    ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 300 })),
  },
  { title: 'New pass', additionalProperties: false },
)
export const PassMade = Type.Object(
  {
    token: Type.String({ minLength: 1, description: 'To be shown to that agent as a bearer' }),
    agent_id: Uuid,
    expires_at: DateTime,
  },
  { title: 'Pass made' },
)

export type PassWanted = { readonly at: AgentId; readonly ttlMs?: number }

export const readNewPass = reader(
  checker(NewPass),
  ({ agent_id, ttl_seconds }): PassWanted => ({
    at: readUuid<AgentId>(agent_id),
    ...(ttl_seconds !== undefined && { ttlMs: ttl_seconds * 1_000 }),
  }),
)

export const encodePass = (
  at: AgentId,
  { text, expiresAt }: { readonly text: string; readonly expiresAt: Instant },
) => ({ token: text, agent_id: at, expires_at: writeInstant(expiresAt) })

export const encodeNewPass = (at: AgentId) => ({ agent_id: at })

export const readPassMade = reader(
  checker(PassMade),
  ({ token, expires_at }): { readonly text: string; readonly expiresAt: Instant } => ({
    text: token,
    expiresAt: instantOf(expires_at),
  }),
)

/** The one that the hub signs with now. */
export const readHubKey = reader(
  checker(HubKeysShown),
  ({ public_key }): PublicKey => public_key as PublicKey,
)

export const PASS_MESSAGES = {
  'new-pass': { schema: NewPass, read: readNewPass },
  'pass-made': { schema: PassMade, read: asItIs(checker(PassMade)), carries: ['token'] },
} satisfies Messages
