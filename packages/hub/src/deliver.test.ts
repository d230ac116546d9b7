/** When a receiver wants us to come back, in both forms that RFC 9110 has for it. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readRetryAfter } from './deliver.ts'

const NOW = Date.UTC(2026, 0, 1, 12)

describe('retry-after', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, field: string | undefined, ms: number | undefined][] = [
    ['absent',                   undefined,                       undefined],
    ['seconds',                  '120',                           120_000],
    ['none at all',              '0',                             0],
    ['a date',                   'Thu, 01 Jan 2026 12:01:30 GMT', 90_000],
    ['a date that has passed',   'Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['seconds with a sign',      '-5',                            undefined],
    ['seconds without an end',   '9'.repeat(99),                  undefined],
    ['half a second',            '0.5',                           undefined],
    ['a date without a zone',    '2026-01-01T12:01:30',           undefined],
    ['words',                    'soon, GMT',                     undefined],
    ['nothing',                  '',                              undefined],
  ]
  for (const [rule, field, ms] of rows) {
    test(rule, () => assert.equal(readRetryAfter(field, NOW), ms))
  }
})
