/** Spans and moments as people read them. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { writeSpan, writeWhen } from './span.ts'

describe('spans', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [ms: number, text: string][] = [
    [0, '0s'], [-5_000, '0s'], [499, '0s'], [500, '1s'], [59_600, '1m'], [90_000, '1m 30s'],
    [3_600_000, '1h'], [3_661_000, '1h 1m'], [3_601_000, '1h'], [90_000_000, '1d 1h'],
  ]
  for (const [ms, text] of rows) test(`${ms} ms`, () => assert.equal(writeSpan(ms), text))
})

test('moments', () => {
  assert.deepEqual([writeWhen(5_000, 0), writeWhen(0, 65_000)], ['in 5s', '1m 5s ago'])
})
