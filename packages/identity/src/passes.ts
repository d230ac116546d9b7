/**
 * Passes: what a hub gives an agent for a signature, so that it need not sign each request to one
 * other agent, which believes the hub and verifies the pass by itself.
 *
 *   P1  A pass stands for a key at one door: it says whose signature it was given for, and the one
 *       agent that is to believe it. Elsewhere, at the hub too, it is worth nothing.
 *   P2  It is a type of its own: a session opens no agent's door, a pass none of the hub's.
 *   P3  It lives five minutes. Nobody is asked on use whether the hub still means it, but whose the
 *       key is now is: a rotated key ends its passes (decision 0056).
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant, KeyId, PublicKey } from '@chimera/domain/ids'
import { type JwtForm, readJwt, signJwt } from './jwt.ts'
import type { Keyring } from './keyring.ts'
import { decodePublicKey, type KeyPair, keyIdOf } from './keys.ts'

export const PASS_TTL_MS = 5 * 60 * 1_000

const FORM: JwtForm = { typ: 'chimera-pass+jwt', mostMs: PASS_TTL_MS }

export type Pass = {
  /** Whose signature it was given for. */
  readonly key: PublicKey
  /** Whose door it opens. */
  readonly at: AgentId
  readonly id: string
  readonly issuedAt: Instant
  readonly expiresAt: Instant
}

export type PassPolicy = {
  readonly at: AgentId
  /** The hub's present key, and no earlier one: whoever is late asks for another pass. */
  readonly hub: PublicKey
  readonly keyring: Keyring
}

export type PassVerdict =
  | { readonly ok: true; readonly pass: Pass }
  | Refused<'token_invalid' | 'token_expired'>

export function issuePass({ key, at, ...frame }: Pass, hub: KeyPair): Promise<string> {
  return signJwt(FORM, { ...frame, issuer: hub.id, audience: at, subject: key }, {}, hub)
}

export async function verifyPass(
  text: string,
  { at, hub, keyring }: PassPolicy,
  now: Instant,
): Promise<PassVerdict> {
  const issuer = keyIdOf(hub)
  const keyOf = (id: KeyId) => (id === issuer ? hub : undefined)
  const reading = await readJwt(FORM, text, { issuer, audience: at, keyOf, keyring }, now)
  if (reading.state === 'expired') return refuse('token_expired')
  if (reading.state === 'bad') return refuse('token_invalid')
  const { subject, id, issuedAt, expiresAt } = reading.frame
  const key = decodePublicKey(subject)
  if (key === undefined) return refuse('token_invalid')
  return { ok: true, pass: { key, at, id, issuedAt, expiresAt } }
}
