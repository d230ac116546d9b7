/** Where things are said: the doors of a hub, the subjects of a bus, and what came of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { refusedWith, SILENCE, setStage, TAKEN } from '../../test/voicing.ts'
import type { BusPort } from '../bus/port.ts'
import type { HubAnswer } from '../hub/client.ts'
import { createBusOutlet, createHubOutlet, type Outlet, type Topic } from './outlet.ts'

const AGENT = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11'
const never = () => new AbortController().signal

describe('at the hub', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [answer: HubAnswer, told: object][] = [
    [{ ok: true, status: 204, body: undefined },                                                             { outcome: { type: 'answered', status: 204 } }],
    [{ ok: false, kind: 'refused', status: 404, code: 'gone', sentence: 'Not here', retryable: false },      { outcome: { type: 'answered', status: 404 }, why: 'gone: Not here' }],
    [{ ok: false, kind: 'unanswered', code: 'timeout', detail: 'slow' },                                     { outcome: { type: 'unanswered' }, why: 'timeout: slow' }],
  ]
  for (const [answer, told] of rows) {
    test(`${answer.ok ? 'yes' : answer.kind} is told, after one try`, async () => {
      const asked: unknown[] = []
      const post = async (path: string, _body: unknown, more?: object) => {
        asked.push([path, (more as { tries?: number }).tries])
        return answer
      }
      const outlet = createHubOutlet({ post })
      assert.deepEqual(await outlet.say('presence', {}, never()), told)
      assert.deepEqual(asked, [['/moltbook/v1/presence', 1]])
    })
  }
})

describe('AV-1 on a bus', () => {
  function createBus({ held = true, open = false } = {}) {
    const said: { subject: string; text: string; correlation: unknown }[] = []
    const posted: string[] = []
    const world = { there: true, hub: TAKEN }
    const bus: Pick<BusPort, 'publish' | 'held'> = {
      held,
      publish: ({ subject, bytes, headers }) => {
        const text = Buffer.from(bytes).toString()
        said.push({ subject, text, correlation: headers?.correlation })
      },
    }
    const outlet = createBusOutlet({
      line: { open: async () => {}, bus: () => (world.there ? (bus as BusPort) : undefined) },
      hub: {
        say: async (topic) => {
          posted.push(topic)
          return world.hub
        },
      },
      believed: async () => open,
    })
    return { outlet, said, posted, world }
  }
  const topics: readonly Topic[] = ['identity', 'capability', 'presence', 'status']
  const sayAll = async (outlet: Outlet) => {
    for (const each of topics) await outlet.say(each, { agent_id: AGENT }, never())
  }

  test('what repeats itself is said there, what is said once where somebody answers', async () => {
    const { outlet, said, posted } = createBus()
    const { start, clock } = await setStage({ outlet })
    await start()
    await clock.advanceBy(0)
    const agent = String(JSON.parse(said[0]?.text ?? '{}').agent_id)
    assert.deepEqual(said.map(({ subject }) => subject).sort(), [
      'moltbook.presence.openswarm',
      `openclaw.status.${agent}`,
    ])
    for (const { correlation } of said) assert.match(String(correlation), /^[0-9a-f-]{36}$/)
    assert.deepEqual(posted.sort(), ['capability', 'identity'])
  })

  // biome-ignore format: a table is read by its columns
  const rows: [why: string, terms: { held: boolean; open: boolean }, said: readonly string[]][] = [
    ['a broker that holds everybody to their own', { held: true,  open: false }, ['presence', 'status']],
    ['an open hub',                                { held: false, open: true },  ['presence', 'status']],
    ['anything else',                              { held: false, open: false }, ['presence']],
  ]
  for (const [why, terms, expected] of rows) {
    test(`with ${why}: ${expected.join(', ')}`, async () => {
      const { outlet, said, posted } = createBus(terms)
      await sayAll(outlet)
      assert.deepEqual(
        said.map(({ subject }) => subject.split('.')[1]),
        expected,
      )
      assert.deepEqual(
        posted,
        topics.filter((each) => !expected.includes(each)),
      )
    })
  }

  test('while the broker is away nothing is handed to it, and the hub is told', async () => {
    const { outlet, said, posted, world } = createBus()
    world.there = false
    await sayAll(outlet)
    assert.deepEqual([said.length, posted], [0, [...topics]])
    world.there = true
    await outlet.say('presence', { agent_id: AGENT }, never())
    assert.equal(said.length, 1)
  })

  test('each thirtieth post is the hub’s to answer, which may not know the agent now', async () => {
    const { outlet, said, posted, world } = createBus()
    const post = () => outlet.say('presence', { agent_id: AGENT }, never())
    for (let each = 1; each < 30; each += 1) await post()
    assert.deepEqual([said.length, posted.length], [29, 0])
    world.hub = refusedWith(404)
    assert.deepEqual((await post()).outcome, { type: 'answered', status: 404 })
    assert.deepEqual([said.length, posted.length], [29, 1])
    for (let each = 1; each < 30; each += 1) await post()
    world.hub = SILENCE
    assert.deepEqual((await post()).outcome, { type: 'answered', status: 202 })
    assert.deepEqual([said.length, posted.length], [59, 2], 'a hub that is away takes it later')
  })

  test('while the hub is away all is said there, and what is said once is not done', async () => {
    const { outlet, said, world } = createBus()
    world.hub = SILENCE
    const told = await outlet.say('capability', { agent_id: AGENT }, never())
    assert.deepEqual([told.outcome.type, said.length], ['unanswered', 1])
  })
})
