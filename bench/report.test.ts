/** What a person reads of a run. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { Result } from './frame.ts'
import { number, renderReport } from './report.ts'

const result: Result = {
  name: 'decode',
  method: 'Decodes one message.',
  unit: 'per second',
  ours: { name: 'ours', figure: 1_234_567.8 },
  peer: { name: 'the peer', figure: 900 },
  ratio: 1.234,
  spread: [1.1, 1.4],
  target: { direction: 'at least', ratio: 1 },
  met: true,
  rounds: 15,
}

const machine = {
  date: '2026-01-02T03:04:05.000Z',
  node: '20.19.0',
  platform: 'linux x64',
  cpu: 'A processor',
  cores: 2,
}

test('the report says where, when, how, what and whether', () => {
  assert.deepEqual(renderReport({ machine, quick: true, results: [result] }).split('\n'), [
    '2026-01-02T03:04:05.000Z, Node 20.19.0, linux x64, A processor, 2 cores',
    'Quick: few and short rounds, rough figures.',
    '',
    'decode',
    '  Decodes one message.',
    '  ours           1 234 568 per second',
    '  the peer             900 per second',
    '  ratio 1.23 (1.10–1.40 over 15 rounds), target at least 1: met',
    '',
    '1 of 1 targets met',
  ])
})

test('a missed target cannot be overlooked', () => {
  const missed = renderReport({ machine, quick: false, results: [{ ...result, met: false }] })
  assert.match(missed, /: MISSED\n\n0 of 1 targets met$/)
})

test('a long method is wrapped', () => {
  const method = 'word '.repeat(60).trim()
  const report = renderReport({ machine, quick: false, results: [{ ...result, method }] })
  for (const line of report.split('\n')) assert.ok(line.length <= 100, line)
})

// biome-ignore format: a table is read by its columns
const figures: [figure: number, shown: string][] = [
  [0,             '0.00'],
  [0.012345,      '0.0123'],
  [1.5,           '1.50'],
  [99.94,         '99.9'],
  [100.4,         '100'],
  [1_000,         '1 000'],
  [12_345_678.9,  '12 345 679'],
  [Infinity,      'Infinity'],
]
for (const [figure, shown] of figures) {
  test(`${figure} is shown as ${shown}`, () => assert.equal(number(figure), shown))
}
