/** What is wrong with the options is said when the agent is created, all at once. */
import assert from 'node:assert/strict'
import { defineSkill, Type } from '@chimera/skill/define'
import { describe, test } from 'vitest'
import { type AgentOptions, createAgent } from './create.ts'
import { feedOf } from './options.ts'

const skill = defineSkill({
  name: 'echo',
  version: '1.0',
  input: Type.Object({}),
  output: Type.Object({}),
  run: () => ({}),
})
const GOOD: AgentOptions = {
  name: 'chimera-echo',
  owner: 'acme',
  hub: 'http://127.0.0.1:4600',
  skills: [skill],
  log: 'silent',
}

describe('an agent', () => {
  const rows: readonly { readonly with: Partial<AgentOptions>; readonly says: RegExp }[] = [
    { with: { name: '' }, says: /name/ },
    { with: { owner: 'o'.repeat(129) }, says: /owner/ },
    { with: { hub: 'somewhere' }, says: /hub/ },
    { with: { slots: 0 }, says: /slots/ },
    { with: { slots: 1_001 }, says: /slots/ },
    { with: { perMinute: 0.5 }, says: /perMinute/ },
    { with: { drainMs: 60_000 }, says: /drainMs/ },
    { with: { preset: 'production' }, says: /keep/ },
    { with: { name: '', slots: -1 }, says: /name.*slots/ },
  ]
  for (const { with: more, says } of rows) {
    test(`is not made with ${JSON.stringify(more).slice(0, 60)}`, () => {
      assert.throws(() => createAgent({ ...GOOD, ...more }), {
        code: 'options_invalid',
        message: says,
      })
    })
  }

  test('SF-6 its feed has mTLS in production and its own signature in development', () => {
    const url = 'https://feed.example.org/ingest/chimera-status'
    const { auth } = feedOf({ url }, 'production', '/nowhere')
    assert.ok(auth.by === 'mtls')
    assert.throws(auth.tls, { code: 'ENOENT' })
    assert.deepEqual(feedOf({ url }, 'development', '/nowhere').auth, { by: 'jws' })
    const own = { by: 'bearer', token: () => 'x' } as const
    assert.equal(feedOf({ url, auth: own }, 'production', '/nowhere').auth, own)
    const nowhere = { preset: 'production', directory: false, feed: { url } } as const
    assert.throws(() => createAgent({ ...GOOD, ...nowhere }), { message: /feed\.auth/ })
  })

  test('is not made without a skill, or with one twice', () => {
    assert.throws(() => createAgent({ ...GOOD, skills: [] }), { name: 'DefinitionError' })
    assert.throws(() => createAgent({ ...GOOD, skills: [skill, skill] }), {
      name: 'DefinitionError',
    })
  })

  test('does nothing before it is started, and can be stopped all the same', async () => {
    const agent = createAgent(GOOD)
    assert.throws(() => agent.address(), { code: 'not_started' })
    assert.deepEqual((await agent.stop()).notClosed, [])
  })
})
