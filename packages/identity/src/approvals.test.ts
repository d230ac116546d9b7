/**
 * An approval is for these exact bytes, on this platform, at this time: the table tries the rest.
 */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { KeyHistory } from '@chimera/domain/agent/keys'
import { type Approval, applyApproval, decideUse, type Publication } from '@chimera/domain/approval'
import type { ApprovalId, ContentId, KeyId, PublicKey, ReviewerId } from '@chimera/domain/ids'
import fc from 'fast-check'
import { SignJWT } from 'jose'
import { describe, test } from 'vitest'
import { issueApproval, signReceipt, verifyApproval, verifyReceipt } from './approvals.ts'
import { canonicalDigest } from './canonical.ts'
import type { JwtPolicy } from './jwt.ts'
import { createKeyring } from './keyring.ts'
import { type KeyPair, keyPairFromSeed } from './keys.ts'
import { issueToken } from './tokens.ts'

const NOW = 1_700_000_000_000
const HOUR_MS = 3_600_000
const keyring = createKeyring()
const hub = keyPairFromSeed(Buffer.alloc(32, 1))
const stranger = keyPairFromSeed(Buffer.alloc(32, 2))
const known = new Map<KeyId, PublicKey>([[hub.id, hub.publicKey]])
const policy: JwtPolicy = {
  issuer: 'https://hub.example',
  audience: 'chimera:publish',
  keyOf: (id) => known.get(id),
  keyring,
}

const content = {
  content_id: 'c1',
  script: 'Words that a person has read.',
  hashtags: ['#a', '#b'],
}
const publication: Publication = {
  content: 'c1' as ContentId,
  bytes: canonicalDigest(content),
  platform: 'twitter',
  scheduledAt: NOW + 10 * HOUR_MS,
}
const approval: Approval = {
  id: 'a1' as ApprovalId,
  reviewer: 'ada' as ReviewerId,
  publication,
  approvedAt: NOW,
  expiresAt: NOW + 2 * HOUR_MS,
}
const text = await issueApproval(approval, policy, hub)

const outcome = async (token: string, wanted = publication, now = NOW) => {
  const verdict = await verifyApproval(token, wanted, policy, now)
  return verdict.ok ? 'approved' : verdict.refusal
}

const claims = {
  iss: policy.issuer,
  aud: policy.audience,
  sub: 'ada',
  jti: 'a1',
  iat: NOW / 1_000,
  exp: NOW / 1_000 + 7_200,
  content_id: 'c1',
  content_sha256: publication.bytes,
  platform: 'twitter',
  scheduled_at: NOW + 10 * HOUR_MS,
}

type Change = Record<string, unknown>

