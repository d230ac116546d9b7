/** A recovery is proved by the key that it is for, and for one agent. */
import assert from 'node:assert/strict'
import type { AgentId, PublicKey } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { createKeyring } from './keyring.ts'
import { keyPairFromSeed } from './keys.ts'
import { signMessage } from './message.ts'
import { signRecovery, verifyRecovery } from './recovery.ts'

const NOW = 1_700_000_000_000
const keyring = createKeyring()
const next = keyPairFromSeed(Buffer.alloc(32, 2))
const thief = keyPairFromSeed(Buffer.alloc(32, 3))
const agent = '6f2d5b9e-3b52-4f0e-9a53-0c4f4c6f3f11' as AgentId
const other = '00000000-3b52-4f0e-9a53-0c4f4c6f3f11' as AgentId
const message = signRecovery(agent, next, NOW)

const outcome = (received: object, now = NOW, publicKey = next.publicKey): string => {
  const verdict = verifyRecovery(received, { publicKey, signedAt: NOW }, keyring, now)
  return verdict.ok ? verdict.key.id : verdict.refusal
}

describe('AV-12 a recovery', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, got: () => string, answer: string][] = [
    ['is proved by the new key',              () => outcome(message),                                        next.id],
    ['is not believed for another agent',     () => outcome({ ...message, agent_id: other }),                'signature_invalid'],
    ['is not proved by another key',          () => outcome(signMessage(message, thief)),                    'signature_invalid'],
    ['does not claim another key',            () => outcome(message, NOW, thief.publicKey),                  'signature_invalid'],
    ['is for a key, not for any text',        () => outcome(message, NOW, 'x'.repeat(43) as PublicKey),      'signature_invalid'],
    ['has a signature',                       () => outcome({ ...message, signature: undefined }),           'signature_invalid'],
    ['is a minute old at most',               () => outcome(message, NOW + 60_001),                          'message_expired'],
    ['is not from the future',                () => outcome(message, NOW - 30_001),                          'message_early'],
  ]
  for (const [rule, got, answer] of rows) test(rule, () => assert.equal(got(), answer))
})
