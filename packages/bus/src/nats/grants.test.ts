/** What a hub may sign, and what stands in it. That a server obeys is tested with one. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type FailureCode, hasCode } from '../failure.ts'
import { createAuthority, encodeServerConfig, granterOf } from './authority.ts'
import { createConnectionKey, GRANT_MOST_MS, type Grant, inboxOf, signGrant } from './grants.ts'

let drawn = 0
const draw = (count: number): Uint8Array => {
  drawn += 1
  return new Uint8Array(count).fill(drawn)
}
const seeds = createAuthority(draw)
const granter = granterOf(seeds)
const user = createConnectionKey(draw).publicKey
const NOW = 1_767_225_600_500
const good: Grant = {
  user,
  name: 'a1',
  publish: ['presence'],
  subscribe: ['reserve.*'],
  now: NOW,
  expiresAt: NOW + 60_000,
}
const claimsOf = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

test('AV-12 a grant names its key, its subjects, its inbox and its end', () => {
  const { sub, exp, iat, nats } = claimsOf(signGrant(granter, good))
  assert.equal(sub, user)
  assert.equal(exp, Math.floor(good.expiresAt / 1_000))
  assert.equal(iat, Math.floor(NOW / 1_000))
  assert.equal(nats.issuer_account, granter.account)
  assert.deepEqual(nats.pub.allow, ['presence'])
  assert.deepEqual(nats.sub.allow, ['reserve.*', `${inboxOf(user)}.>`])
  assert.equal(nats.resp.max, 1)
})

test('G3 a grant that allows nothing to be said says so', () => {
  const { nats } = claimsOf(signGrant(granter, { ...good, publish: [] }))
  assert.deepEqual(nats.pub, { deny: ['>'] })
})

describe('AV-12 what is not signed', () => {
  const many = Array.from({ length: 101 }, (_, at) => `s.${at}`)
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, change: Partial<Grant>, code: FailureCode][] = [
    ['one for longer than it may be',  { expiresAt: NOW + GRANT_MOST_MS + 1 }, 'plan_malformed'],
    ['one that is over',               { expiresAt: NOW },                     'plan_malformed'],
    ['one without an end',             { expiresAt: Number.NaN },              'plan_malformed'],
    ['one for too many subjects',      { publish: many },                      'plan_malformed'],
    ['one without a name',             { name: '' },                           'plan_malformed'],
    ['one for the broker itself',      { publish: ['$JS.API.>'] },             'subject_malformed'],
    ['one to listen to the broker',    { subscribe: ['$SYS.>'] },              'subject_malformed'],
    ['one for no key',                 { user: 'a1' },                         'key_malformed'],
    ['one for an account',             { user: granter.account },              'key_malformed'],
  ]
  for (const [rule, change, code] of rows) {
    test(rule, () => {
      assert.throws(
        () => signGrant(granter, { ...good, ...change }),
        (error) => hasCode(error, code),
      )
    })
  }
})

test("U1 the server's configuration holds no seed", () => {
  const config = encodeServerConfig(seeds, { now: NOW, diskBytes: 1, memoryBytes: 1 })
  for (const seed of Object.values(seeds)) assert.ok(!config.includes(seed))
})
