/** planted secrets and inside names on their way out. */
import assert from 'node:assert/strict'
import { Type } from 'typebox'
import { describe, test } from 'vitest'
import { sender } from './outgoing.ts'
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
