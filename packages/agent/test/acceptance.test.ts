/**
 * The documents' acceptance criteria in their own words, against a real hub, under a clock that is
 * moved by hand and a line that takes a tenth of a second each way.
 */
import assert from 'node:assert/strict'
import type { ConditionCommand } from '@chimera/domain/agent/condition'
import { createLog } from '@chimera/host/log'
import type { Party } from '@chimera/hub/testing/hiring'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Agent, createAgent } from '../src/create.ts'
import { isSignedBy } from './bus-town.ts'
import { type Body, createSlow, request, wordCount } from './serving.ts'
import { openTimedTown, type Passed, type TimedTown } from './timed-town.ts'

let town: TimedTown
let agent: Agent
let hirer: Party
let instance: string
let publicKey: string
const slow = createSlow()
// It may take an hour.
const patient = { ...slow.skill, timeoutMs: 3_600_000, durationMs: 1_000 }
const FEED = '/ingest/chimera-status'
const STATUS = '/openclaw/v1/status'
const PRESENCE = '/moltbook/v1/presence'
const RESULTS = '/openclaw/v1/results'

beforeAll(async () => {
  town = await openTimedTown()
  hirer = await town.on.newParty()
})
afterAll(async () => {
  await town?.end()
})

const told = (path: string) => town.passed.filter((each) => each.path === path)
const gaps = (all: readonly Passed[]) =>
  all.slice(1).map(({ at }, place) => at - (all[place]?.at ?? 0))
const statusIn = (said: Passed | undefined): unknown => {
  const update = said?.body.status_update as Body | undefined
  return update?.current_status
}
const seconds = (count: number) => town.clock.advanceBy(count * 1_000)

/** What somebody asks of the agent, signed as of now. */
async function ask(path: string, body: object): Promise<{ status: number; body: Body }> {
  const url = agent.address() + path
  const sent = town.on.requestOf('', { key: hirer.key, body, signed: { origin: url } })
  const answer = await fetch(url, sent)
  return { status: answer.status, body: (await answer.json()) as Body }
}
const work = (more: Body = {}) =>
  request({
    requester_agent_id: hirer.id,
    capability_id: 'slow_echo',
    input_data: { text: 'x' },
    timestamp: new Date(town.clock.now()).toISOString(),
    ...more,
  })

test('AV-11 “discover at least one available … instance … within 15s of … startup”', async () => {
  const { owner, token } = await town.on.newOwner()
  agent = createAgent({
    name: 'chimera-punctual',
    owner,
    token,
    hub: town.address,
    skills: [wordCount, patient],
    slots: 2,
    directory: false,
    signals: false,
    feed: { url: `${town.address}${FEED}`, auth: { by: 'jws' } },
    clock: town.clock,
    log: createLog({ clock: town.clock, name: 'agent', level: 'silent' }),
  })
  const { ms } = await town.timed(agent.start())
  const { body } = await town.hub.get('/moltbook/v1/directory?capabilities=word_count')
  const [found] = body.instances as Body[]
  assert.deepEqual([found?.agent_id, found?.state], [agent.id(), 'available'])
  assert.ok(ms <= 15_000, `${ms} ms`)
  instance = String(found?.instance_id)
  const keys = await town.hub.get(`/v1/keys/${agent.id()}`)
  publicKey = String((keys.body.keys as Body[])[0]?.public_key)
})

describe('while nothing happens', () => {
  beforeAll(() => seconds(400))

  test('SF-3 “heartbeat … within 60 ± 5 seconds while agent is AVAILABLE”', () => {
    const beats = told(FEED)
    assert.ok(beats.length >= 6, `${beats.length}`)
    for (const { body } of beats) assert.equal(body.status, 'AVAILABLE')
    for (const ms of gaps(beats)) assert.ok(ms >= 55_000 && ms <= 65_000, `${ms}`)
  })

  test('OC-4 “status updates at least every 60 seconds” while idle', () => {
    for (const ms of gaps(told(STATUS))) assert.ok(ms <= 60_000, `${ms}`)
    assert.ok(told(STATUS).length >= 7)
  })

  test('AV-1 presence every 10 s', () => {
    for (const ms of gaps(told(PRESENCE))) assert.ok(ms <= 10_000, `${ms}`)
    assert.ok(told(PRESENCE).length >= 40)
  })
})

