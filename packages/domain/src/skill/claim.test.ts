/** Claims without an answer: one row, one rule. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { LIMITS } from '../limits.ts'
import { claimUntil, judgeClaim } from './claim.ts'

const NOW = 1_000
const claim = { by: 'one', until: claimUntil(NOW, 500) }
const END = NOW + 500 + LIMITS.skewMs

// biome-ignore format: a table is read by its columns
const rows: [rule: string, runner: string, alone: boolean, now: number, is: string][] = [
  ['Q1 another runner may still be at it',      'two', false, END - 1, 'under_way'],
  ['Q2 until its time is over',                 'two', false, END,     'unknown'],
  ['Q2 an own one that does not run has ended', 'one', false, NOW,     'unknown'],
  ['Q2 who is alone knows the other is dead',   'two', true,  NOW,     'unknown'],
]

for (const [rule, runner, alone, now, is] of rows) {
  test(rule, () => assert.equal(judgeClaim(claim, { runner, alone }, now), is))
}
