/** planted secrets and inside names on their way out. */
import assert from 'node:assert/strict'
import { Type } from 'typebox'
import { describe, test } from 'vitest'
import { secretFinder, sender } from './outgoing.ts'
import { AnyObject, Url } from './wire.ts'

const Message = Type.Object({
  id: Type.Integer(),
  message: Type.Optional(Type.String({ maxLength: 200 })),
  why: Type.Optional(Type.Array(Type.String())),
  callback_url: Type.Optional(Url),
  output_data: Type.Optional(AnyObject),
  approval_token: Type.Optional(Type.String()),
})
type Message = Type.Static<typeof Message>

const send = sender<Message>(Message)
const token = `chm_${'a1b2c3d4e5f6g7h8'}`

describe('X-5 the guard on the way out', () => {
  test('an ordinary message leaves as the very object it was', () => {
    const message = { id: 1, message: 'Every slot is taken', output_data: { words: 3 } }
    const outcome = send(message)
    assert.ok(outcome.ok)
    assert.equal(outcome.message, message)
  })

  // biome-ignore format: a table is read by its columns
  const blackened: [what: string, text: string, kind: string][] = [
    ['a host',   'connect ECONNREFUSED 10.0.0.7:5432',       'host'],
    ['a path',   'cannot read /home/chimera/keys/agent.json', 'path'],
    ['a trace',  'Error\n    at decode (decode.ts:12:5)',     'trace'],
    ['a secret', `the token ${token} is unknown`,             'secret'],
  ]
  for (const [what, text, kind] of blackened) {
    test(`our own words lose ${what} and the message goes`, () => {
      const outcome = send({ id: 1, message: text })
      assert.ok(outcome.ok)
      assert.ok(outcome.message.message?.includes(`[${kind} removed]`), outcome.message.message)
      assert.deepEqual(outcome.blackened[0], { path: '/message', kind })
    })
  }

  test('lists of our own words too', () => {
    const outcome = send({ id: 1, why: ['fast', 'seen at 192.168.0.4'] })
    assert.ok(outcome.ok)
    assert.deepEqual(outcome.message.why, ['fast', 'seen at [host removed]'])
  })

  test('payload and address fields may name hosts and paths', () => {
    const message = {
      id: 1,
      callback_url: 'http://10.1.2.3/results',
      output_data: { text: 'look in /etc/hosts on localhost' },
    }
    assert.ok(send(message).ok)
  })

  test('a secret in payload stops the message, and the find does not repeat it', () => {
    const outcome = send({ id: 1, output_data: { deep: [{ note: `use ${token}` }] } })
    assert.ok(!outcome.ok && outcome.because === 'secret')
    assert.deepEqual(outcome.finds, [{ path: '/output_data/deep/0/note', kind: 'secret' }])
    assert.ok(!JSON.stringify(outcome).includes(token))
  })

  test('a field with a telling name stops it, whatever its value looks like', () => {
    const outcome = send({ id: 1, output_data: { password: 'swordfish' } })
    assert.ok(!outcome.ok && outcome.because === 'secret')
  })

  test('a field whose task is to carry a token may', () => {
    const approval_token = ['eyJhbGciOiJFZERTQSJ9', 'eyJzdWIiOiJ0ZXN0In0', 'c2lnbmF0dXJlc2ln'].join(
      '.',
    )
    assert.ok(!send({ id: 1, approval_token }).ok)
    assert.ok(
      sender<Message>(Message, { carries: ['approval_token'] })({ id: 1, approval_token }).ok,
    )
  })
})

test('X-3 what does not match its own schema does not leave', () => {
  const outcome = send({ id: 1.5 })
  assert.ok(!outcome.ok && outcome.because === 'malformed')
  assert.deepEqual(outcome.refused.particulars.issues?.[0]?.path, '/id')
})

