/** Who is counted under which name, and that the memory of it cannot be grown. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createRate, originOf } from './rate.ts'

const NOW = 1_800_000_000_000

describe('the rate of callers', () => {
  test('is counted for each by itself', () => {
    const rate = createRate({ perMinute: 2 })
    const taken = ['a', 'a', 'a', 'b', 'b', 'b'].map((name) => rate.take(name, NOW).ok)
    assert.deepEqual(taken, [true, true, false, true, true, false])
    const refused = rate.take('a', NOW)
    assert.ok(!refused.ok && (refused.particulars.retryAt ?? 0) <= NOW + 61_000)
  })

  test('is not counted by looking', () => {
    const rate = createRate({ perMinute: 1 })
    assert.deepEqual([rate.look('a', NOW).ok, rate.look('a', NOW).ok], [true, true])
    assert.equal(rate.take('a', NOW).ok, true)
    assert.equal(rate.look('a', NOW).ok, false)
  })

  test('without a limit is not remembered', () => {
    const rate = createRate({ perMinute: 0 })
    for (let each = 0; each < 100; each += 1) assert.ok(rate.take(`a${each}`, NOW).ok)
    assert.equal(rate.size(), 0)
  })

  test('Q1 beyond so many callers the newcomers share one count', () => {
    const rate = createRate({ perMinute: 2, most: 3 })
    for (const name of ['a', 'b', 'c']) assert.ok(rate.take(name, NOW).ok)
    const shared = ['d', 'e', 'f'].map((name) => rate.take(name, NOW).ok)
    assert.deepEqual(shared, [true, true, false])
    assert.equal(rate.take('a', NOW).ok, true, 'who is known keeps its own')
    assert.equal(rate.take('a', NOW).ok, false)
    assert.equal(rate.size(), 3)
  })

  test('Q1 who was silent for a minute makes room', () => {
    const rate = createRate({ perMinute: 1, most: 2 })
    rate.take('a', NOW)
    rate.take('b', NOW + 30_000)
    assert.ok(rate.take('c', NOW + 61_000).ok)
    assert.ok(!rate.take('c', NOW + 61_000).ok, 'counted by itself')
    assert.ok(!rate.take('b', NOW + 61_000).ok, 'and nobody was forgotten too early')
    assert.equal(rate.size(), 2)
  })
})

describe('where a stranger comes from', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [address: string, origin: string][] = [
    ['192.0.2.7',                  '192.0.2.7'],
    ['::ffff:192.0.2.7',           '192.0.2.7'],
    ['::1',                        '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6',       '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9',            '2001:db8:1:2::/64'],
    ['2001:db8::9',                '2001:db8:0:0::/64'],
    ['2001:0db8:0001:0002::',      '2001:db8:1:2::/64'],
    ['fe80::1%eth0',               'fe80:0:0:0::/64'],
  ]
  for (const [address, origin] of rows) {
    test(`${address} is ${origin}`, () => assert.equal(originOf(address), origin))
  }
})
