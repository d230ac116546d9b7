/**
 * What an agent says of who it is and what it offers: its registration, its identity (OC-1) and its
 * declared capabilities (AV-2), each made from the same profile.
 */
import { encodeRegistration, type Reachable } from '@chimera/dialects/chorus'
import {
  encodeCapability,
  encodeStanding,
  type schema as moltbook,
} from '@chimera/dialects/moltbook'
import { capabilityId, encodeIdentity } from '@chimera/dialects/openclaw'
import type { Profile } from '@chimera/domain/agent/agent'
import type { Standing } from '@chimera/domain/agent/condition'
import type { CorrelationId, Digest, Instant, OwnerId } from '@chimera/domain/ids'
import { presenceExpiry } from '@chimera/domain/presence/presence'
import { NO_WINDOW, type WindowRecord } from '@chimera/domain/trust/window-score'
import { canonicalDigest } from '@chimera/identity/canonical'
import { type Signed, signMessage } from '@chimera/identity/message'
import type { Self } from './self.ts'

/** What is offered, where, and under which terms. */
export type Offered = Profile &
  Reachable & {
    /** Where offers to reserve are taken; absent: at the instance's queue. */
    readonly callback?: string
    /** OC-20: what the agent enforces; absent where it has no limit. */
    readonly perMinute?: number
  }

export type Portrayed = {
  readonly self: Self
  readonly owner: OwnerId
  readonly offered: Offered
  readonly standing: Standing
  readonly correlation: CorrelationId
  /** What the agent remembers of its own work. */
  readonly window?: WindowRecord
}

/** What changes when any part of what is offered does, as it would stand in a message. */
export function digestOffered(offered: Offered): Digest {
  return canonicalDigest(JSON.parse(JSON.stringify(offered)))
}

/** As presence and capabilities name them. */
export function capabilitiesOf({ skills }: Pick<Profile, 'skills'>): readonly string[] {
  return skills.map(capabilityId)
}

export function registrationOf({ self, owner, offered }: Portrayed, now: Instant): object {
  const { callback: _, perMinute: __, ...profile } = offered
  const registration = { type: 'register_agent', id: self.agent, owner, profile } as const
  return encodeRegistration(registration, now)
}

export function identityOf(portrayed: Portrayed, now: Instant): object {
  const { self, offered, standing, correlation, window = NO_WINDOW } = portrayed
  const { name, skills, version, perMinute } = offered
  return encodeIdentity(
    {
      agent: { id: self.agent, name, skills, ...(version !== undefined && { version }) },
      standing,
      window,
      ...(perMinute !== undefined && { perMinute }),
      correlation,
    },
    now,
  )
}

export function declarationOf(portrayed: Portrayed, now: Instant): Signed<moltbook.Capability> {
  const { self, offered, standing, correlation } = portrayed
  const key = self.keys.pair()
  const availability = encodeStanding(standing)
  const declared = encodeCapability({
    type: 'declare_capabilities',
    agent: self.agent,
    instance: self.instance,
    availability,
    capabilities: capabilitiesOf(offered),
    ...(offered.callback !== undefined && { callback: offered.callback }),
    claimedKey: key.publicKey,
    correlation,
    signedAt: now,
    expiresAt: presenceExpiry(availability, now),
  })
  return signMessage(declared, key)
}
