/**
 * Who is on the network: an id, an owner, a key, and what it offers.
 *
 *   G1  An id belongs to the owner and the key that first took it; nobody else can register it.
 *   G2  Registering again updates the entry and keeps key, score and history (CH-1).
 *   G3  A removed agent leaves a tombstone, so that coming back is a return and not a fresh start
 *       with a clean score (CH-14).
 *   G4  An alias belongs to one agent.
 *   G5  Without a signature an agent is registered only on an open hub.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { AgentId, Alias, Instant, OwnerId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { type HoldAliasRefusal, type Holder, isSameHolder } from './alias.ts'
import { applyKey, decideBind, type Key, type KeyFact, type KeyHistory, NO_KEYS } from './keys.ts'
import { decideOffers, type VersionOffer } from './skill-version.ts'

/** What kind of help a skill gives, where a document asks for one of four. */
export const CATEGORIES = [
  'trend_consumption',
  'content_generation',
  'content_validation',
  'trend_analysis',
] as const
export type Category = (typeof CATEGORIES)[number]
/** what a skill that names no category is advertised as. */
export const DEFAULT_CATEGORY: Category = 'content_generation'

/** A JSON Schema that an agent published. Untrusted: bounded before it comes here. */
export type PublishedSchema = Readonly<Record<string, unknown>>

export type Skill = VersionOffer & {
  readonly title?: string
  readonly description: string
  readonly priceCents: number
  readonly input?: PublishedSchema
  readonly output?: PublishedSchema
  readonly category?: Category
  readonly durationMs?: number
  readonly needsApproval?: boolean
}

export type Profile = {
  readonly name: string
  readonly endpoint?: string
  readonly skills: readonly Skill[]
  /** The version of the agent's own software, as it states it. */
  readonly version?: string
}

export type Agent = Profile & {
  readonly id: AgentId
  readonly owner: OwnerId
  readonly keys: KeyHistory
  readonly aliases: readonly Alias[]
  readonly registeredAt: Instant
  readonly removedAt?: Instant
}

export type Registration = {
  readonly type: 'register_agent'
  readonly id: AgentId
  readonly owner: OwnerId
  readonly profile: Profile
}

/** What the edge has established about who is registering. */
export type Registrant = {
  /** The key whose signature was verified; absent when nothing was signed. */
  readonly key?: Key
  /** The owner of the presented token; absent on an open hub. */
  readonly owner?: OwnerId
  readonly open: boolean
  /** How many agents this owner has, this one not counted. */
  readonly ownedAgents: number
}

export type AgentFact =
  | {
      readonly type: 'agent_registered'
      readonly id: AgentId
      readonly owner: OwnerId
      readonly profile: Profile
      readonly at: Instant
    }
  | { readonly type: 'profile_changed'; readonly id: AgentId; readonly profile: Profile }
  | { readonly type: 'agent_returned'; readonly id: AgentId; readonly profile: Profile }
  | { readonly type: 'agent_removed'; readonly id: AgentId; readonly at: Instant }
  | { readonly type: 'alias_claimed'; readonly id: AgentId; readonly alias: Alias }
  | { readonly type: 'key_changed'; readonly id: AgentId; readonly change: KeyFact }

/** Strongest first. */
export type RegisterRefusal =
  | 'caller_unknown'
  | 'owner_mismatch'
  | 'key_mismatch'
  | 'agents_exhausted'
  | 'skills_invalid'
  | 'notice_too_short'

export function decideRegister(
  agent: Agent | undefined,
  { id, owner, profile }: Registration,
  registrant: Registrant,
  now: Instant,
): Decision<AgentFact, RegisterRefusal> {
  const { key, open } = registrant
  if (key === undefined && !open) return refuse('caller_unknown')
  if (registrant.owner !== undefined && registrant.owner !== owner) return refuse('owner_mismatch')
  if (registrant.owner === undefined && !open) return refuse('owner_mismatch')
  if (agent !== undefined && agent.owner !== owner) return refuse('owner_mismatch')

  const history = agent?.keys ?? NO_KEYS
  // A bound agent is not updated without its key, not even on an open hub.
  if (key === undefined && history.periods.length > 0) return refuse('key_mismatch')
  const bound = key === undefined ? accept<KeyFact>() : decideBind(history, key, now)
  if (!bound.ok) return bound

  if (agent === undefined && registrant.ownedAgents >= LIMITS.agentsPerOwner) {
    return refuse('agents_exhausted', { figures: { most: LIMITS.agentsPerOwner } })
  }
  const offers = decideOffers(profile.skills)
  if (!offers.ok) return offers

  const keyFacts = bound.facts.map((change): AgentFact => ({ type: 'key_changed', id, change }))
  if (agent === undefined) {
    return accept({ type: 'agent_registered', id, owner, profile, at: now }, ...keyFacts)
  }
  if (agent.removedAt !== undefined)
    return accept({ type: 'agent_returned', id, profile }, ...keyFacts)
  return accept({ type: 'profile_changed', id, profile }, ...keyFacts)
}

export function decideRemove(
  agent: Agent | undefined,
  by: OwnerId,
  now: Instant,
): Decision<AgentFact, 'agent_unknown' | 'caller_forbidden'> {
  if (agent === undefined) return refuse('agent_unknown')
  if (agent.owner !== by) return refuse('caller_forbidden')
  if (agent.removedAt !== undefined) return accept()
  return accept({ type: 'agent_removed', id: agent.id, at: now })
}

/** `holder` has the alias already, if anybody. */
export function decideClaimAlias(
  agent: Agent,
  alias: Alias,
  holder: Holder | undefined,
): Decision<AgentFact, HoldAliasRefusal> {
  if (holder !== undefined) {
    return isSameHolder(holder, { by: 'agent', agent: agent.id }) ? accept() : refuse('alias_taken')
  }
  if (agent.aliases.length >= LIMITS.aliasesPerAgent) {
    return refuse('aliases_exhausted', { figures: { most: LIMITS.aliasesPerAgent } })
  }
  return accept({ type: 'alias_claimed', id: agent.id, alias })
}

export function applyAgent(agent: Agent | undefined, fact: AgentFact): Agent | undefined {
  if (fact.type === 'agent_registered') {
    const { id, owner, profile, at } = fact
    return { ...profile, id, owner, keys: NO_KEYS, aliases: [], registeredAt: at }
  }
  if (agent === undefined) return undefined
  switch (fact.type) {
    case 'profile_changed':
    case 'agent_returned': {
      const { id, owner, keys, aliases, registeredAt } = agent
      return { ...fact.profile, id, owner, keys, aliases, registeredAt }
    }
    case 'agent_removed':
      return { ...agent, removedAt: fact.at }
    case 'alias_claimed':
      return { ...agent, aliases: [...agent.aliases, fact.alias] }
    case 'key_changed':
      return { ...agent, keys: applyKey(agent.keys, fact.change) }
  }
}
