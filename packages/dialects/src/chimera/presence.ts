/**
 * When an agent was there of late, and what it said of itself: its posts of 24 hours, put together
 * to spans, so that a picture of a day is one short answer.
 */
import type { AgentId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Availability } from '@chimera/domain/presence/presence'
import { type Static, Type } from 'typebox'
import { asItIs, checker } from '../check.ts'
import type { Messages } from '../messages.ts'
import { DateTime, writeInstant } from '../wire.ts'

const STATES = ['available', 'busy', 'draining'] as const satisfies readonly Availability[]

export const PresenceHistory = Type.Object(
  {
    agent_id: Type.String({ minLength: 1, maxLength: LIMITS.keyChars }),
    since: DateTime,
    until: DateTime,
    up: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'In which share of that time it was there; since it registered, if that is less',
    }),
    spans: Type.Array(
      Type.Object({ state: Type.Enum([...STATES]), from: DateTime, until: DateTime }),
      {
        maxItems: LIMITS.presenceSpans,
        description: 'The oldest first; those of several instances overlap. Pauses are left out',
      },
    ),
  },
  { title: 'Presence of a day' },
)

export type PresenceShown = {
  readonly agent: AgentId
  readonly since: Instant
  readonly until: Instant
  readonly upMicro: number
  readonly spans: readonly {
    readonly state: Exclude<Availability, 'offline'>
    readonly begins: Instant
    readonly ends: Instant
  }[]
}

export const encodePresenceHistory = (shown: PresenceShown): Static<typeof PresenceHistory> => ({
  agent_id: shown.agent,
  since: writeInstant(shown.since),
  until: writeInstant(shown.until),
  up: shown.upMicro / 1_000_000,
  spans: shown.spans.map(({ state, begins, ends }) => ({
    state,
    from: writeInstant(begins),
    until: writeInstant(ends),
  })),
})

export const PRESENCE_MESSAGES = {
  'presence-history': { schema: PresenceHistory, read: asItIs(checker(PresenceHistory)) },
} satisfies Messages
