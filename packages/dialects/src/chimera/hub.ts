/**
 * What a hub says of itself to whoever asks, and whom it takes the caller for: what a page needs to
 * know before it shows anything. Its settings, without secrets, are for operators.
 */
import type { Instant, OwnerId } from '@chimera/domain/ids'
import { SCOPES, type Scope } from '@chimera/domain/scopes'
import { type Static, Type } from 'typebox'
import { asItIs, checker } from '../check.ts'
import type { Messages } from '../messages.ts'
import { DateTime, OwnerName, writeInstant } from '../wire.ts'

const Count = Type.Integer({ minimum: 0 })

export const HubShown = Type.Object(
  {
    open: Type.Boolean({ description: 'Whether it believes whoever asks' }),
    now: DateTime,
    started_at: DateTime,
    agents: Count,
    sealed: { ...Count, description: 'How far the chain of facts goes, as this hub has seen' },
    database: Type.Enum(['embedded', 'server']),
    broker: Type.Enum(['none', 'connected', 'away', 'closed']),
    followers: { ...Count, description: 'Readers of the live feed at this hub' },
    you: Type.Object({
      kind: Type.Enum(['anybody', 'operator', 'owner', 'agent']),
      owner_id: Type.Optional(OwnerName),
      scopes: Type.Array(Type.Enum([...SCOPES])),
      expires_at: Type.Optional(DateTime),
    }),
    settings: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), value: Type.String(), about: Type.String() }), {
        description: 'For operators; secrets are not shown',
      }),
    ),
  },
  { title: 'Hub' },
)

export type HubTold = {
  readonly open: boolean
  readonly now: Instant
  readonly startedAt: Instant
  readonly agents: number
  readonly sealed: number
  readonly database: 'embedded' | 'server'
  readonly broker: 'none' | 'connected' | 'away' | 'closed'
  readonly followers: number
  readonly you: {
    readonly kind: 'anybody' | 'operator' | 'owner' | 'agent'
    readonly owner?: OwnerId
    readonly scopes: readonly Scope[]
    readonly expiresAt?: Instant
  }
  readonly settings?: readonly {
    readonly name: string
    readonly value: string
    readonly about: string
  }[]
}

export const encodeHub = (told: HubTold): Static<typeof HubShown> => ({
  open: told.open,
  now: writeInstant(told.now),
  started_at: writeInstant(told.startedAt),
  agents: told.agents,
  sealed: told.sealed,
  database: told.database,
  broker: told.broker,
  followers: told.followers,
  you: {
    kind: told.you.kind,
    ...(told.you.owner !== undefined && { owner_id: told.you.owner }),
    scopes: [...told.you.scopes],
    ...(told.you.expiresAt !== undefined && { expires_at: writeInstant(told.you.expiresAt) }),
  },
  ...(told.settings && { settings: told.settings.map((each) => ({ ...each })) }),
})

export const HUB_MESSAGES = {
  hub: { schema: HubShown, read: asItIs(checker(HubShown)) },
} satisfies Messages
