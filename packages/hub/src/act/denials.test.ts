/** One denial per caller and minute, and a memory that strangers cannot grow. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createDenials } from './denials.ts'

const MINUTE_MS = 60_000

describe('denied authorisation', () => {
  test('is one fact per caller and minute', () => {
    const { note } = createDenials()
    const first = note('stranger', 'unproven', 5)
    assert.deepEqual(first, { type: 'access_denied', at: 5, by: 'stranger', how: 'unproven' })
    assert.equal(note('stranger', 'forbidden', MINUTE_MS - 1), undefined)
    assert.equal(note('token:a', 'forbidden', 6)?.by, 'token:a')
    assert.equal(note('stranger', 'unproven', MINUTE_MS)?.at, MINUTE_MS)
  })

  test('is remembered for so many callers, and for the others together', () => {
    const { note } = createDenials(3)
    const facts = Array.from({ length: 1_000 }, (_, at) => note(`token:${at}`, 'forbidden', at))
    const names = facts.flatMap((each) => (each === undefined ? [] : [each.by]))
    assert.deepEqual(names, ['token:0', 'token:1', 'token:2', 'others'])
  })
})
