/** The feed's detached signature: RFC 8037's vector, and every way to forge one (SF-6). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { KeyId, PublicKey } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { signDetached, verifyDetached } from './detached-jws.ts'
import { signBytes } from './ed25519.ts'
import { createKeyring } from './keyring.ts'
import { keyPairFromJwk, keyPairFromSeed } from './keys.ts'

type Jose = {
  readonly key: unknown
  readonly ed25519: { readonly payload: string; readonly detached: string }
  readonly refused: readonly {
    readonly why: string
    readonly payload: string
    readonly detached: string
  }[]
}
const rfc = JSON.parse(
  readFileSync(new URL('../vectors/jose.json', import.meta.url), 'utf8'),
) as Jose

const keyring = createKeyring()
const rfcPair = keyPairFromJwk(rfc.key)
const old = keyPairFromSeed(Buffer.alloc(32, 1))
const next = keyPairFromSeed(Buffer.alloc(32, 2))

const known = new Map<KeyId, PublicKey>(
  [rfcPair, old, next].map((pair) => [pair.id, pair.publicKey]),
)
const keyOf = (id: KeyId) => known.get(id)
const body = Buffer.from('{"agent_id":"a","status":"AVAILABLE"}')

const outcome = async (text: string, over: Uint8Array = body, unnamed?: KeyId) => {
  const policy = unnamed === undefined ? { keyOf, keyring } : { keyOf, keyring, unnamed }
  const verdict = await verifyDetached(text, over, policy)
  return verdict.ok ? verdict.key : verdict.refusal
}

const craft = (header: object, over: Uint8Array = body): string => {
  const head = Buffer.from(JSON.stringify(header)).toString('base64url')
  const input = `${head}.${Buffer.from(over).toString('base64url')}`
  return `${head}..${Buffer.from(signBytes(Buffer.from(input), old)).toString('base64url')}`
}

describe('SF-6 X-9 the RFCs’ own examples', () => {
  const { payload, detached } = rfc.ed25519

  test('RFC 8037 A.4, detached by RFC 7515 appendix F, is reproduced', async () => {
    assert.equal(signDetached(Buffer.from(payload), rfcPair, {}), detached)
  })

  test('and verified, with the key that is meant where none is named', async () => {
    assert.equal(await outcome(detached, Buffer.from(payload), rfcPair.id), rfcPair.id)
    assert.equal(await outcome(detached, Buffer.from(payload)), 'caller_unknown')
  })

  for (const vector of rfc.refused) {
    test(`refused: ${vector.why}`, async () => {
      const over = Buffer.from(vector.payload)
      assert.equal(await outcome(vector.detached, over, rfcPair.id), 'signature_invalid')
    })
  }
})

describe('SF-6 X-9 the feed’s X-Signature', () => {
  test('covers the bytes of the body, not its value', async () => {
    const text = signDetached(body, old)
    assert.equal(await outcome(text), old.id)
    assert.equal(await outcome(text, Buffer.from(`${body} `)), 'signature_invalid')
  })

  test('names its key, so that the key can change from one message to the next', async () => {
    assert.equal(await outcome(signDetached(body, old)), old.id)
    assert.equal(await outcome(signDetached(body, next)), next.id)
  })

  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, text: () => string, outcome: string])[] = [
    ['as it should be',            () => craft({ alg: 'EdDSA', kid: old.id }),               old.id],
    ['a key that nobody knows',    () => craft({ alg: 'EdDSA', kid: 'who' }),                'caller_unknown'],
    ['the key of another',         () => craft({ alg: 'EdDSA', kid: next.id }),              'signature_invalid'],
    ['another algorithm',          () => craft({ alg: 'HS256', kid: old.id }),               'signature_invalid'],
    ['another name of it',         () => craft({ alg: 'Ed25519', kid: old.id }),             'signature_invalid'],
    ['no algorithm',               () => craft({ alg: 'none', kid: old.id }),                'signature_invalid'],
    ['an extension not understood', () => craft({ alg: 'EdDSA', kid: old.id, crit: ['x'], x: 1 }), 'signature_invalid'],
    ['an unencoded payload',       () => craft({ alg: 'EdDSA', kid: old.id, crit: ['b64'], b64: false }), 'signature_invalid'],
    ['a header that is no JSON',   () => `${Buffer.from('{').toString('base64url')}..${'A'.repeat(86)}`, 'caller_unknown'],
    ['no JWS at all',              () => 'nonsense',                                         'signature_invalid'],
    ['nothing',                    () => '',                                                 'signature_invalid'],
  ]
  for (const [why, text, expected] of rows) {
    test(why, async () => assert.equal(await outcome(text()), expected))
  }

  test('any change of any byte of any body is refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (any, at, change) => {
          const text = signDetached(any, old)
          const edited = Uint8Array.from(any)
          const place = at % any.length
          edited[place] = (edited[place] ?? 0) ^ change
          assert.equal(await outcome(text, any), old.id)
          assert.equal(await outcome(text, edited), 'signature_invalid')
        },
      ),
    )
  })
})
