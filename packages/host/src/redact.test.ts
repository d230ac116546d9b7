/**
 * X-5 in any value: secrets are planted at random places and must be gone. They are put together
 * here from harmless parts, so that no scanner takes this file for a leak.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { redactText, redactValue } from './redact.ts'

const random = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6'
const token = `chm_${random}`
const inside = 'connect ECONNREFUSED 10.1.2.3:5432 in /home/someone/hub/main.js'

test('X-5 G1 a secret is removed at whatever place it stands, as a name too', () => {
  const planted = fc.constantFrom(token, `sk-${random}`, `Bearer ${random}`, `token=${random}`)
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6 },
      fc.oneof(planted, fc.string(), fc.integer(), fc.constant(null), fc.boolean()),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.string(), planted, fc.constant('password')), tie('tree'), {
        maxKeys: 4,
      }),
    ),
  }))
  fc.assert(
    fc.property(tree, fc.boolean(), (value, showInside) => {
      const before = JSON.stringify(value)
      const clean = JSON.stringify(redactValue(value, { showInside }))
      assert.ok(!clean.includes(random), clean)
      assert.equal(JSON.stringify(value), before, 'G3')
    }),
    { numRuns: 500 },
  )
})

test('looking at all texts together misses nothing that looking at each would find', () => {
  const pem = `-----BEGIN ${'PRIVATE KEY'}-----\n${random}`
  const piece = fc.oneof(
    fc.constantFrom(pem, token, `{"d":"${random}"}`, 'token', '=', 'Bearer', random, inside),
    fc.constantFrom('localhost', '::1', 'http://planner', 'at x (y.ts:1:2)', '/etc/x', '10.0.0.1'),
    fc.string(),
    fc.constant('x '.repeat(5_000)),
  )
  fc.assert(
    fc.property(fc.array(piece), fc.boolean(), (pieces, showInside) => {
      const each = pieces.map((text) => redactText(text, { showInside }))
      assert.deepEqual(redactValue(pieces, { showInside }), each)
    }),
    { numRuns: 1_000 },
  )
})

describe('X-5 G1 under a name that says so, anything is removed', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [field: Record<string, unknown>, shown: unknown])[] = [
    [{ password: 'short' },                '[secret removed]'],
    [{ password: 1234 },                   '[secret removed]'],
    [{ 'x-api-key': 'k' },                 '[secret removed]'],
    [{ authorization: 'x' },               '[secret removed]'],
    [{ credentials: { user: 'a' } },       '[secret removed]'],
    [{ token: ['a'] },                     '[secret removed]'],
    [{ token: true },                      true],
    [{ token: null },                      null],
    [{ tokens_used: 5 },                   5],
    [{ public_key: 'abc' },                'abc'],
  ]
  for (const [field, shown] of rows) {
    test(JSON.stringify(field), () => {
      assert.deepEqual(Object.values(redactValue(field) as object), [shown])
    })
  }
})

describe('X-5 G2 names of the inside', () => {
  test('are removed from our own words', () => {
    const clean = redactText(inside)
    for (const name of ['10.1.2.3', '5432', '/home', 'main.js']) {
      assert.ok(!clean.includes(name), clean)
    }
  })

  test('are left for an operator who asked, but never a secret', () => {
    assert.equal(
      redactText(`${inside} ${token}`, { showInside: true }),
      `${inside} [secret removed]`,
    )
  })

  test('are left in address fields, but never a secret', () => {
    for (const name of ['url', 'listen', 'api_endpoint', 'callbackUrl', 'remoteAddress']) {
      const address = `http://127.0.0.1:4600/?key=${token}`
      assert.deepEqual(redactValue({ [name]: address }), {
        [name]: 'http://127.0.0.1:4600/?key=[secret removed]',
      })
    }
    assert.deepEqual(redactValue({ address: { note: 'at 127.0.0.1' } }), {
      address: { note: 'at [host removed]' },
    })
  })

  test('a stack is one', () => {
    const stack = 'Error: no\n    at decode (decode.ts:12:5)'
    assert.deepEqual(redactValue({ err: { stack } }), { err: { stack: '[trace removed]' } })
    assert.deepEqual(redactValue({ err: { stack } }, { showInside: true }), { err: { stack } })
    assert.deepEqual(redactValue({ stack: 'of a form unknown' }), { stack: '[trace removed]' })
  })
})

test('G4 what is too deep, or a circle, is cut off', () => {
  const circle: Record<string, unknown> = { token }
  circle.again = circle
  const clean = JSON.stringify(redactValue(circle))
  assert.ok(clean.includes('[cut]') && !clean.includes(random))
})

test('ordinary values come back as they were', () => {
  const value = { agent_id: 'a', figures: [1, 2.5, -0], ok: true, nothing: null, notes: 'all well' }
  assert.deepEqual(redactValue(value), value)
})

test('a field named __proto__ is a field', () => {
  const clean = redactValue(JSON.parse('{"__proto__":{"x":1}}'))
  assert.equal(JSON.stringify(clean), '{"__proto__":{"x":1}}')
})
