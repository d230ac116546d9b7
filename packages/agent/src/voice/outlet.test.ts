/** Where things are said: the doors of a hub, the subjects of a bus, and what came of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { setStage } from '../../test/voicing.ts'
import type { HubAnswer } from '../hub/client.ts'
import { type BusPort, createBusOutlet, createHubOutlet } from './outlet.ts'

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
  function createBus() {
    const said: { subject: string; text: string; correlation: unknown }[] = []
    const world = { type: 'connected' }
    const bus: BusPort = {
      state: () => world,
      publish: ({ subject, bytes, headers }) => {
        const text = Buffer.from(bytes).toString()
        said.push({ subject, text, correlation: headers?.correlation })
      },
    }
    return { bus, said, world }
  }

  test('each message has the subject of its document, and is the same JSON', async () => {
    const { bus, said } = createBus()
    const { start, clock } = await setStage({ outlet: createBusOutlet(bus) })
    await start()
    await clock.advanceBy(0)
    const agent = String(JSON.parse(said[0]?.text ?? '{}').agent_id)
    assert.deepEqual(said.map(({ subject }) => subject).sort(), [
      'moltbook.capability.chimera',
      'moltbook.presence.openswarm',
      `openclaw.identity.${agent}`,
      `openclaw.status.${agent}`,
    ])
    for (const { correlation } of said) assert.match(String(correlation), /^[0-9a-f-]{36}$/)
  })

  test('while the broker is away nothing is handed to it', async () => {
    const { bus, said, world } = createBus()
    const outlet = createBusOutlet(bus)
    world.type = 'away'
    const { outcome } = await outlet.say('presence', { agent_id: AGENT }, never())
    assert.deepEqual([outcome.type, said.length], ['unanswered', 0])
    world.type = 'connected'
    await outlet.say('presence', { agent_id: AGENT }, never())
    assert.equal(said.length, 1)
  })
})
