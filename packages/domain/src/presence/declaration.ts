/**
 * What an instance declares of itself when it changes: its capabilities, where it takes offers, and
 * that it drains (AV-2, AV-5). Signatures and the key that it names are checked before.
 *
 *   C1  `signedAt` rises strictly per instance, so an old address never comes back.
 *   C2  A declaration is a message of the moment: it is taken while it is valid, and what it says
 *       holds until the next one, or until a post that was signed later says otherwise.
 *   C3  An instance id belongs to the agent that spoke under it first, here and in posts.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { AgentId, InstanceId, Instant, PublicKey } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { BRAKE_OFF, type Brake } from './eviction.ts'
import {
  type Availability,
  availabilityOf,
  type PresenceRefusal,
  type Sighting,
} from './presence.ts'

export type Declaration = {
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly availability: Availability
  readonly capabilities: readonly string[]
  /** Where the instance takes offers; absent: at its queue. */
  readonly callback?: string
  readonly claimedKey: PublicKey
  readonly signedAt: Instant
  readonly expiresAt: Instant
}

export type Known = {
  readonly declared: Declaration | undefined
  readonly seen: Sighting | undefined
}

export type InstanceDeclared = {
  readonly type: 'instance_declared'
  readonly declaration: Declaration
}

/** Strongest first. */
export type DeclarationRefusal = Exclude<PresenceRefusal, 'slots_invalid'>

export function decideDeclaration(
  { declared, seen }: Known,
  declaration: Declaration,
  now: Instant,
): Decision<InstanceDeclared, DeclarationRefusal> {
  const { agent, signedAt, expiresAt } = declaration
  if (expiresAt - signedAt > LIMITS.presenceTtlMs) {
    return refuse('expiry_too_far', { figures: { mostMs: LIMITS.presenceTtlMs } })
  }
  const holder = seen?.last.agent ?? declared?.agent
  if (holder !== undefined && holder !== agent) return refuse('caller_forbidden')
  if (signedAt > now + LIMITS.skewMs) {
    return refuse('message_early', { retryAt: signedAt - LIMITS.skewMs })
  }
  if (expiresAt <= Math.max(now, signedAt)) return refuse('message_expired')
  if (declared?.signedAt === signedAt) return refuse('message_replayed')
  if (declared !== undefined && signedAt < declared.signedAt) return refuse('message_outdated')
  return accept({ type: 'instance_declared', declaration })
}

/** C2: the instance as it last described itself, by post or by declaration. */
export function latestWord(
  seen: Sighting,
  declared: Declaration | undefined,
): { readonly availability: Availability; readonly capabilities: readonly string[] } {
  const newer = declared !== undefined && declared.signedAt > seen.last.signedAt
  return newer ? declared : seen.last
}

/** What the directory says of an instance; a declaration never brings one back that fell. */
export function declaredAvailability(
  { seen, declared }: { readonly seen: Sighting; readonly declared: Declaration | undefined },
  now: Instant,
  brake: Brake = BRAKE_OFF,
): Availability {
  const posted = availabilityOf(seen, now, brake)
  return posted === 'offline' ? posted : latestWord(seen, declared).availability
}
