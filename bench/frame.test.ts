/** The arithmetic of a benchmark and the order of its rounds, under a clock that the test turns. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type Benchmark, judge, measure, median, meets, type Side } from './frame.ts'

const PACE = { rounds: 3, warmUps: 2, roundMs: 100 }

/** A clock that only the sides move: each operation of a side takes its own time. */
function track() {
  let now = 0
  const runs: string[] = []
  const side = (name: string, msPerOperation: () => number): Side => ({
    name,
    run: (times) => {
      runs.push(name)
      now += times * msPerOperation()
    },
  })
  return { runs, side, clock: () => now }
}

function benchmark(parts: Pick<Benchmark, 'ours' | 'peer'> & Partial<Benchmark>): Benchmark {
  return {
    name: 'sample',
    method: 'A sample.',
    target: { direction: 'at least', ratio: 1 },
    ...parts,
  }
}

const idle: Side = { name: 'idle', run: () => {} }

describe('the median', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, figures: number[], middle: number][] = [
    ['of one',                    [7],            7],
    ['of an odd number',          [9, 1, 5],      5],
    ['of an even number',         [1, 2, 4, 100], 3],
    ['sorts as numbers',          [10, 9, 100],   10],
    ['is not moved by an outlier', [1, 1, 1e9],   1],
  ]
  for (const [rule, figures, middle] of rows) {
    test(rule, () => assert.equal(median(figures), middle))
  }

  test('of nothing is a bug', () => {
    assert.throws(() => median([]))
  })

  test('lies in the middle, whatever the order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 1 }), (figures) => {
        const middle = median(figures)
        assert.equal(median(figures.toReversed()), middle)
        assert.ok(figures.filter((each) => each < middle).length <= figures.length / 2)
        assert.ok(figures.filter((each) => each > middle).length <= figures.length / 2)
      }),
    )
  })
})

describe('the verdict', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [direction: 'at least' | 'at most', wanted: number, ratio: number, met: boolean][] = [
    ['at least', 1,   1,    true],
    ['at least', 1,   1.5,  true],
    ['at least', 1,   0.99, false],
    ['at most',  2,   2,    true],
    ['at most',  2,   0.1,  true],
    ['at most',  2,   2.01, false],
    ['at least', 1,   NaN,  false],
    ['at most',  1,   NaN,  false],
  ]
  for (const [direction, wanted, ratio, met] of rows) {
    test(`${ratio} is ${met ? '' : 'not '}${direction} ${wanted}`, () => {
      assert.equal(meets({ direction, ratio: wanted }, ratio), met)
    })
  }

  test('goes by the median of the ratios, not by the ratio of the medians', () => {
    const rounds = [
      { ours: 10, peer: 10 },
      { ours: 20, peer: 10 },
      { ours: 30, peer: 100 },
    ]
    const result = judge(benchmark({ ours: idle, peer: idle }), rounds)
    assert.equal(result.ratio, 1)
    assert.deepEqual(result.spread, [0.3, 2])
    assert.equal(result.ours.figure, 20)
    assert.equal(result.met, true)
  })
})

describe('a run', () => {
  test('takes turns, after a warm-up of both', async () => {
    const { runs, side, clock } = track()
    const ours = side('A', () => 100)
    const peer = side('B', () => 100)
    await measure(benchmark({ ours, peer }), PACE, clock)
    // Each is tried once to find how often, then twice to warm up, then measured three times.
    assert.equal(runs.join(''), `AB${'AB'.repeat(2)}${'AB'.repeat(3)}`)
  })

  test('counts operations per second by the clock', async () => {
    const { side, clock } = track()
    const ours = side('ours', () => 0.5)
    const peer = side('peer', () => 2)
    const result = await measure(benchmark({ ours, peer }), PACE, clock)
    assert.equal(result.ours.figure, 2_000)
    assert.equal(result.peer.figure, 500)
    assert.equal(result.ratio, 4)
    assert.equal(result.rounds, 3)
  })

  test('makes a round as long as it should be, and not much longer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 1e-4, max: 90, noNaN: true }), async (ms) => {
        const { side, clock } = track()
        let length = 0
        const timed = side('ours', () => ms)
        const run = (times: number) => {
          length = times * ms
          return timed.run(times)
        }
        const peer = { name: 'limit', figure: 1 }
        await measure(benchmark({ ours: { name: 'ours', run }, peer }), PACE, clock)
        assert.ok(length >= PACE.roundMs && length <= 2 * PACE.roundMs, `${length} ms`)
      }),
    )
  })

  test('a machine that slows down slows both, and the ratio stays', async () => {
    const { side, clock } = track()
    const strain = () => 1 + clock() / 1_000
    const ours = side('ours', () => 0.1 * strain())
    const peer = side('peer', () => 0.2 * strain())
    const { ratio } = await measure(benchmark({ ours, peer }), PACE, clock)
    assert.ok(Math.abs(ratio - 2) < 0.5, `${ratio}`)
  })

  test('compares with a limit that is known', async () => {
    const { side, clock } = track()
    const peer = { name: 'the limit', figure: 4_000 }
    const result = await measure(benchmark({ ours: side('ours', () => 0.5), peer }), PACE, clock)
    assert.equal(result.ratio, 0.5)
    assert.equal(result.met, false)
  })

  test('reads a gauge once a round, and takes what it says', async () => {
    let reads = 0
    const weigh = (bytes: number) => ({
      name: 'bytes',
      read: () => {
        reads += 1
        return bytes
      },
    })
    const target = { direction: 'at most', ratio: 0.5 } as const
    const parts = { ours: weigh(30), peer: weigh(100), target, unit: 'bytes' }
    const result = await measure(benchmark(parts), PACE, () => 0)
    assert.deepEqual([result.ours.figure, result.ratio, result.met], [30, 0.3, true])
    assert.equal(result.unit, 'bytes')
    assert.equal(reads, 2 * (PACE.warmUps + PACE.rounds))
  })

  test('does not ask for ever what takes no time', async () => {
    const { clock } = track()
    const result = await measure(benchmark({ ours: idle, peer: idle }), PACE, clock)
    assert.equal(result.met, false)
  })

  test('opens before, and closes even after a failure', async () => {
    const steps: string[] = []
    const note = (step: string) => async () => {
      steps.push(step)
    }
    const broken: Side = {
      name: 'broken',
      run: () => {
        steps.push('run')
        throw new Error('broken')
      },
    }
    const parts = { ours: broken, peer: idle, open: note('open'), close: note('close') }
    await assert.rejects(
      measure(benchmark(parts), PACE, () => 0),
      /broken/,
    )
    assert.deepEqual(steps, ['open', 'run', 'close'])
  })
})
