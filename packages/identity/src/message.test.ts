/** One signed message, every way to tamper with it, and a run that edits at random. */
import assert from 'node:assert/strict'
import type { PublicKey } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { canonicalText } from './canonical.ts'
import { encodeSignature, signBytes } from './ed25519.ts'
import { createKeyring } from './keyring.ts'
import { keyPairFromSeed } from './keys.ts'
import { signMessage, signMessageText, verifyMessage } from './message.ts'

const keyring = createKeyring()
const pair = keyPairFromSeed(Buffer.alloc(32, 1))
const stranger = keyPairFromSeed(Buffer.alloc(32, 2))

const presence = {
  agent_id: '6f2d5b9e-3b52-4f0e-9a53-0c4f4c6f3f11',
  state: 'available',
  capacity: { slots_total: 8, slots_free: 3 },
  load: { cpu: 0.12, mem: 0.48 },
  signed_at: '2026-01-01T00:00:00.000Z',
  a_field_of_tomorrow: ['unknown', null],
}
const signed = signMessage(presence, pair)

const verdict = (message: object, key: PublicKey = pair.publicKey): string => {
  const outcome = verifyMessage(message, key, keyring)
  return outcome.ok ? 'verified' : outcome.refusal
}

describe('X-9 AV-1 a signed message', () => {
  test('is signed over the canonical JSON without its signature, in base64', () => {
    const { signature, ...body } = signed
    assert.deepEqual(body, presence)
    assert.equal(signature, encodeSignature(signBytes(Buffer.from(canonicalText(presence)), pair)))
    assert.equal(Buffer.from(signature, 'base64').toString('base64'), signature)
  })

  test('is written with its signature as it was signed, and read back the same', () => {
    for (const message of [presence, { ...presence, signature: 'old' }, {}, { text: 'é "\n' }]) {
      const { message: made, text } = signMessageText(message, pair)
      assert.deepEqual(JSON.parse(text), made)
      assert.deepEqual(made, signMessage(message, pair))
      assert.equal(verdict(made), 'verified')
    }
  })

  const reordered = Object.fromEntries(Object.entries(signed).reverse())
  const { load: _, ...lacking } = signed
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [rule: string, message: object, verdict: string])[] = [
    ['verifies',                                  signed,                                        'verified'],
    ['verifies in any order of its fields',       reordered,                                     'verified'],
    ['signed anew, the old signature is replaced', signMessage(signed, pair),                    'verified'],
    ['a changed field',                           { ...signed, state: 'busy' },                  'signature_invalid'],
    ['a changed field that nobody here knows',    { ...signed, a_field_of_tomorrow: [] },        'signature_invalid'],
    ['an added field',                            { ...signed, extra: null },                    'signature_invalid'],
    ['a default that was filled in',              { ...signed, callback_url: null },             'signature_invalid'],
    ['a missing field',                           lacking,                                       'signature_invalid'],
    ['a number turned into a text',               { ...signed, load: { cpu: '0.12', mem: 0.48 } }, 'signature_invalid'],
    ['no signature',                              presence,                                      'signature_invalid'],
    ['an empty signature',                        { ...signed, signature: '' },                  'signature_invalid'],
    ['the signature of another message',          { ...signed, signature: signMessage({}, pair).signature }, 'signature_invalid'],
    ['the signature of another key',              signMessage(presence, stranger),               'signature_invalid'],
    ['a number that JSON can spell and RFC 8785 refuses', { ...signed, extra: JSON.parse('1e999') }, 'message_malformed'],
    ['a text that is no Unicode',                 { ...signed, extra: '\ud800' },                'message_malformed'],
  ]
  for (const [rule, message, expected] of rows) {
    test(rule, () => assert.equal(verdict(message), expected))
  }

  test('a key that is none', () => {
    assert.equal(verdict(signed, 'nonsense' as PublicKey), 'signature_invalid')
    assert.equal(verdict(signed, stranger.publicKey), 'signature_invalid')
  })

  test('what is not JSON is not signed', () => {
    assert.throws(() => signMessage({ at: new Date(0) }, pair), { code: 'value_not_json' })
    assert.throws(() => signMessage({ callback_url: undefined }, pair), { code: 'value_not_json' })
  })
})

const field = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 })
const value = fc.jsonValue({ maxDepth: 2 })
const body = fc
  .dictionary(field, value, { minKeys: 1, maxKeys: 6 })
  .map(({ signature: _, ...rest }) => rest)

test('X-9 any message verifies as it was signed, and after any edit it does not', () => {
  fc.assert(
    fc.property(body, field, value, (any, name, edit) => {
      const whole = signMessage(any, pair)
      const received = JSON.parse(JSON.stringify(whole)) as Record<string, unknown>
      assert.equal(verdict(received), 'verified')
      if (name === 'signature') return
      const edited = { ...received, [name]: edit }
      const { signature: _, ...left } = edited
      const same = canonicalText(left) === canonicalText(any)
      assert.equal(verdict(edited), same ? 'verified' : 'signature_invalid')
      const { [name]: _gone, ...shorter } = received
      if (Object.hasOwn(received, name)) assert.equal(verdict(shorter), 'signature_invalid', name)
    }),
  )
})

test('X-9 one flipped bit in the signature is refused', () => {
  fc.assert(
    fc.property(fc.nat({ max: 511 }), (bit) => {
      const bytes = Buffer.from(signed.signature, 'base64')
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      assert.equal(verdict({ ...signed, signature: encodeSignature(bytes) }), 'signature_invalid')
    }),
  )
})
