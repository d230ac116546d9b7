/** What the screens are made of: addresses, agents, figures, spans of presence, volume. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type AgentRow, applyPost, filterAgents, inOrder, listAgents, loadOf } from './agents.ts'
import { detailOf } from './detail.ts'
import { readTold, type Told } from './events.ts'
import { addPage, NO_FIGURES, quantile, readSamples, sumOf } from './figures.ts'
import { type Day, spansOf, timeIn } from './presence.ts'
import { whyText } from './reasons.ts'
import { readRoute, writeRoute } from './route.ts'
import { fillSpans } from './volume.ts'

describe('addresses', () => {
  for (const [address, screen, id] of [
    ['/console/', 'network', undefined],
    ['/console/money', 'money', undefined],
    ['/console/network/a%2Fb', 'network', 'a/b'],
    ['/console/work/t-1', 'work', 't-1'],
    ['/console/audit/x', 'audit', undefined],
    ['/console/%E0%A4%A', 'network', undefined],
    ['/console/nowhere/at/all', 'network', 'at'],
    ['/elsewhere', 'network', undefined],
  ] as const) {
    test(address, () => {
      const route = readRoute(address, '')
      assert.equal(route.screen, screen)
      assert.equal(route.id, id)
    })
  }
  test('are read as they were written', () => {
    const route = { screen: 'work', id: 'a/b?c', query: { tab: 'open' } } as const
    const [path = '', search = ''] = writeRoute(route).split('?')
    assert.deepEqual(readRoute(path, search), route)
  })
})

const agent = (more: Partial<AgentRow> = {}): AgentRow => ({
  agent_id: 'a-1',
  agent_name: 'Counter',
  owner_id: 'alice',
  condition: 'idle',
  liveness: 'online',
  registered_at: '2027-01-15T12:00:00Z',
  tasks: 0,
  slots_total: 4,
  slots_free: 4,
  window_score: 0.5,
  running_score: 50,
  completed: 0,
  failed: 0,
  skills: [{ skill: 'count', version: '1.0', price: 0.05 }],
  instances: [],
  ...more,
})
const post = (more: Partial<Told> = {}): Told => ({
  topic: 'presence',
  kind: 'instance_seen',
  at: '2027-01-15T12:00:30Z',
  agent_id: 'a-1',
  instance_id: 'i-1',
  state: 'busy',
  slots_total: 4,
  slots_free: 1,
  ...more,
})

describe('agents', () => {
  const known = listAgents([agent()])
  test('a post moves slots, condition and the last sign of life', () => {
    const row = applyPost(known, post()).get('a-1')
    assert.equal(row?.condition, 'working')
    assert.equal(row?.slots_free, 1)
    assert.equal(row?.heard_at, '2027-01-15T12:00:30Z')
  })
  test('one that says goodbye is offline', () => {
    const row = applyPost(known, post({ state: 'offline', slots_free: 0 })).get('a-1')
    assert.deepEqual([row?.condition, row?.liveness], ['stopped', 'offline'])
  })
  test('an order to pause is not taken back by a post', () => {
    const paused = listAgents([agent({ condition: 'paused' })])
    assert.equal(applyPost(paused, post()).get('a-1')?.condition, 'paused')
  })
  test('what is unknown, malformed or another kind changes nothing', () => {
    for (const told of [
      post({ agent_id: 'a-9' }),
      post({ state: 'asleep' }),
      post({ kind: 'x' }),
    ]) {
      assert.equal(applyPost(known, told), known)
    }
  })
  test('are found by name, owner, skill and whether they are here', () => {
    const all = listAgents([
      agent(),
      agent({ agent_id: 'a-2', owner_id: 'bob', liveness: 'offline' }),
    ])
    const find = (filter: Partial<Parameters<typeof filterAgents>[1]>) =>
      filterAgents(all, { words: '', liveness: '', skill: '', ...filter }).map(
        (row) => row.agent_id,
      )
    assert.deepEqual(find({ words: 'BOB' }), ['a-2'])
    assert.deepEqual(find({ liveness: 'here' }), ['a-1'])
    assert.deepEqual(find({ skill: 'none' }), [])
    assert.equal(inOrder([...all.values()])[0]?.agent_id, 'a-1')
  })
  test('the heaviest instance is the load', () => {
    assert.equal(loadOf(agent()), undefined)
    const row = applyPost(known, post()).get('a-1')
    assert.equal(row && loadOf(row), 0)
  })
})

const METRICS = (requests: number, fast: number, all: number) => `# HELP x
http_requests_total{route="/a",status="200"} ${requests}
http_requests_total{route="/b",status="503"} 2
http_request_seconds_bucket{le="0.1",route="/a"} ${fast}
http_request_seconds_bucket{le="1",route="/a"} ${all}
http_request_seconds_bucket{le="+Inf",route="/a"} ${all}
process_resident_memory_bytes 5000000
`

describe('figures', () => {
  test('samples have labels, and comments are none', () => {
    const samples = readSamples(METRICS(10, 5, 10))
    assert.equal(sumOf(samples, 'http_requests_total'), 12)
    assert.equal(
      sumOf(samples, 'http_requests_total', ({ status }) => status === '503'),
      2,
    )
  })
  test('two pages make a rate and a latency', () => {
    const first = addPage(NO_FIGURES, METRICS(10, 5, 10), 1_000)
    assert.equal(first.points[0]?.requests, undefined)
    const { points } = addPage(first, METRICS(30, 15, 30), 6_000)
    assert.equal(points[1]?.requests, 4)
    assert.equal(points[1]?.refused, 0)
    assert.ok(Math.abs((points[1]?.p50 ?? 0) - 0.1) < 0.001)
  })
  test('M1 a counter that began anew says nothing', () => {
    const first = addPage(NO_FIGURES, METRICS(100, 5, 10), 1_000)
    assert.equal(addPage(first, METRICS(1, 5, 10), 6_000).points[1]?.requests, undefined)
  })
  test('M2 an hour is kept', () => {
    let figures = NO_FIGURES
    for (let at = 0; at < 800; at += 1) figures = addPage(figures, METRICS(at, 0, 0), at * 5_000)
    assert.equal(figures.points.length, 720)
  })
  test('nothing answered, no latency', () => assert.equal(quantile([], [], 0.5), undefined))
})

describe('spans', () => {
  const minute = (at: number) => new Date(at * 60_000).toISOString()
  const span = (state: Day['spans'][number]['state'], from: number, until: number) => ({
    state,
    from: minute(from),
    until: minute(until),
  })
  const shown = (...spans: Day['spans']) =>
    spansOf({ spans }).map(({ state, begins, ends }) => [state, begins / 60_000, ends / 60_000])
  test('one after another they are shown as they are, with pauses between', () => {
    assert.deepEqual(shown(span('available', 0, 5), span('busy', 5, 8), span('busy', 20, 30)), [
      ['available', 0, 5],
      ['busy', 5, 8],
      ['busy', 20, 30],
    ])
  })
  test('of two instances the one that works is shown, and nothing twice', () => {
    const all = [span('available', 0, 30), span('busy', 10, 20), span('draining', 15, 40)]
    assert.deepEqual(shown(...all), [
      ['available', 0, 10],
      ['busy', 10, 20],
      ['available', 20, 30],
      ['draining', 30, 40],
    ])
    assert.equal(timeIn(spansOf({ spans: all }), 'available'), 20 * 60_000)
  })
  test('a day without a word has none', () => assert.deepEqual(shown(), []))
  test('volume has a value for each span, paid in or not', () => {
    const since = '2027-01-15T12:00:00Z'
    const spans = [{ begins_at: '2027-01-15T14:00:00Z', amount: 3 }]
    const filled = fillSpans({ by: 'hour', since, spans }, 4)
    assert.deepEqual(
      filled.map(({ amount }) => amount),
      [0, 0, 3, 0],
    )
  })
})

describe('words', () => {
  test('of a fact, in one line', () => {
    const told: Told = { ...post(), kind: 'credits_held', payer: 'alice', amount: 1.5 }
    assert.match(detailOf(told), /from alice · 1\.50/)
  })
  test('of an event that is none', () => {
    assert.equal(readTold('work', '{"at":1}'), undefined)
    assert.equal(readTold('work', '{'), undefined)
  })
  test('of reasons, known or not', () => {
    assert.equal(whyText(['done', 'brand_new']), 'Done in time; brand new')
  })
})
