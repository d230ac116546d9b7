/**
 * Who is asking, and what that allows. How it was established is the edge's affair
 * (http/caller.ts); actions only ask what is written here.
 *
 *   W1  On an open hub everybody may do everything, but make tokens: those would outlive the open
 *       time.
 *   W2  A token allows what its scopes name. A key allows what an agent does for its owner.
 *   W3  An agent speaks for itself; its owner's token speaks for all of the owner's agents.
 *   W4  An operator runs the hub and is nobody's owner: it moves no money of others.
 */
import type { Key } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Digest, Instant, OwnerId } from '@chimera/domain/ids'
import { SCOPES, type Scope } from '@chimera/domain/scopes'

export type PresentedToken = {
  readonly id: string
  readonly digest: Digest
  readonly expiresAt?: Instant
  readonly capCents?: number
}

export type Caller = {
  readonly open: boolean
  readonly operator: boolean
  /** Of the token, or of the agent whose key signed. */
  readonly owner?: OwnerId
  readonly agent?: AgentId
  /** The key that signed, whether or not it is bound to an agent yet. */
  readonly key?: Key
  readonly token?: PresentedToken
  readonly scopes: readonly Scope[]
  /** Known by a short-lived token, not by what that was given for. */
  readonly session: boolean
}

/** Whoever reaches an open hub. */
export const ANYBODY: Caller = { open: true, operator: false, scopes: SCOPES, session: false }
/** Whoever reads what is public elsewhere. */
export const STRANGER: Caller = { open: false, operator: false, scopes: [], session: false }

export type Permission = { readonly ok: true } | Refused<'caller_forbidden'>

export const forbidden = (): Refused<'caller_forbidden'> => refuse('caller_forbidden')

export function permit(caller: Caller, scope: Scope): Permission {
  return caller.scopes.includes(scope) ? { ok: true } : forbidden()
}

/** For what is the owner's own: its money, its payments. */
export function permitOwner(caller: Caller, scope: Scope, owner: OwnerId): Permission {
  return caller.open || caller.owner === owner ? permit(caller, scope) : forbidden()
}

export function permitAgent(
  caller: Caller,
  agent: { readonly id: AgentId; readonly owner: OwnerId },
): Permission {
  const itself = caller.agent === agent.id
  const owned = caller.token !== undefined && caller.owner === agent.owner
  return caller.open || itself || owned ? permit(caller, 'agents') : forbidden()
}

export function isOperator({ open, operator, scopes }: Caller): boolean {
  return open || (operator && scopes.includes('operate'))
}

/** The name of a caller in facts and logs. Who proved nothing has none of its own. */
export function nameOf({ token, agent }: Caller): string {
  if (token !== undefined) return `token:${token.id}`
  return agent === undefined ? 'stranger' : `agent:${agent}`
}
