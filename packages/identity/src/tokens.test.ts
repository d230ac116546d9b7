/** One good token; then everything that looks like one and is not. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { KeyId, PublicKey } from '@chimera/domain/ids'
import { SignJWT } from 'jose'
import { describe, test } from 'vitest'
import type { JwtPolicy } from './jwt.ts'
import { createKeyring } from './keyring.ts'
import { type KeyPair, keyPairFromSeed } from './keys.ts'
import { issueToken, TOKEN_TTL_MS, type Token, verifyToken } from './tokens.ts'

const NOW = 1_700_000_000_000
const hub = keyPairFromSeed(Buffer.alloc(32, 1))
const stranger = keyPairFromSeed(Buffer.alloc(32, 2))
const known = new Map<KeyId, PublicKey>([[hub.id, hub.publicKey]])
const policy: JwtPolicy = {
  issuer: 'https://hub.example',
  audience: 'chimera:bus',
  keyOf: (id) => known.get(id),
  keyring: createKeyring(),
}

const token: Token = {
  issuer: policy.issuer,
  audience: policy.audience,
  subject: 'agent-1',
  scopes: ['presence:publish', 'jobs:write'],
  id: 'jti-1',
  issuedAt: NOW,
  expiresAt: NOW + 300_000,
}

const outcome = async (text: string, now = NOW, change: Partial<JwtPolicy> = {}) => {
  const verdict = await verifyToken(text, { ...policy, ...change }, now)
  return verdict.ok ? 'verified' : verdict.refusal
}

const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

const claims = {
  iss: token.issuer,
  aud: token.audience,
  sub: token.subject,
  jti: token.id,
  iat: NOW / 1_000,
  exp: NOW / 1_000 + 300,
  scope: 'jobs:write',
}

type Change = Record<string, unknown>

/** A token with something wrong in it, yet properly signed. */
const craft = (payload: Change = {}, header: Change = {}, by: KeyPair = hub): Promise<string> =>
  new SignJWT({ ...claims, ...payload })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'chimera-token+jwt', kid: hub.id, ...header })
    .sign(by.privateKey)

describe('AV-12 a short-lived token', () => {
  test('says who, for what, with whom and until when', async () => {
    const verdict = await verifyToken(await issueToken(token, hub), policy, NOW)
    assert.deepEqual(verdict, { ok: true, token })
  })

  test('the test’s own forger makes a good one when nothing is wrong', async () => {
    assert.equal(await outcome(await craft()), 'verified')
  })

  test('names its type, its algorithm and its key', async () => {
    const [head = ''] = (await issueToken(token, hub)).split('.')
    assert.deepEqual(JSON.parse(Buffer.from(head, 'base64url').toString()), {
      alg: 'EdDSA',
      typ: 'chimera-token+jwt',
      kid: hub.id,
    })
  })

  test('ends on the second', async () => {
    const text = await issueToken(token, hub)
    assert.equal(await outcome(text, NOW + 299_999), 'verified')
    assert.equal(await outcome(text, NOW + 300_000), 'token_expired')
  })

  test('may be as much ahead as clocks may differ', async () => {
    const text = await issueToken(token, hub)
    assert.equal(await outcome(text, NOW - 30_000), 'verified')
    assert.equal(await outcome(text, NOW - 31_000), 'token_invalid')
  })

  test('is not made to live longer than it may, or not at all', async () => {
    const until = (expiresAt: number) => issueToken({ ...token, expiresAt }, hub)
    assert.equal(await outcome(await until(NOW + TOKEN_TTL_MS)), 'verified')
    await assert.rejects(until(NOW + TOKEN_TTL_MS + 1), { code: 'ttl_invalid' })
    await assert.rejects(until(NOW), { code: 'ttl_invalid' })
    await assert.rejects(until(Number.NaN), { code: 'ttl_invalid' })
  })

  test('is not made for a scope that would read as two', async () => {
    const made = issueToken({ ...token, scopes: ['jobs:read jobs:write'] }, hub)
    await assert.rejects(made, { code: 'scope_malformed' })
  })

  test('survives a change of the hub’s key while the old one is known', async () => {
    const text = await issueToken(token, hub)
    const next = keyPairFromSeed(Buffer.alloc(32, 3))
    const both = new Map<KeyId, PublicKey>([...known, [next.id, next.publicKey]])
    assert.equal(await outcome(text, NOW, { keyOf: (id) => both.get(id) }), 'verified')
    assert.equal(await outcome(text, NOW, { keyOf: () => undefined }), 'token_invalid')
  })
})

