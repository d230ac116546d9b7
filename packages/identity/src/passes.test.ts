/** One good pass; then everything that looks like one and is not. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { AgentId } from '@chimera/domain/ids'
import { SignJWT } from 'jose'
import { describe, test } from 'vitest'
import { createKeyring } from './keyring.ts'
import { type KeyPair, keyPairFromSeed } from './keys.ts'
import { issuePass, PASS_TTL_MS, type Pass, verifyPass } from './passes.ts'
import { issueToken } from './tokens.ts'

const NOW = 1_700_000_000_000
const AT = '550e8400-e29b-41d4-a716-446655440000' as AgentId
const OTHER = '550e8400-e29b-41d4-a716-446655440001' as AgentId
const hub = keyPairFromSeed(Buffer.alloc(32, 1))
const stranger = keyPairFromSeed(Buffer.alloc(32, 2))
const caller = keyPairFromSeed(Buffer.alloc(32, 3))
const policy = { at: AT, hub: hub.publicKey, keyring: createKeyring() }
const pass: Pass = {
  key: caller.publicKey,
  at: AT,
  id: 'jti-1',
  issuedAt: NOW,
  expiresAt: NOW + PASS_TTL_MS,
}

const outcome = async (text: string, now = NOW) => {
  const verdict = await verifyPass(text, policy, now)
  return verdict.ok ? 'verified' : verdict.refusal
}

type Change = Record<string, unknown>
const claims = {
  iss: hub.id,
  aud: AT,
  sub: caller.publicKey,
  jti: 'jti-1',
  iat: NOW / 1_000,
  exp: NOW / 1_000 + 300,
}
const head = { alg: 'EdDSA', typ: 'chimera-pass+jwt', kid: hub.id }

/** A pass with something wrong in it, yet properly signed. */
const craft = (payload: Change = {}, header: Change = {}, by: KeyPair = hub): Promise<string> =>
  new SignJWT({ ...claims, ...payload })
    .setProtectedHeader({ ...head, ...header })
    .sign(by.privateKey)

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a pass', () => {
  test('says whose key it stands for, and at which door', async () => {
    const verdict = await verifyPass(await issuePass(pass, hub), policy, NOW)
    assert.deepEqual(verdict, { ok: true, pass })
    assert.equal(await outcome(await craft()), 'verified', 'the test’s own forger can do it')
  })

  test('ends on the second, and lives no longer than five minutes', async () => {
    const text = await issuePass(pass, hub)
    assert.equal(await outcome(text, NOW + PASS_TTL_MS - 1), 'verified')
    assert.equal(await outcome(text, NOW + PASS_TTL_MS), 'token_expired')
    await assert.rejects(issuePass({ ...pass, expiresAt: NOW + PASS_TTL_MS + 1_000 }, hub))
    assert.equal(await outcome(await craft({ exp: NOW / 1_000 + 301 })), 'token_invalid')
  })

  // biome-ignore format: a table is read by its columns
  const rows: [what: string, text: () => string | Promise<string>][] = [
    ['for another agent',           () => issuePass({ ...pass, at: OTHER }, hub)],
    ['for several',                 () => craft({ aud: [AT, OTHER] })],
    ['by somebody else',            () => craft({}, {}, stranger)],
    ['by somebody else’s hub',      () => issuePass(pass, stranger)],
    ['in another hub’s name',       () => craft({ iss: stranger.id })],
    ['of the wrong type',           () => craft({}, { typ: 'chimera-token+jwt' })],
    ['of no type',                  () => craft({}, { typ: undefined })],
    ['for what is no key',          () => craft({ sub: 'agent' })],
    ['without an end',              () => craft({ exp: undefined })],
    ['without an id',               () => craft({ jti: undefined })],
    ['from the future',             () => craft({ iat: NOW / 1_000 + 3_600, exp: NOW / 1_000 + 3_700 })],
    ['unsigned',                    () => `${base64({ ...head, alg: 'none' })}.${base64(claims)}.`],
    ['that is no token',            () => 'chm_owner_x'],
  ]
  for (const [what, text] of rows) {
    test(`${what} is none`, async () => assert.equal(await outcome(await text()), 'token_invalid'))
  }

  test('with the hub’s public key as a shared secret is none', async () => {
    const text = `${base64({ ...head, alg: 'HS256' })}.${base64(claims)}`
    for (const secret of [hub.publicKey, Buffer.from(hub.publicKey, 'base64url')]) {
      const mac = createHmac('sha256', secret).update(text).digest('base64url')
      assert.equal(await outcome(`${text}.${mac}`), 'token_invalid')
    }
  })

  test('a session of the same hub is none, even with the agent as its audience', async () => {
    const parties = { issuer: hub.id, audience: AT as string }
    const session = {
      ...parties,
      subject: caller.publicKey as string,
      id: 'jti-1',
      scopes: ['read'],
    }
    const times = { issuedAt: NOW, expiresAt: NOW + PASS_TTL_MS }
    assert.equal(await outcome(await issueToken({ ...session, ...times }, hub)), 'token_invalid')
  })
})
