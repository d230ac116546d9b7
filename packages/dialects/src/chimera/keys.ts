/**
 * Which keys speak and spoke for an agent and for the hub, and how a lost one is replaced. A
 * rotation has its message in MoltBook, which names it.
 */
import type { Key, KeyHistory, KeyPeriod } from '@chimera/domain/agent/keys'
import type { AgentId, Instant, PublicKey } from '@chimera/domain/ids'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { DateTime, instantOf, readUuid, Uuid, writeInstant } from '../wire.ts'

/** 32 bytes as base64url without padding. */
const THIRTY_TWO_BYTES = '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$'
const named = {
  key_id: Type.String({
    pattern: THIRTY_TWO_BYTES,
    description: 'The RFC 7638 thumbprint of the key',
  }),
  public_key: Type.String({
    pattern: THIRTY_TWO_BYTES,
    description: 'An Ed25519 public key, as the x of its JWK',
  }),
}
const Period = Type.Object({
  ...named,
  from: DateTime,
  until: Type.Optional({ ...DateTime, description: 'Not itself included; absent: it speaks now' }),
})
const Periods = Type.Array(Period, { description: 'The oldest first' })

export const KeyRecovery = Type.Object(
  {
    agent_id: Uuid,
    public_key: named.public_key,
    signed_at: DateTime,
    signature: Type.String({
      pattern: '^[A-Za-z0-9+/]{85}[AQgw]==$',
      description: 'By the new key, over the canonical JSON of the message without this field',
    }),
  },
  { title: 'Key recovery', additionalProperties: false },
)
export const KeyHistoryShown = Type.Object(
  {
    agent_id: Uuid,
    keys: Periods,
    recovery: Type.Optional(Type.Object({ ...named, takes_effect_at: DateTime })),
  },
  { title: 'Key history' },
)
export const HubKeysShown = Type.Object({ ...named, keys: Periods }, { title: 'Keys of the hub' })

export type RecoveryAsked = {
  readonly agent: AgentId
  readonly publicKey: PublicKey
  readonly signedAt: Instant
}

export const readKeyRecovery = reader(
  checker(KeyRecovery),
  ({ agent_id, public_key, signed_at }): RecoveryAsked => ({
    agent: readUuid<AgentId>(agent_id),
    publicKey: public_key as PublicKey,
    signedAt: instantOf(signed_at),
  }),
)

export function encodeKeyHistory(
  agent: AgentId,
  { periods, recovery }: KeyHistory,
): Static<typeof KeyHistoryShown> {
  return {
    agent_id: agent,
    keys: periods.map(encodePeriod),
    ...(recovery && {
      recovery: {
        ...encodeKey(recovery.key),
        takes_effect_at: writeInstant(recovery.takesEffectAt),
      },
    }),
  }
}

/** `present` is the one that signs now. */
export function encodeHubKeys(present: Key, { periods }: KeyHistory): Static<typeof HubKeysShown> {
  return { ...encodeKey(present), keys: periods.map(encodePeriod) }
}

const encodeKey = ({ id, publicKey }: Key) => ({ key_id: id, public_key: publicKey })

const encodePeriod = ({ from, until, ...key }: KeyPeriod) => ({
  ...encodeKey(key),
  from: writeInstant(from),
  ...(until !== undefined && { until: writeInstant(until) }),
})

export const KEY_MESSAGES = {
  'key-recovery': { schema: KeyRecovery, read: readKeyRecovery },
  'key-history': { schema: KeyHistoryShown, read: asItIs(checker(KeyHistoryShown)) },
  'hub-keys': { schema: HubKeysShown, read: asItIs(checker(HubKeysShown)) },
} satisfies Messages