/** A token with something wrong in it, yet properly signed. */
const craft = (payload: Change = {}, header: Change = {}, by: KeyPair = hub): Promise<string> =>
  new SignJWT({ ...claims, ...payload })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'chimera-approval+jwt', kid: hub.id, ...header })
    .sign(by.privateKey)

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('P-5 SK-10 an approval', () => {
  test('comes back as it was given', async () => {
    assert.deepEqual(await verifyApproval(text, publication, policy, NOW), { ok: true, approval })
  })

  test('X-9 is an EdDSA JWT of the hub for the reviewer', async () => {
    const [head = '', payload = ''] = text.split('.')
    const header = JSON.parse(Buffer.from(head, 'base64url').toString())
    assert.deepEqual(header, { alg: 'EdDSA', typ: 'chimera-approval+jwt', kid: hub.id })
    assert.equal(JSON.parse(Buffer.from(payload, 'base64url').toString()).sub, 'ada')
  })

  test('the test’s own forger makes a good one when nothing is wrong', async () => {
    assert.equal(await outcome(await craft()), 'approved')
  })

  const { scheduledAt: _, ...atOnce } = publication
  const edited = { ...content, script: 'Words that a person has not read.' }
  // biome-ignore format: a table is read by its columns
  const wanted: readonly (readonly [why: string, publication: Publication, outcome: string])[] = [
    ['the same content with its fields in another order', { ...publication, bytes: canonicalDigest({ script: content.script, hashtags: ['#a', '#b'], content_id: 'c1' }) }, 'approved'],
    ['edited content',                   { ...publication, bytes: canonicalDigest(edited) }, 'approval_mismatched'],
    ['hashtags in another order',        { ...publication, bytes: canonicalDigest({ ...content, hashtags: ['#b', '#a'] }) }, 'approval_mismatched'],
    ['an added field',                   { ...publication, bytes: canonicalDigest({ ...content, extra: null }) }, 'approval_mismatched'],
    ['another content',                  { ...publication, content: 'c2' as ContentId },     'approval_mismatched'],
    ['another platform',                 { ...publication, platform: 'tiktok' },             'approval_mismatched'],
    ['another time',                     { ...publication, scheduledAt: NOW },               'approval_mismatched'],
    ['at once, though it was approved for later', atOnce,                                    'approval_mismatched'],
  ]
  for (const [why, publishing, expected] of wanted) {
    test(why, async () => assert.equal(await outcome(text, publishing), expected))
  }

  test('for at once is not for later', async () => {
    const now = await issueApproval({ ...approval, publication: atOnce }, policy, hub)
    assert.equal(await outcome(now, atOnce), 'approved')
    assert.equal(await outcome(now, publication), 'approval_mismatched')
  })

  test('SK-10 lives two hours at most', async () => {
    assert.equal(await outcome(text, publication, NOW + 2 * HOUR_MS - 1), 'approved')
    assert.equal(await outcome(text, publication, NOW + 2 * HOUR_MS), 'approval_expired')
    const longer = issueApproval({ ...approval, expiresAt: NOW + 2 * HOUR_MS + 1 }, policy, hub)
    await assert.rejects(longer, { code: 'ttl_invalid' })
    const crafted = await craft({ exp: NOW / 1_000 + 7_201 })
    assert.equal(await outcome(crafted), 'approval_invalid')
  })

  test('a time between two seconds never prolongs it', async () => {
    const odd = { ...approval, approvedAt: NOW + 999, expiresAt: NOW + 999 + 2 * HOUR_MS }
    const token = await issueApproval(odd, policy, hub)
    assert.equal(await outcome(token, publication, NOW + 2 * HOUR_MS), 'approval_expired')
  })

  test('who has edited the content hears that, also when it is too late', async () => {
    const other = { ...publication, bytes: canonicalDigest(edited) }
    assert.equal(await outcome(text, other, NOW + 3 * HOUR_MS), 'approval_mismatched')
  })

  test('P-5 is good for one use, by the domain’s rule on what was read here', async () => {
    const verdict = await verifyApproval(text, publication, policy, NOW)
    assert.ok(verdict.ok)
    const used = decideUse(verdict.approval, publication, NOW)
    assert.ok(used.ok)
    const after = used.facts.reduce<Approval | undefined>(applyApproval, verdict.approval)
    const again = decideUse(after, publication, NOW)
    assert.ok(!again.ok)
    assert.equal(again.refusal, 'approval_used')
  })
})

