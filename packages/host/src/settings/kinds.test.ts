/** What each kind of setting takes and refuses; one row, one rule. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  choice,
  duration,
  fraction,
  type Kind,
  list,
  place,
  size,
  text,
  url,
  whole,
  yesNo,
} from './kinds.ts'

const port = whole({ least: 0, most: 65_535 })
const share = fraction({ least: 0, most: 1 })
const wait = duration({ least: 100, most: 86_400_000 })
const bytes = size({ least: 0, most: 2 ** 30 })
const level = choice(['info', 'warn'])

// biome-ignore format: a table is read by its columns
const accepted: readonly (readonly [kind: Kind<unknown>, raw: unknown, value: unknown])[] = [
  [text(),                        'a',               'a'],
  [text({ least: 0, most: 3 }),   '',                ''],
  [port,                          '4600',            4_600],
  [port,                          0,                 0],
  [port,                          65_535,            65_535],
  [whole({ least: -5, most: 5 }), '-5',              -5],
  [share,                         '0.25',            0.25],
  [share,                         1,                 1],
  [yesNo(),                       true,              true],
  [yesNo(),                       'no',              false],
  [level,                         'warn',            'warn'],
  [wait,                          '100ms',           100],
  [wait,                          '90s',             90_000],
  [wait,                          '1d',              86_400_000],
  [bytes,                         '256KiB',          262_144],
  [bytes,                         '0B',              0],
  [list(port, 3),                 '8001, 8002',      [8_001, 8_002]],
  [list(port, 3),                 [8_001],           [8_001]],
  [list(port, 3),                 '',                []],
  [url('https', 'http'),          'https://a.org/x', 'https://a.org/x'],
  [url('postgres'),               'postgres://d/c',  'postgres://d/c'],
  [place(),                       '127.0.0.1:4600',  { host: '127.0.0.1', port: 4_600 }],
  [place(),                       '[::1]:0',         { host: '::1', port: 0 }],
  [place(),                       'hub.example:80',  { host: 'hub.example', port: 80 }],
]

// biome-ignore format: a table is read by its columns
const refused: readonly (readonly [kind: Kind<unknown>, raw: unknown])[] = [
  [text(), ''], [text({ least: 1, most: 3 }), 'long'], [text(), 5], [text(), null],
  [port, '-1'], [port, '65536'], [port, 1.5], [port, '1.0'], [port, ' 80'], [port, '80x'],
  [port, '0x50'], [port, '1e3'], [port, ''], [port, Number.NaN], [port, true], [port, [80]],
  [share, '1.01'], [share, '.5'], [share, '1,0'], [share, Number.POSITIVE_INFINITY],
  [yesNo(), 'maybe'], [yesNo(), 1], [yesNo(), 'toString'], [yesNo(), ''],
  [level, 'debug'], [level, 'Warn'], [level, ['warn']],
  [wait, '30'], [wait, 30_000], [wait, '99ms'], [wait, '2d'], [wait, '1.5s'], [wait, '30 s'],
  [wait, '-1s'], [wait, '1S'], [wait, ['1s']], [wait, '9999999999999999d'],
  [bytes, '1KB'], [bytes, '2GiB'], [bytes, 1_024],
  [list(port, 2), '1,2,3'], [list(port, 2), '1,x'], [list(port, 2), '1,'], [list(port, 2), 80],
  [url('https'), 'http://a.org'], [url('https'), 'a.org'], [url('https'), `https://a.org/${'x'.repeat(2_048)}`],
  [place(), '4600'], [place(), '127.0.0.1'], [place(), ':80'], [place(), '::1:80'], [place(), 'a:65536'],
  [place(), 'a b:80'], [place(), ['a:80']],
]

describe('a kind', () => {
  for (const [kind, raw, value] of accepted) {
    test(`${kind.expected}: takes ${JSON.stringify(raw)}`, () => {
      assert.deepEqual(kind.read(raw), value)
      assert.deepEqual(kind.read(kind.show(value)), value, 'K3')
    })
  }
  for (const [kind, raw] of refused) {
    test(`${kind.expected}: refuses ${JSON.stringify(raw)?.slice(0, 60)}`, () => {
      assert.equal(kind.read(raw), undefined)
    })
  }
})

test('K1 the words name the bounds', () => {
  assert.equal(wait.expected, 'a number with its unit (d, h, m, s, ms), from 100ms to 1d')
  assert.equal(bytes.expected, 'a number with its unit (GiB, MiB, KiB, B), from 0B to 1GiB')
  assert.equal(list(port, 3).expected, `at most 3, separated by commas, each ${port.expected}`)
})

test('what is read cannot be changed', () => {
  assert.ok(Object.isFrozen(place().read('a:80')))
  assert.ok(Object.isFrozen(list(port, 3).read('1,2')))
})
