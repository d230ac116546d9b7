/**
 * A new key, introduced by the old one (AV-12, P-15).
 *
 *   Q1  The old key signs the whole message: only who holds it can hand over.
 *   Q2  The new key signs it too (`new_signature`): nobody can take over a key that is not theirs,
 *       or lock an agent to one that nobody has.
 *   Q3  It names the key that it replaces, so it cannot be played again once it has been obeyed.
 *
 * Whether the new key may be used, and from when, is decided by the domain (keys.ts there).
 */

import type { Key } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant, KeyId, PublicKey } from '@chimera/domain/ids'
import { canonicalBytes, canonicalParsed } from './canonical.ts'
import { decodeSignature, encodeSignature, signBytes, verifyBytes } from './ed25519.ts'
import { judgeFreshness } from './freshness.ts'
import type { Keyring } from './keyring.ts'
import { decodePublicKey, type KeyPair, keyIdOf } from './keys.ts'
import { type Signed, signMessage, verifyMessage } from './message.ts'

type Handover = {
  readonly agent_id: AgentId
  readonly old_key: KeyId
  readonly new_public_key: PublicKey
  readonly signed_at: string
}

export type RotationMessage = Signed<Handover & { readonly new_signature: string }>

export type Rotation = {
  readonly agent: AgentId
  /** The key whose signature was verified. */
  readonly signedBy: KeyId
  readonly key: Key
  readonly signedAt: Instant
}

export type RotationVerdict =
  | ({ readonly ok: true } & Rotation)
  | Refused<
      | 'message_malformed'
      | 'key_mismatch'
      | 'key_reused'
      | 'message_early'
      | 'message_expired'
      | 'signature_invalid'
    >

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

export function signRotation(
  agent: AgentId,
  pairs: { readonly old: KeyPair; readonly next: KeyPair },
  now: Instant,
): RotationMessage {
  const handover: Handover = {
    agent_id: agent,
    old_key: pairs.old.id,
    new_public_key: pairs.next.publicKey,
    signed_at: new Date(now).toISOString(),
  }
  const proof = encodeSignature(signBytes(canonicalBytes(handover), pairs.next))
  return signMessage({ ...handover, new_signature: proof }, pairs.old)
}

/** `present` is who the hub takes the sender for: the agent and the key bound to it now. */
export function verifyRotation(
  message: object,
  present: { readonly agent: AgentId; readonly publicKey: PublicKey },
  keyring: Keyring,
  now: Instant,
): RotationVerdict {
  const handover = decodeHandover(message)
  if (handover === undefined) return refuse('message_malformed')
  const { agent_id, old_key, new_public_key, signedAt, proof } = handover
  if (agent_id !== present.agent || old_key !== keyIdOf(present.publicKey)) {
    return refuse('key_mismatch')
  }
  if (new_public_key === present.publicKey) return refuse('key_reused')

  const freshness = judgeFreshness({ signedAt }, now)
  if (!freshness.ok) return freshness

  const verdict = verifyMessage(message, present.publicKey, keyring)
  if (!verdict.ok) return verdict
  const key = keyring.find(new_public_key)
  const proven = key !== undefined && verifyBytes(handover.bytes, proof, key)
  if (!proven) return refuse('signature_invalid')
  return {
    ok: true,
    agent: agent_id,
    signedBy: old_key,
    key: { id: key.id, publicKey: key.publicKey },
    signedAt,
  }
}

type Decoded = Handover & {
  readonly signedAt: Instant
  readonly proof: Uint8Array
  /** What the new key has signed: everything but the two signatures (Q2). */
  readonly bytes: Uint8Array
}

function decodeHandover(message: object): Decoded | undefined {
  const { signature: _, new_signature, ...body } = message as Record<string, unknown>
  const { agent_id, old_key, signed_at } = body
  const new_public_key = decodePublicKey(body.new_public_key)
  const proof = decodeSignature(new_signature)
  if (typeof agent_id !== 'string' || typeof old_key !== 'string') return undefined
  if (typeof signed_at !== 'string' || !INSTANT.test(signed_at)) return undefined
  const signedAt = Date.parse(signed_at)
  const canonical = canonicalParsed(body)
  if (Number.isNaN(signedAt) || canonical === undefined) return undefined
  if (new_public_key === undefined || proof === undefined) return undefined
  return {
    agent_id: agent_id.toLowerCase() as AgentId,
    old_key: old_key as KeyId,
    new_public_key,
    signed_at,
    signedAt,
    proof,
    bytes: Buffer.from(canonical, 'utf8'),
  }
}
