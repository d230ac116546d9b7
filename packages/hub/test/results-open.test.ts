/** Results at an open hub, where nobody can be told from another: vectors, hostile schemas. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { registration } from './asking.ts'
import { runHub, type TestHub } from './running.ts'
import { queryOf, testVectors } from './vectors.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await runHub({})
}, 60_000)
afterAll(() => hub.stop())

const report = (body: unknown) => hub.post('/openclaw/v1/results', body)

async function agentWith(output_schema?: object): Promise<string> {
  const skill = { skill_name: 'draw', cost_per_call: 1, ...(output_schema && { output_schema }) }
  const agent = registration('bolt', { skills: [skill] })
  assert.equal((await hub.post('/register', agent)).status, 201)
  return agent.agent_id
}
const message = (agent: string, output_data: object) => ({
  collaboration_id: randomUUID(),
  request_id: randomUUID(),
  responder_agent_id: agent,
  result_status: 'completed',
  correlation_id: randomUUID(),
  output_data,
  timestamp: '2026-02-06T16:00:00Z',
})

describe('messages', () => {
  let agent: string
  beforeAll(async () => {
    agent = await agentWith()
  })
  testVectors({
    dialect: 'openclaw',
    code: 'validation_error',
    routes: {
      'collaboration-result': report,
      'result-query': (wire) => hub.get(`/openclaw/v1/results/${agent}?${queryOf(wire)}`),
    },
  })

  test('OC-21 another major version is refused', async () => {
    const { status, body } = await report({ protocol_version: '2.0.0' })
    assert.deepEqual([status, body.code], [400, 'version_unsupported'])
  })
})

test('OC-23 anybody hands over, reads and deletes', async () => {
  const agent = await agentWith()
  const sent = message(agent, { a: 1 })
  assert.equal((await report(sent)).status, 204)
  const path = `/openclaw/v1/results/${agent}`
  assert.equal(((await hub.get(path)).body.results as object[]).length, 1)
  const work = await hub.get(`/v1/work/${sent.request_id}`)
  assert.deepEqual([work.body.state, work.body.agent_id], ['done', agent])
  const deleted = await hub.call(`/v1/work/${sent.request_id}/content`, { method: 'DELETE' })
  assert.equal(deleted.status, 204)
  assert.deepEqual((await hub.get(path)).body.results, [])
})

test('a key is bounded, and a stranger one is no trouble', async () => {
  assert.equal((await hub.get(`/v1/work/${'k'.repeat(256)}`)).status, 404)
  const { status: long } = await hub.get(`/v1/work/${'k'.repeat(257)}`)
  assert.ok(long === 400 || long === 414, `${long}`)
  for (const key of ['%00', "'; DROP TABLE results", '..%2f..', '💥', '__proto__']) {
    const { status } = await hub.get(`/v1/work/${encodeURIComponent(key)}`)
    assert.ok(status === 404 || status === 400, `${key}: ${status}`)
  }
})

// biome-ignore format: a table is read by its columns
const hostile: [attack: string, schema: object, output: object, status: number][] = [
  ['a pattern for backtracking', { type: 'object', properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(50_000)}!` }, 422],
  ['look-ahead',                 { type: 'object', properties: { a: { pattern: '(?=a)' } } },   { a: 'a' },  422],
  ['references that circle',     { allOf: [{ $ref: '#' }, { $ref: '#' }] },                     { a: 'a' },  422],
  ['a reference that moves',     { type: 'object', $dynamicRef: '#a' },                         { a: 'a' },  422],
  ['names that objects inherit', { type: 'object', required: ['constructor'] },                 { a: 'a' },  422],
  ['a flat map of types',        { constructor: 'string', toString: 'int' },                    { constructor: 'a', toString: 1 }, 204],
]
describe('OC-17 hostile schemas are answered soon, and never believed', () => {
  for (const [attack, schema, output, expected] of hostile) {
    test(attack, { timeout: 10_000 }, async () => {
      const { status, body } = await report(message(await agentWith(schema), output))
      assert.equal(status, expected, JSON.stringify(body))
    })
  }
})
