/** what leaves an agent's server, with planted secrets and broken messages. */
import assert from 'node:assert/strict'
import fastify, { type FastifyInstance } from 'fastify'
import { describe, test } from 'vitest'
import { createGuard, guardAnswers } from './guard.ts'

const TOKEN = `chm_${'x'.repeat(43)}`
const ID = '4f8a1f3c-2f5e-4e58-8a37-0a3f6c1d9b22'
const RESPONSE = {
  protocol_version: '1.0.0',
  request_id: ID,
  responder_agent_id: ID,
  correlation_id: ID,
  timestamp: '2026-11-15T18:00:00.000Z',
  response_status: 'accepted',
  collaboration_id: ID,
}
const ERROR = { code: 'broken', retryable: false }

function serving(status: number, body: object): FastifyInstance {
  const app = fastify()
  guardAnswers(app, createGuard({ now: () => 0 }))
  const answer = (
    _: unknown,
    reply: { code: (status: number) => { send: (body: object) => void } },
  ) => reply.code(status).send(body)
  app.get('/plain', answer)
  // A plugin of its own, as the doors are.
  app.register(async (door) => {
    door.get('/door', answer)
    door.post('/skills/:name', answer)
  })
  return app
}

async function told(app: FastifyInstance, url = '/door', method: 'GET' | 'POST' = 'GET') {
  const { statusCode, body } = await app.inject({ method, url })
  return { status: statusCode, body: JSON.parse(body) as Record<string, unknown>, text: body }
}

describe('X-5 our own words', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [what: string, words: string][] = [
    ['a token',                `the hub said no to ${TOKEN}`],
    ['a path of the machine',  'no such file: /home/agent/.chimera/key.json'],
    ['an internal host',       'connect ECONNREFUSED db-7.internal:5432'],
    ['a stack trace',          'boom\n    at run (/srv/agent/work.js:10:3)'],
  ]
  for (const [what, message] of rows) {
    test(`an error with ${what} leaves without it, by every door`, async () => {
      const app = serving(500, { ...ERROR, message })
      for (const url of ['/plain', '/door']) {
        const { status, body } = await told(app, url)
        assert.equal(status, 500)
        assert.match(String(body.message), /removed\]/)
        assert.equal(body.code, 'broken')
      }
    })
  }

  test('an error with plain words leaves as it is', async () => {
    const message = 'Every slot is taken. Ask again later, or ask another instance.'
    const { body } = await told(serving(503, { ...ERROR, message }))
    assert.deepEqual(body, { ...ERROR, message })
  })
})

describe('X-3 messages', () => {
  test('that are what their schema says leave', async () => {
    const { status, body } = await told(serving(202, RESPONSE))
    assert.deepEqual([status, body], [202, RESPONSE])
  })

  test('that are not do not, and the caller may ask again', async () => {
    const { collaboration_id: _, ...broken } = RESPONSE
    const { status, body } = await told(serving(202, broken))
    assert.deepEqual([status, body.code, body.retryable], [503, 'service_unavailable', true])
  })

  test('an output is its skill’s own, even where it looks like a message of ours', async () => {
    const output = { response_status: 'whatever', execution_cost: 'much' }
    const { status, body } = await told(serving(200, output), '/skills/odd', 'POST')
    assert.deepEqual([status, body], [200, output])
  })
})
