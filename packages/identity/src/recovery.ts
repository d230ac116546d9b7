/**
 * A new key for an agent whose old one is lost, proved by itself. Who may ask for it is the owner's
 * token to say; the signature says that the new key is held by whoever asks.
 *
 *   R1  Nobody's agent is given to a key that nobody holds, nor to a key of somebody else's.
 *   R2  It names the agent, so that it proves nothing about another one.
 */
import type { Key } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant, PublicKey } from '@chimera/domain/ids'
import { judgeFreshness } from './freshness.ts'
import type { Keyring } from './keyring.ts'
import type { KeyPair } from './keys.ts'
import { type Signed, signMessage, verifyMessage } from './message.ts'

export type RecoveryMessage = Signed<{
  readonly agent_id: AgentId
  readonly public_key: PublicKey
  readonly signed_at: string
}>

/** What the message says, as its schema has let it through. */
export type RecoveryClaim = { readonly publicKey: PublicKey; readonly signedAt: Instant }

export type RecoveryVerdict =
  | { readonly ok: true; readonly key: Key }
  | Refused<'message_early' | 'message_expired' | 'message_malformed' | 'signature_invalid'>

export function signRecovery(agent: AgentId, next: KeyPair, now: Instant): RecoveryMessage {
  const claim = {
    agent_id: agent,
    public_key: next.publicKey,
    signed_at: new Date(now).toISOString(),
  }
  return signMessage(claim, next)
}

export function verifyRecovery(
  message: object,
  { publicKey, signedAt }: RecoveryClaim,
  keyring: Keyring,
  now: Instant,
): RecoveryVerdict {
  const freshness = judgeFreshness({ signedAt }, now)
  if (!freshness.ok) return freshness
  const verdict = verifyMessage(message, publicKey, keyring)
  if (!verdict.ok) return verdict
  const key = keyring.find(publicKey)
  return key === undefined
    ? refuse('signature_invalid')
    : { ok: true, key: { id: key.id, publicKey: key.publicKey } }
}
