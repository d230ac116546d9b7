/**
 * Who sent a message of the bus. There is no request around it that could be signed, so the message
 * is: by the key that the hub has for the agent that it names.
 *
 *   P1  Believed while it is fresh by its own time, and once: the same bytes again are a replay.
 *       Who repeats an ask signs it anew, and its key makes it the same ask (OC-12).
 *   P2  Always, also at an open hub: on a bus everybody can say everything.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant, PublicKey } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { createSeenNonces, judgeFreshness } from '@chimera/identity/freshness'
import { createKeyring } from '@chimera/identity/keyring'
import { verifyMessage } from '@chimera/identity/message'
import type { ReceivedMessage } from '@chimera/identity/received'
import type { Network } from '../ports.ts'

export type Claimed = { readonly by: AgentId; readonly signedAt: Instant }
export type Proven = { readonly ok: true; readonly key: PublicKey } | Refused<Refusal>
export type Prove = (message: ReceivedMessage, claimed: Claimed) => Promise<Proven>

// Three hundred asks a second for as long as they are remembered.
const MOST_SEEN = 36_000

export function createProof(
  network: Pick<Network, 'agent'>,
  now: () => Instant,
  most = MOST_SEEN,
): Prove {
  const keyring = createKeyring()
  const seen = createSeenNonces(most)

  /** By the key that the sender has now, also where we knew another one. */
  async function keyOf(message: ReceivedMessage, by: AgentId): Promise<Proven> {
    for (const fresh of [false, true]) {
      const known = await network.agent(by, fresh)
      if (known !== undefined && 'ok' in known) return known
      const key = known?.publicKey
      if (key !== undefined && verifyMessage(message, key, keyring).ok) return { ok: true, key }
    }
    return refuse('signature_invalid')
  }

  return async (message, { by, signedAt }) => {
    const fresh = judgeFreshness({ signedAt }, now())
    if (!fresh.ok) return fresh
    const proven = await keyOf(message, by)
    if (!proven.ok) return proven
    // Ed25519 gives the same bytes for the same message.
    const nonce = { key: proven.key, nonce: String(message.signature) }
    switch (await seen.remember(nonce, now())) {
      case 'fresh':
        return proven
      case 'seen':
        return refuse('message_replayed')
      case 'full':
        return refuse('service_unavailable')
    }
  }
}
