/** One suite for both libraries: which one verifies must make no difference but speed. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { PublicKey } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { openBulk } from './bulk.ts'
import { createKeyring } from './keyring.ts'
import { keyPairFromSeed } from './keys.ts'
import { signMessage, verifyMessage } from './message.ts'
import { readMessage } from './received.ts'

const pair = keyPairFromSeed(Buffer.alloc(32, 1))
const keyring = createKeyring()
const native = await openBulk({ keyring })
const beside = await openBulk({ keyring, aside: true })
const plain = await openBulk({ keyring, load: () => Promise.reject(new Error('not installed')) })

const presence = {
  agent_id: '6f2d5b9e-3b52-4f0e-9a53-0c4f4c6f3f11',
  state: 'available',
  load: { cpu: 0.12, mem: 0.48 },
  signed_at: '2026-01-01T00:00:00.000Z',
}
const signed = signMessage(presence, pair)
const bytes = (message: object): Buffer => Buffer.from(JSON.stringify(message))

test('B2 the optional peer is used when it is there, and done without when it is not', () => {
  assert.equal(native.library, 'sodium-native')
  assert.equal(plain.library, 'node:crypto')
})

const bulks = [
  { bulk: native, how: 'sodium-native' },
  { bulk: beside, how: 'sodium-native beside' },
  { bulk: plain, how: 'node:crypto' },
]
for (const { bulk, how } of bulks) {
  describe(`AV-1 X-9 from bytes to a proven message, by ${how}`, () => {
    const outcome = async (received: Uint8Array, key: PublicKey = pair.publicKey) => {
      const verdict = await bulk.verifyMessageBytes(received, key)
      return verdict.ok ? 'verified' : verdict.refusal
    }

    test('gives the message as it was received, unknown fields included', async () => {
      const whole = signMessage({ ...presence, tomorrow: [1] }, pair)
      const verdict = await bulk.verifyMessageBytes(bytes(whole), pair.publicKey)
      assert.deepEqual(verdict, { ok: true, message: whole })
    })

    const twice = JSON.stringify(signed).replace('{', '{"state":"busy",')
    // biome-ignore format: a table is read by its columns
    const rows: readonly (readonly [rule: string, received: Uint8Array, outcome: string])[] = [
      ['spaces and order do not matter', Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(signed).reverse()), null, 2)), 'verified'],
      ['an edited field',                bytes({ ...signed, state: 'busy' }),        'signature_invalid'],
      ['no signature',                   bytes(presence),                            'signature_invalid'],
      ['no JSON',                        Buffer.from('nonsense'),                    'message_malformed'],
      ['a name twice, though JSON.parse would take the signed one', Buffer.from(twice), 'message_malformed'],
      ['a text that is no Unicode',      Buffer.from(JSON.stringify(signed).replace('{', '{"x":"\\ud800",')), 'message_malformed'],
      ['more than a body may have',      Buffer.alloc(300_000, 0x20),                'message_oversized'],
    ]
    for (const [rule, received, expected] of rows) {
      test(rule, async () => assert.equal(await outcome(received), expected))
    }

    test('a text that is no key', async () => {
      assert.equal(await outcome(bytes(signed), 'nonsense' as PublicKey), 'signature_invalid')
    })

    test('a message read first, because it names its key', async () => {
      const read = readMessage(bytes(signed))
      assert.ok(read.ok)
      assert.deepEqual(await bulk.verifyMessage(read.message, pair.publicKey), { ok: true })
    })
  })
}

test('B1 both libraries and the plain path agree on any edit of any message', async () => {
  const value = fc.jsonValue({ maxDepth: 2 })
  const body = fc.dictionary(fc.string(), value).map(({ signature: _, ...rest }) => rest)
  const flip = fc.option(fc.nat({ max: 511 }))
  await fc.assert(
    fc.asyncProperty(body, flip, fc.option(value), async (any, bit, extra) => {
      const whole: Record<string, unknown> = { ...signMessage(any, pair) }
      if (bit !== null) {
        const signature = Buffer.from(String(whole.signature), 'base64')
        signature[bit >> 3] = (signature[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        whole.signature = signature.toString('base64')
      }
      if (extra !== null) whole.extra = extra
      const one = await native.verifyMessageBytes(bytes(whole), pair.publicKey)
      const two = await plain.verifyMessageBytes(bytes(whole), pair.publicKey)
      const three = verifyMessage(JSON.parse(JSON.stringify(whole)), pair.publicKey, keyring)
      assert.deepEqual(one, two)
      assert.equal(one.ok, three.ok)
      if (bit !== null) assert.equal(one.ok, false)
      if (bit === null && extra === null) assert.equal(one.ok, true)
    }),
  )
})

test('B1 keys on which libraries differ verify nothing, by either', async () => {
  const { vectors } = JSON.parse(
    readFileSync(new URL('../vectors/ed25519-edges.json', import.meta.url), 'utf8'),
  ) as { vectors: { public: string; signature: string }[] }
  for (const vector of vectors) {
    const key = Buffer.from(vector.public, 'hex').toString('base64url') as PublicKey
    const signature = Buffer.from(vector.signature, 'hex').toString('base64')
    for (let at = 0; at < 16; at += 1) {
      const message = bytes({ at, signature })
      const one = await native.verifyMessageBytes(message, key)
      const two = await plain.verifyMessageBytes(message, key)
      assert.deepEqual([one.ok, two.ok], [false, false])
    }
  }
})