describe('P-5 SK-10 what is no approval', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, token: () => Promise<string> | string])[] = [
    ['another audience',          () => craft({ aud: 'chimera:bus' })],
    ['no audience',               () => craft({ aud: undefined })],
    ['another hub',               () => craft({ iss: 'https://other.example' })],
    ['no reviewer',               () => craft({ sub: undefined })],
    ['no id',                     () => craft({ jti: undefined })],
    ['no expiry',                 () => craft({ exp: undefined })],
    ['given in the future',       () => craft({ iat: NOW / 1_000 + 31 })],
    ['for no content',            () => craft({ content_id: undefined })],
    ['for no bytes',              () => craft({ content_sha256: undefined })],
    ['for no platform',           () => craft({ platform: undefined })],
    ['for no time, not even "at once"', () => craft({ scheduled_at: undefined })],
    ['for a time that is a text', () => craft({ scheduled_at: '2026-01-01' })],
    ['another type',              () => craft({}, { typ: 'chimera-token+jwt' })],
    ['the common type',           () => craft({}, { typ: 'JWT' })],
    ['signed by another',         () => craft({}, {}, stranger)],
    ['by a key of its own choice', () => craft({}, { kid: stranger.id }, stranger)],
    ['with its key inside',       () => craft({}, { kid: undefined, jwk: { kty: 'OKP', crv: 'Ed25519', x: stranger.publicKey } }, stranger)],
    ['nonsense',                  () => 'nonsense'],
  ]
  for (const [why, token] of rows) {
    test(why, async () => assert.equal(await outcome(await token()), 'approval_invalid'))
  }

  test('a hub’s token for something else', async () => {
    const token = await issueToken(
      {
        issuer: policy.issuer,
        audience: policy.audience,
        subject: 'ada',
        scopes: ['publish'],
        id: 'a1',
        issuedAt: NOW,
        expiresAt: NOW + 60_000,
      },
      hub,
    )
    assert.equal(await outcome(token), 'approval_invalid')
  })

  test('none, and HS256 with our public key', async () => {
    const unsigned = base64({ alg: 'none', typ: 'chimera-approval+jwt', kid: hub.id })
    assert.equal(await outcome(`${unsigned}.${base64(claims)}.`), 'approval_invalid')
    const header = { alg: 'HS256', typ: 'chimera-approval+jwt', kid: hub.id }
    const keyed = `${base64(header)}.${base64(claims)}`
    for (const secret of [Buffer.from(hub.publicKey), Buffer.from(hub.publicKey, 'base64url')]) {
      const mac = createHmac('sha256', secret).update(keyed).digest('base64url')
      assert.equal(await outcome(`${keyed}.${mac}`), 'approval_invalid')
    }
  })

  test('any change of any character', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: text.length - 1 }),
        fc.constantFrom('A', 'z', '_', '.'),
        async (at, put) => {
          const edited = `${text.slice(0, at)}${put}${text.slice(at + 1)}`
          // The last character of a part carries bits that belong to no byte.
          const bytes = (token: string) =>
            token
              .split('.')
              .map((part) => Buffer.from(part, 'base64url').toString('hex'))
              .join('.')
          fc.pre(bytes(edited) !== bytes(text))
          assert.equal(await outcome(edited), 'approval_invalid')
        },
      ),
    )
  })
})

describe('P-5 P-15 the receipt of a use', () => {
  const history: KeyHistory = {
    periods: [
      { id: hub.id, publicKey: hub.publicKey, from: 0, until: NOW + HOUR_MS },
      { id: stranger.id, publicKey: stranger.publicKey, from: NOW + HOUR_MS },
    ],
  }
  const receipt = signReceipt(approval, NOW + 60_000, hub)

  test('says what was used, by whom and when', () => {
    const { signature, ...said } = receipt
    assert.deepEqual(said, {
      approval_id: 'a1',
      reviewer_id: 'ada',
      content_id: 'c1',
      content_sha256: publication.bytes,
      platform: 'twitter',
      scheduled_at: publication.scheduledAt,
      used_at: NOW + 60_000,
    })
    assert.equal(signature.length, 88)
  })

  test('verifies under the key that the hub had then, also after it was replaced', () => {
    assert.equal(verifyReceipt(receipt, history, keyring).ok, true)
  })

  // biome-ignore format: a table is read by its columns
  const edits: readonly (readonly [why: string, change: Change])[] = [
    ['another reviewer', { reviewer_id: 'eve' }],
    ['another content',  { content_sha256: canonicalDigest({}) }],
    ['another platform', { platform: 'tiktok' }],
    ['another time',     { used_at: NOW + 61_000 }],
    ['a time of the next key', { used_at: NOW + 2 * HOUR_MS }],
  ]
  for (const [why, change] of edits) {
    test(`not with ${why}`, () => {
      assert.equal(verifyReceipt({ ...receipt, ...change }, history, keyring).ok, false)
    })
  }
})
