/** The shares of a machine, from figures that a test makes up, and of this very process. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createLoad, type Measured, measureProcess, shareOf } from './load.ts'

const at = (atMs: number, usedMs: number): Measured => ({
  atMs,
  usedMs,
  memoryBytes: 256,
  cores: 2,
  mostBytes: 1_024,
})

function loadOver(...measured: Measured[]) {
  return createLoad(() => measured.shift() ?? at(0, 0))
}

describe('AV-1 load', () => {
  test('is the processor time of all cores since the last look', () => {
    const load = loadOver(at(1_000, 500), at(2_000, 1_500), at(3_000, 1_500), at(4_000, 9_000))
    const cpu = [load(), load(), load(), load()].map((each) => each.cpu)
    assert.deepEqual(cpu, [0.25, 0.5, 0, 1])
  })

  test('a look that comes too soon repeats the last figure, and is made up for later', () => {
    const load = loadOver(at(1_000, 500), at(1_010, 520), at(2_000, 1_500))
    assert.deepEqual(
      [load(), load(), load()].map(({ cpu, mem }) => [cpu, mem]),
      [
        [0.25, 0.25],
        [0.25, 0.25],
        [0.5, 0.25],
      ],
    )
  })

  // biome-ignore format: a table is read by its columns
  const rows: [part: number, whole: number, share: number][] = [
    [1, 4, 0.25], [5, 4, 1], [-1, 4, 0], [0, 0, 1], [Number.NaN, 4, 1], [1, Number.POSITIVE_INFINITY, 0],
  ]
  for (const [part, whole, share] of rows) {
    test(`${part} of ${whole} is ${share}`, () => assert.equal(shareOf(part, whole), share))
  }

  test('this process has figures of its own', () => {
    const { usedMs, atMs, memoryBytes, cores, mostBytes } = measureProcess()
    assert.ok(usedMs > 0 && atMs > 0 && cores >= 1)
    assert.ok(memoryBytes > 1_000_000 && mostBytes > memoryBytes && Number.isFinite(mostBytes))
    const { cpu, mem } = createLoad()()
    assert.ok(cpu > 0 && cpu <= 1 && mem > 0 && mem < 1)
  })
})