describe('AV-12 what is no token', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, text: () => Promise<string> | string, outcome: string])[] = [
    ['another issuer',             () => craft({ iss: 'https://other.example' }),            'token_invalid'],
    ['no issuer',                  () => craft({ iss: undefined }),                          'token_invalid'],
    ['another audience',           () => craft({ aud: 'chimera:publish' }),                  'token_invalid'],
    ['several audiences',          () => craft({ aud: [policy.audience, 'other'] }),         'token_invalid'],
    ['no audience',                () => craft({ aud: undefined }),                          'token_invalid'],
    ['no subject',                 () => craft({ sub: undefined }),                          'token_invalid'],
    ['no id',                      () => craft({ jti: undefined }),                          'token_invalid'],
    ['no time of issue',           () => craft({ iat: undefined }),                          'token_invalid'],
    ['no expiry',                  () => craft({ exp: undefined }),                          'token_invalid'],
    ['an expiry that is a text',   () => craft({ exp: '9999999999' }),                       'token_invalid'],
    ['a life of a year',           () => craft({ exp: NOW / 1_000 + 31_536_000 }),           'token_invalid'],
    ['no scope',                   () => craft({ scope: undefined }),                        'token_invalid'],
    ['not valid yet',              () => craft({ nbf: NOW / 1_000 + 60 }),                   'token_invalid'],
    ['an expired one',             () => craft({ exp: NOW / 1_000 - 1 }),                    'token_expired'],
    ['an expired one of another audience', () => craft({ exp: NOW / 1_000 - 1, aud: 'other' }), 'token_invalid'],
    ['another type',               () => craft({}, { typ: 'chimera-approval+jwt' }),         'token_invalid'],
    ['the common type',            () => craft({}, { typ: 'JWT' }),                          'token_invalid'],
    ['no type',                    () => craft({}, { typ: undefined }),                      'token_invalid'],
    ['another name of the algorithm', () => craft({}, { alg: 'Ed25519' }),                   'token_invalid'],
    ['no key named',               () => craft({}, { kid: undefined }),                      'token_invalid'],
    ['a key that nobody knows',    () => craft({}, { kid: stranger.id }, stranger),          'token_invalid'],
    ['signed by another',          () => craft({}, {}, stranger),                            'token_invalid'],
    ['nothing',                    () => '',                                                 'token_invalid'],
    ['nonsense',                   () => 'a.b.c',                                            'token_invalid'],
  ]
  for (const [why, text, expected] of rows) {
    test(why, async () => assert.equal(await outcome(await text()), expected))
  }

  test('an edited one', async () => {
    const [head, , signature] = (await craft()).split('.')
    const edited = `${head}.${base64({ ...claims, scope: 'admin' })}.${signature}`
    assert.equal(await outcome(edited), 'token_invalid')
  })

  test('one without a signature (none)', async () => {
    for (const alg of ['none', 'None', 'NONE']) {
      const head = base64({ alg, typ: 'chimera-token+jwt', kid: hub.id })
      assert.equal(await outcome(`${head}.${base64(claims)}.`), 'token_invalid')
    }
  })

  test('one keyed with our public key (HS256)', async () => {
    const header = { alg: 'HS256', typ: 'chimera-token+jwt', kid: hub.id }
    const input = `${base64(header)}.${base64(claims)}`
    const secrets = [
      Buffer.from(hub.publicKey),
      Buffer.from(hub.publicKey, 'base64url'),
      Buffer.from(JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: hub.publicKey })),
    ]
    for (const secret of secrets) {
      const mac = createHmac('sha256', secret).update(input).digest('base64url')
      assert.equal(await outcome(`${input}.${mac}`), 'token_invalid')
    }
  })
})
