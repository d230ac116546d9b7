/** Tokens of owners and operators: random, prefixed, kept as a digest. */
import assert from 'node:assert/strict'
import type { Digest } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { digestSecretToken, fitsSecretToken, newSecretToken } from './secret-tokens.ts'

describe('tokens of owners and operators', () => {
  const secret = newSecretToken('owner', () => Buffer.alloc(32, 0xfb))

  test('X-8 chance is handed in, 32 bytes of it', () => {
    let asked = 0
    newSecretToken('owner', (size) => {
      asked += size
      return Buffer.alloc(size)
    })
    assert.equal(asked, 32)
    assert.notEqual(newSecretToken('owner').text, newSecretToken('owner').text)
  })

  test('Z1 what is kept does not hold what was shown', () => {
    assert.match(secret.digest, /^[0-9a-f]{64}$/)
    assert.equal(secret.digest.includes(secret.text.slice(10, 18)), false)
    assert.deepEqual(digestSecretToken(secret.text), { kind: 'owner', digest: secret.digest })
  })

  test('Z3 one is known on sight', () => {
    assert.match(secret.text, /^chm_owner_[A-Za-z0-9_-]{43}$/)
    assert.match(newSecretToken('operator').text, /^chm_operator_[A-Za-z0-9_-]{43}$/)
  })

  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, text: string])[] = [
    ['another prefix',  secret.text.replace('chm', 'ghp')],
    ['another kind',    secret.text.replace('owner', 'admin')],
    ['too short',       secret.text.slice(0, -1)],
    ['too long',        `${secret.text}A`],
    ['with a blank',    ` ${secret.text}`],
    ['with a line end', `${secret.text}\n`],
    ['nothing',         ''],
  ]
  for (const [why, text] of rows) {
    test(`never one of ours: ${why}`, () => assert.equal(digestSecretToken(text), undefined))
  }

  test('fits its own digest and no other', () => {
    assert.equal(fitsSecretToken(secret.text, secret.digest), true)
    assert.equal(fitsSecretToken(newSecretToken('owner').text, secret.digest), false)
    assert.equal(fitsSecretToken(secret.text, '' as Digest), false)
  })
})
