/** What the doctor says of Node and of the clock. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { checkClock, checkNode } from './checks.ts'

// biome-ignore format: a table is read by its columns
const nodes: [version: string, state: string][] = [
  ['20.19.0', 'ok'],
  ['22.0.0',  'ok'],
  ['20.18.9', 'bad'],
  ['18.99.0', 'bad'],
]
for (const [version, state] of nodes) {
  test(`Node ${version} is ${state}`, () => assert.equal(checkNode(version).state, state))
}

test('a clock before this version was made, or beyond all reason, is wrong', () => {
  assert.equal(checkClock(Date.UTC(2026, 6, 1)).state, 'ok')
  assert.equal(checkClock(0).state, 'bad')
  assert.equal(checkClock(Date.UTC(2150, 0, 1)).state, 'bad')
  assert.ok(checkClock(0).next)
})
