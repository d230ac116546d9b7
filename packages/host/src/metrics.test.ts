/** The page is read as Prometheus reads it. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createMetrics } from './metrics.ts'

const lines = async ({ text }: { text: () => Promise<string> }): Promise<readonly string[]> =>
  (await text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))

test('counters, gauges and histograms are on the page', async () => {
  const metrics = createMetrics()
  const failures = metrics.counter({
    name: 'status_publish_failures_total',
    help: 'Publishes that failed.',
    labels: ['reason'],
  })
  failures.add({ reason: 'timeout' })
  failures.add({ reason: 'timeout' }, 2)
  failures.add({ reason: 'refused' })
  const depth = metrics.gauge({ name: 'queue_depth', help: 'Waiting.' })
  depth.set({}, 7)
  const took = metrics.histogram({ name: 'took_ms', help: 'Time.', buckets: [10, 100] })
  for (const ms of [5, 50, 500]) took.observe({}, ms)

  const page = await lines(metrics)
  for (const line of [
    'status_publish_failures_total{reason="timeout"} 3',
    'status_publish_failures_total{reason="refused"} 1',
    'queue_depth 7',
    'took_ms_bucket{le="10"} 1',
    'took_ms_bucket{le="100"} 2',
    'took_ms_bucket{le="+Inf"} 3',
    'took_ms_sum 555',
    'took_ms_count 3',
  ]) {
    assert.ok(page.includes(line), `${line} in\n${page.join('\n')}`)
  }
  assert.match(metrics.contentType, /^text\/plain; version=0\.0\.4/)
  assert.ok((await metrics.text()).includes('# HELP queue_depth Waiting.'))
})

test('a gauge can be asked when the page is read', async () => {
  const metrics = createMetrics()
  let waiting = 1
  metrics.gauge({ name: 'queue_depth', help: 'Waiting.', read: () => waiting })
  waiting = 4
  assert.ok((await lines(metrics)).includes('queue_depth 4'))
  waiting = 5
  assert.ok((await lines(metrics)).includes('queue_depth 5'))
})

test('two registries do not add up', async () => {
  const [one, other] = [createMetrics(), createMetrics({ always: { hub: 'b' } })]
  const [mine] = [one, other].map((each) => each.counter({ name: 'calls_total', help: 'Calls.' }))
  mine?.add({})
  assert.ok((await lines(one)).includes('calls_total 1'))
  assert.ok((await lines(other)).includes('calls_total{hub="b"} 0'))
})

test('M3 a name is registered once', () => {
  const metrics = createMetrics()
  metrics.counter({ name: 'calls_total', help: 'Calls.' })
  assert.throws(() => metrics.gauge({ name: 'calls_total', help: 'Calls.' }), /already/)
})

describe('M1 series are bounded', () => {
  test('beyond the most they are counted as other, and that is counted', async () => {
    const metrics = createMetrics()
    const calls = metrics.counter({
      name: 'calls_total',
      help: 'Calls.',
      labels: ['agent', 'door'],
      most: 3,
    })
    for (let agent = 0; agent < 1_000; agent += 1) calls.add({ agent: `a${agent}`, door: 'http' })
    calls.add({ agent: 'a1', door: 'http' })
    const page = (await lines(metrics)).filter((line) => line.startsWith('calls_total'))
    assert.deepEqual(page, [
      'calls_total{agent="a0",door="http"} 1',
      'calls_total{agent="a1",door="http"} 2',
      'calls_total{agent="a2",door="http"} 1',
      'calls_total{agent="other",door="other"} 997',
    ])
    assert.ok((await lines(metrics)).includes('metrics_folded_total{metric="calls_total"} 997'))
  })

  test('a dropped series makes room, and dropping the shared one does nothing', async () => {
    const metrics = createMetrics()
    const last = metrics.gauge({ name: 'last', help: 'Last.', labels: ['agent'], most: 1 })
    last.set({ agent: 'a' }, 1)
    last.set({ agent: 'b' }, 2)
    last.drop({ agent: 'b' })
    last.drop({ agent: 'a' })
    last.set({ agent: 'c' }, 3)
    const page = (await lines(metrics)).filter((line) => line.startsWith('last'))
    assert.deepEqual(page.sort(), ['last{agent="c"} 3', 'last{agent="other"} 2'])
  })
})

test('X-5 M2 a label shows no secret', async () => {
  const metrics = createMetrics()
  const secret = `chm_${'a1B2c3D4e5F6g7H8'}`
  const failures = metrics.counter({ name: 'failures_total', help: 'Failures.', labels: ['why'] })
  failures.add({ why: `no ${secret} at 10.0.0.7` })
  failures.add({ why: `no ${secret} at 10.0.0.7` })
  const page = await lines(metrics)
  assert.ok(
    page.includes('failures_total{why="no [secret removed] at [host removed]"} 2'),
    `${page}`,
  )
})

test('the process itself is measured when asked', async () => {
  const named = async (process: boolean) =>
    (await createMetrics({ process }).text()).includes('process_resident_memory_bytes')
  assert.deepEqual([await named(false), await named(true)], [false, true])
})
