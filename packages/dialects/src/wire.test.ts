/** The atoms: what they accept, what they refuse, and that they read back what they wrote. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  isHttpUrl,
  isUri,
  isUuid,
  readCents,
  readInstant,
  readUuid,
  writeCents,
  writeInstant,
} from './wire.ts'

// biome-ignore format: a table is read by its columns
const times: [text: string, at: number | undefined, why: string][] = [
  ['2026-02-11T14:15:09Z',             Date.UTC(2026, 1, 11, 14, 15, 9),       'UTC'],
  ['2026-02-11T16:15:09+02:00',        Date.UTC(2026, 1, 11, 14, 15, 9),       'an offset'],
  ['2026-02-11T08:45:09-05:30',        Date.UTC(2026, 1, 11, 14, 15, 9),       'a half-hour offset'],
  ['2026-02-11T14:15:09.123456+00:00', Date.UTC(2026, 1, 11, 14, 15, 9, 123),  'microseconds'],
  ['2026-02-11t14:15:09z',             Date.UTC(2026, 1, 11, 14, 15, 9),       'lower case, as the RFC allows'],
  ['2024-02-29T00:00:00Z',             Date.UTC(2024, 1, 29),                  'a leap day'],
  ['2026-02-11T14:15:09',              undefined,                              'no zone'],
  ['2026-02-11 14:15:09Z',             undefined,                              'a blank for the T'],
  ['2026-02-11',                       undefined,                              'a day is not a time'],
  ['2026-02-30T00:00:00Z',             undefined,                              'a day that does not exist'],
  ['2023-02-29T00:00:00Z',             undefined,                              'not a leap year'],
  ['2100-02-29T00:00:00Z',             undefined,                              'not a leap year either'],
  ['2026-13-01T00:00:00Z',             undefined,                              'a thirteenth month'],
  ['2026-02-11T24:00:00Z',             undefined,                              'hour 24'],
  ['2026-02-11T14:60:00Z',             undefined,                              'minute 60'],
  ['2026-02-11T14:15:09.Z',            undefined,                              'a point without a fraction'],
  ['2026-02-11T14:15:09+0200',         undefined,                              'an offset without its colon'],
  ['2026-02-11T14:15:09+24:00',        undefined,                              'an offset of a day'],
  ['2026-02-11T14:15:09Zebra',         undefined,                              'something behind'],
  ['1770819309',                       undefined,                              'seconds since 1970'],
  ['２026-02-11T14:15:09Z',            undefined,                              'a digit of another script'],
]
describe('X-3 times', () => {
  for (const [text, at, why] of times) {
    test(`${text}: ${why}`, () => assert.equal(readInstant(text), at))
  }
  test('what is written is read back', () => {
    const instant = fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 11, 31) })
    fc.assert(fc.property(instant, (at) => assert.equal(readInstant(writeInstant(at)), at)))
  })
})

// biome-ignore format: a table is read by its columns
const amounts: [credits: number, cents: number | undefined][] = [
  [0, 0], [0.1, 10], [0.15, 15], [0.07, 7], [0.29, 29], [1.1, 110], [19.99, 1999], [100, 10_000],
  [9_999_999.99, 999_999_999], [1.005, undefined], [0.001, undefined], [0.1 + 0.2, undefined],
  [-1, undefined], [-0.01, undefined], [1e21, undefined], [1e-7, undefined],
  [Number.NaN, undefined], [Number.POSITIVE_INFINITY, undefined],
]
describe('CH-7 credits', () => {
  for (const [credits, cents] of amounts) {
    test(`${credits} is ${cents === undefined ? 'refused' : `${cents} hundredths`}`, () => {
      assert.equal(readCents(credits), cents)
    })
  }
  test('every amount up to a hundred million credits is written and read back exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000_000 }), (cents) => {
        assert.equal(readCents(writeCents(cents)), cents)
        assert.match(JSON.stringify(writeCents(cents)), /^\d+(\.\d{1,2})?$/)
      }),
      { numRuns: 2_000 },
    )
  })
  test('a debt is written with its sign', () => assert.equal(writeCents(-1), -0.01))
})

// biome-ignore format: a table is read by its columns
const uuids: [text: string, ok: boolean, why: string][] = [
  ['550e8400-e29b-41d4-a716-446655440000',          true,  'version 4'],
  ['f81d4fae-7dec-11d0-a765-00a0c91e6bf6',          true,  'version 1, as in the Chorus document (CH-13)'],
  ['00000000-0000-0000-0000-000000000000',          true,  'nil'],
  ['550E8400-E29B-41D4-A716-446655440000',          true,  'upper case'],
  ['urn:uuid:550e8400-e29b-41d4-a716-446655440000', false, 'a URN'],
  ['{550e8400-e29b-41d4-a716-446655440000}',        false, 'braces'],
  ['550e8400e29b41d4a716446655440000',              false, 'no dashes'],
  ['550e8400-e29b-41d4-a716-44665544000g',          false, 'a letter past f'],
  ['550e8400-e29b-41d4-a716-446655440000\n',        false, 'a line end'],
]
describe('CH-13 uuids', () => {
  for (const [text, ok, why] of uuids) {
    test(`${JSON.stringify(text)}: ${why}`, () => assert.equal(isUuid(text), ok))
  }
  test('the same id in another case is the same id', () => {
    assert.equal(readUuid('550E8400-E29B-41D4-A716-446655440000'), uuids[0]?.[0])
  })
})

test('addresses', () => {
  for (const good of [
    'https://agent-host:8443/jobs',
    'http://127.0.0.1:4600',
    'https://a.b/?q=1',
  ]) {
    assert.ok(isHttpUrl(good), good)
  }
  for (const bad of [
    'ftp://a/b',
    'https://',
    'https://user:pw@host/',
    'https://a b/',
    'jobs',
    '//a/b',
  ]) {
    assert.ok(!isHttpUrl(bad), bad)
  }
  assert.ok(isUri('chimera://schemas/trend_consumption_input') && isUri('https://a.b/c'))
  assert.ok(!isUri('not a uri') && !isUri('/relative') && !isUri('a:b\nc'))
})
