/** The keep in memory, by the contract of every keep; and what it does when it is full. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { keepContract, keptAs } from '../../test/contract-keep.ts'
import { createMemoryKeep } from './memory-keep.ts'

describe('the keep in memory', () => keepContract(async (now) => createMemoryKeep({ now })))

test('when it is full it says so, and drops only what may be forgotten', async () => {
  let now = 0
  const keep = createMemoryKeep({ now: () => now, most: 2 })
  await keep.enter(keptAs('a', { forgetAt: 5 }))
  await keep.enter(keptAs('b'))
  await assert.rejects(async () => keep.enter(keptAs('c')), { code: 'keep_full' })
  now = 5
  assert.equal(await keep.enter(keptAs('c')), undefined)
  assert.ok(await keep.find('scope b'))
})
