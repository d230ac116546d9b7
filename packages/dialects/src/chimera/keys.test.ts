/** What is written of keys is what its schema says, and nothing of it is lost. */
import assert from 'node:assert/strict'
import type { Key, KeyHistory } from '@chimera/domain/agent/keys'
import type { AgentId, KeyId, PublicKey } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { encodeHubKeys, encodeKeyHistory, KEY_MESSAGES } from './keys.ts'

const AGENT = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11' as AgentId
const text = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return `${[...bytes, ...bytes]
    .map((byte) => alphabet[byte % 64])
    .slice(0, 42)
    .join('')}A`
})
const key: fc.Arbitrary<Key> = fc
  .tuple(text, text)
  .map(([id, publicKey]) => ({ id: id as KeyId, publicKey: publicKey as PublicKey }))
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
const history: fc.Arbitrary<KeyHistory> = fc.record(
  {
    periods: fc.array(
      fc.tuple(key, instant, fc.option(instant, { nil: undefined })).map(([each, from, until]) => ({
        ...each,
        from,
        ...(until !== undefined && { until }),
      })),
      { maxLength: 5 },
    ),
    recovery: fc.record({ key, takesEffectAt: instant }),
  },
  { requiredKeys: ['periods'] },
)

type Written = { key_id: string; public_key: string; from: string; until?: string }
const readPeriod = ({ key_id, public_key, from, until }: Written) => ({
  id: key_id,
  publicKey: public_key,
  from: Date.parse(from),
  ...(until !== undefined && { until: Date.parse(until) }),
})

describe('P-15 a history of keys', () => {
  test('is read back as it was written', () => {
    fc.assert(
      fc.property(history, (kept) => {
        const read = KEY_MESSAGES['key-history'].read(encodeKeyHistory(AGENT, kept))
        assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.particulars))
        const { agent_id, keys, recovery } = read.value
        assert.equal(agent_id, AGENT)
        assert.deepEqual(keys.map(readPeriod), kept.periods)
        assert.equal(recovery?.key_id, kept.recovery?.key.id)
        const at = recovery && Date.parse(recovery.takes_effect_at)
        assert.equal(at, kept.recovery?.takesEffectAt)
      }),
    )
  })

  test('of the hub names the key that signs now', () => {
    fc.assert(
      fc.property(key, history, (present, kept) => {
        const read = KEY_MESSAGES['hub-keys'].read(encodeHubKeys(present, kept))
        assert.ok(read.ok)
        assert.deepEqual(
          [read.value.key_id, read.value.public_key],
          [present.id, present.publicKey],
        )
        assert.deepEqual(read.value.keys.map(readPeriod), kept.periods)
      }),
    )
  })
})
