/**
 * Passes: given for an agent's signature, believed by the one agent that they name, so that not
 * every request to it has to be signed (decision 0056).
 *
 *   S1  Only a key gets one, by a signature on this very request: neither a token nor a session is
 *       a key, and a pass stands for one.
 *   S2  A token beside the signature that must not spend makes no pass: hiring is spending.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { issuePass, PASS_TTL_MS } from '@chimera/identity/passes'
import { type Caller, forbidden, permit } from './caller.ts'
import type { Hub } from './hub.ts'

export type PassAsked = {
  /** Whose door it is to open. */
  readonly at: AgentId
  readonly ttlMs?: number
}

export type PassGiven = { readonly ok: true; readonly text: string; readonly expiresAt: Instant }

export async function givePass(
  hub: Hub,
  caller: Caller,
  { at, ttlMs = PASS_TTL_MS }: PassAsked,
): Promise<PassGiven | Refused<Refusal>> {
  if (hub.key === undefined || caller.session) return forbidden()
  const { agent, key } = caller
  if (agent === undefined || key === undefined) return forbidden()
  const permission = permit(caller, 'money')
  if (!permission.ok) return permission
  if (hub.directory.find(at) === undefined) return refuse('agent_unknown')
  const now = hub.now()
  // Whole seconds, as they are written in it.
  const expiresAt = Math.floor((now + Math.min(ttlMs, PASS_TTL_MS)) / 1_000) * 1_000
  if (expiresAt <= now) return refuse('token_expired')
  const pass = { key: key.publicKey, at, id: hub.uuid(), issuedAt: now, expiresAt }
  return { ok: true, text: await issuePass(pass, hub.key), expiresAt }
}
