/**
 * Names in the status feed that belong to somebody: to a registered agent, or to the
 * credential that publishes under them. Of the two the agent's claim is in agent.ts, since it
 * changes the agent.
 *
 *   N1  An alias has one holder, and keeps it: the first that could be told from others.
 *   N2  A holder has so many at most, since none is ever given back.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { AgentId, Alias } from '../ids.ts'
import { LIMITS } from '../limits.ts'

/**
 * Who is behind an alias: a registered agent, or a credential by its name, which outlives renewal.
 */
export type Holder =
  | { readonly by: 'agent'; readonly agent: AgentId }
  | { readonly by: 'credential'; readonly subject: string }

export type AliasHeld = {
  readonly type: 'alias_held'
  readonly alias: Alias
  readonly subject: string
}

/** Strongest first. */
export type HoldAliasRefusal = 'alias_taken' | 'aliases_exhausted'

/** By a credential. `holder` has the alias already, if anybody; `held` is how many it has. */
export function decideHoldAlias(
  { holder, held }: { readonly holder: Holder | undefined; readonly held: number },
  { alias, subject }: { readonly alias: Alias; readonly subject: string },
): Decision<AliasHeld, HoldAliasRefusal> {
  if (holder !== undefined) {
    return isSameHolder(holder, { by: 'credential', subject }) ? accept() : refuse('alias_taken')
  }
  if (held >= LIMITS.aliasesPerCredential) {
    return refuse('aliases_exhausted', { figures: { most: LIMITS.aliasesPerCredential } })
  }
  return accept({ type: 'alias_held', alias, subject })
}

export function isSameHolder(one: Holder, other: Holder): boolean {
  if (one.by === 'agent') return other.by === 'agent' && one.agent === other.agent
  return other.by === 'credential' && one.subject === other.subject
}