describe('“within 5 seconds of state changes”', () => {
  const maintain = { type: 'maintain', reason: 'a new disk' } as const
  const fail = {
    type: 'fail',
    fault: { code: 'DISK_FULL', message: 'No room', lasting: 'transient' },
  } as const
  // biome-ignore format: a table is read by its columns
  const rows: [row: string, command: ConditionCommand, status: string, feed: string | undefined][] = [
    ['OC-3 SF-4 paused',                        { type: 'pause' },   'maintenance', 'PAUSED'],
    ['OC-3 SF-4 resumed',                       { type: 'resume' },  'idle',        'AVAILABLE'],
    ['OC-6 maintained',                         maintain,            'maintenance', 'PAUSED'],
    ['OC-6 at work after maintenance',          { type: 'resume' },  'idle',        'AVAILABLE'],
    ['OC-3 in error',                           fail,                'error',       undefined],
    ['OC-5 “recovering … with new status”',     { type: 'recover' }, 'idle',        'AVAILABLE'],
  ]
  for (const [row, command, status, feed] of rows) {
    test(row, async () => {
      const from = town.clock.now()
      const done = agent.lifecycle().order(command)
      assert.ok(done.ok, JSON.stringify(done))
      await seconds(5)
      const since = (path: string) => told(path).filter(({ at }) => at >= from)
      assert.equal(statusIn(since(STATUS)[0]), status)
      if (feed !== undefined) assert.equal(since(FEED).at(-1)?.body.status, feed)
      await seconds(2)
    })
  }

  test('OC-16 SF-4 accepting makes it busy, and the last end idle again', async () => {
    const from = town.clock.now()
    const { result } = await town.timed(ask('/openclaw/v1/collaborations', work()))
    assert.equal(result.body.response_status, 'accepted', JSON.stringify(result.body))
    await seconds(5)
    const words = () => told(STATUS).filter(({ at }) => at >= from)
    assert.equal(statusIn(words().at(-1)), 'busy')
    assert.equal(told(FEED).at(-1)?.body.status, 'BUSY')
    const beats = told(FEED).length
    await seconds(180)
    const busy = told(FEED).slice(beats - 1)
    for (const ms of gaps(busy)) assert.ok(ms >= 55_000 && ms <= 65_000, `${ms}`)
    for (const ms of gaps(words())) assert.ok(ms <= 60_000, `${ms}`)
    await slow.letGo()
    await seconds(5)
    assert.equal(statusIn(words().at(-1)), 'idle')
    assert.equal(told(FEED).at(-1)?.body.status, 'AVAILABLE')
  })
})

describe('AV-8 “reserve handshake succeeds within 3s … and returns signed ack”', () => {
  const offer = () => town.on.signed(town.on.offer(hirer, instance, { max_cost: 0 }), hirer.key)

  test('of a healthy instance', async () => {
    const { ms, result } = await town.timed(ask('/moltbook/v1/reserve', offer()))
    assert.equal(result.body.accepted, true, JSON.stringify(result.body))
    assert.ok(isSignedBy(result.body, publicKey))
    assert.ok(ms <= 3_000, `${ms} ms`)
  })

  test('and no later, when the hub is silent', async () => {
    town.line.hangs = (path) => path.startsWith('/v1/holds')
    const { ms, result } = await town.timed(ask('/moltbook/v1/reserve', offer()))
    town.line.hangs = () => false
    assert.equal(result.body.accepted, false, JSON.stringify(result.body))
    assert.ok(isSignedBy(result.body, publicKey))
    assert.ok(ms <= 3_000, `${ms} ms`)
    // What was promised before lapses by itself.
    await seconds(30)
  })
})

describe('OC-11 “MUST respond to collaboration requests within 10 seconds”', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, hangs: (path: string) => boolean, status: string][] = [
    ['while all is well',                () => false,                                           'accepted'],
    ['while the hub is silent',          () => true,                                            'rejected'],
    ['while only the money is silent',   (path) => path.startsWith('/v1/holds'),                'rejected'],
  ]
  for (const [why, hangs, status] of rows) {
    test(`${why}: ${status}`, async () => {
      // Whoever is known for long is not asked for.
      await seconds(31)
      town.line.hangs = hangs
      const capability_id = status === 'accepted' ? 'slow_echo' : 'word_count'
      const asked = ask('/openclaw/v1/collaborations', work({ capability_id }))
      const { ms, result } = await town.timed(asked)
      town.line.hangs = () => false
      assert.equal(result.body.response_status, status, JSON.stringify(result.body))
      assert.ok(ms <= 10_000, `${ms} ms`)
      if (status === 'accepted') await slow.letGo()
      else assert.equal((result.body.rejection_reason as Body).retryable, true)
    })
  }
})

test('OC-17 “publish collaboration results within 5 seconds of completion”', async () => {
  const sent = work()
  const { result } = await town.timed(ask('/openclaw/v1/collaborations', sent))
  assert.equal(result.body.response_status, 'accepted', JSON.stringify(result.body))
  await seconds(20)
  const from = town.clock.now()
  await slow.letGo()
  await seconds(5)
  const published = told(RESULTS).find(({ body }) => body.request_id === sent.request_id)
  assert.ok(published && published.at - from <= 5_000)
  assert.equal(published.status, 204)
})

test('SF-12 “no rejected messages due to schema violations under normal operation”', async () => {
  const refused = town.passed.filter(({ status }) => status >= 400)
  assert.deepEqual(
    refused.map(({ path, status, body }) => [path, status, body]),
    [],
  )
  const page = await agent.metrics.text()
  assert.match(page, /^status_publish_success_total [1-9]/m)
  assert.doesNotMatch(page, /^status_publish_failures_total\{.*\} [1-9]/m)
})

test('AV-10 “presence events … can be queried for the last 24 hours”', async () => {
  const { result } = await town.timed(agent.stop())
  assert.deepEqual(result.notClosed, [])
  const path = (more = '') =>
    `/moltbook/v1/presence-events?agent_id=${agent.id()}&instance_id=${instance}${more}`
  const count = async (more?: string): Promise<number> => {
    const { status, body } = await town.on.send(path(more), { token: town.on.operator })
    assert.equal(status, 200, JSON.stringify(body))
    return (body.events as Body[]).length
  }
  const before = await count('&limit=100')
  assert.ok(before > 0)
  await town.clock.advanceBy(23 * 60 * 60 * 1_000)
  assert.equal(await count('&limit=100'), before)
  assert.ok((await count('&state=offline')) > 0)
})