describe('X-5 answers that we put together ourselves', () => {
  const answer = sender<Message>(Message, { found: 'blacken' })

  test('lose a secret in an entry, and go', () => {
    const outcome = answer({ id: 1, output_data: { one: `use ${token}`, other: 'fine' } })
    assert.ok(outcome.ok)
    assert.deepEqual(outcome.message.output_data, { one: 'use [secret removed]', other: 'fine' })
    assert.deepEqual(outcome.blackened, [{ path: '/output_data/one', kind: 'secret' }])
  })

  test('lose a name that is one, and a value under a telling name', () => {
    const outcome = answer({ id: 1, output_data: { [token]: 1, api_key: 'swordfish' } })
    assert.ok(outcome.ok)
    assert.deepEqual(outcome.message.output_data, {
      '[secret removed]': 1,
      api_key: '[secret removed]',
    })
  })

  test('do not go when a hole makes them malformed', () => {
    const outcome = answer({
      id: 1,
      callback_url: `https://x.example.org/?token=${'a1'.repeat(8)}`,
    })
    assert.ok(!outcome.ok && outcome.because === 'malformed')
  })

  test('may be larger than any message that is taken in', () => {
    const words = Array.from({ length: 60_000 }, () => 'word')
    assert.ok(answer({ id: 1, output_data: { words } }).ok)
  })

  test('O6 a caller is named by the id of its token, and nothing else is by that name', () => {
    const by = 'token:44718ad4-d500-4262-8175-81ccc5ed00ca'
    const outcome = answer({ id: 1, output_data: { by, approval: { by } } })
    assert.ok(outcome.ok)
    assert.deepEqual(outcome.message.output_data, { by, approval: { by } })
    for (const output_data of [{ text: by }, { by: `${by}0` }, { by: `token:${token}` }]) {
      const other = answer({ id: 1, output_data })
      assert.ok(other.ok)
      assert.equal(other.blackened.length, 1)
    }
  })

  test('O5 keys and signatures pass under their names, though chance wrote them', () => {
    const unlucky = `sk-${'a'.repeat(40)}`
    const [public_key, signature] = [unlucky, `${'A'.repeat(40)}-sk-${'b'.repeat(42)}`]
    assert.deepEqual(answer({ id: 1, output_data: { public_key, signature } }).ok, true)
    const elsewhere = answer({ id: 1, output_data: { text: unlucky } })
    assert.ok(elsewhere.ok && elsewhere.blackened.length === 1)
    const ours = `chm_${'a'.repeat(39)}`
    const disguised = answer({ id: 1, output_data: { public_key: ours } })
    assert.ok(disguised.ok && disguised.blackened.length === 1)
  })

  test('what nests too deep to be looked through does not leave as it is', () => {
    let deep: unknown = token
    for (let level = 0; level < 100; level += 1) deep = [deep]
    const outcome = answer({ id: 1, output_data: { deep } })
    assert.ok(outcome.ok && !JSON.stringify(outcome.message).includes(token))
  })
})

describe('X-5 what comes in', () => {
  const find = secretFinder()

  test('is looked through everywhere, our own words included, and never repeated', () => {
    const finds = find({ notes: `see ${token}`, skills: [{ [token]: 'x' }], password: 'swordfish' })
    assert.deepEqual(
      finds.map(({ path }) => path),
      ['/notes', '/skills/0', '/password'],
    )
    assert.ok(!JSON.stringify(finds).includes(token))
  })

  test('may name hosts and paths, in whatever field', () => {
    assert.deepEqual(find({ message: 'localhost:80 /etc/hosts', url: 'http://10.0.0.1/' }), [])
  })

  test('may bring a secret where that is its task', () => {
    assert.deepEqual(secretFinder(['secret'])({ secret: token, id: 1 }), [])
  })

  test('a schema may speak of passwords', () => {
    const schema = { properties: { password: { type: 'string' } }, required: ['password'] }
    assert.deepEqual(find({ input_schema: schema }), [])
  })
})
