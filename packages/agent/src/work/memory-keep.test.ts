/** The keep in memory, by the contract of every keep; and what it does when it is full. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { keepContract, keptAs } from '../../test/contract-keep.ts'
import type { KeptWork } from './keep.ts'
import { createMemoryKeep, type Ended, endedName, keepOn } from './memory-keep.ts'

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

test('M1 of ended work with a file under it the latest alone are in memory', async () => {
  const lines: KeptWork[] = []
  const fetched: number[] = []
  let now = 0
  const { keep, entries } = keepOn(
    {
      durable: true,
      first: [],
      write: (kept) => {
        const rest = endedName(kept)
        lines.push(kept)
        return rest && { rest, at: lines.length - 1, bytes: 1 }
      },
      fetch: async ({ at }: Ended) => {
        fetched.push(at)
        return lines[at] ?? keptAs('none')
      },
    },
    { now: () => now },
  )
  const refused = (name: string) =>
    keptAs(name, { forgetAt: 9 }, { name: 'refused', refusal: 'skill_unknown' })
  for (let at = 0; at < 1_000; at += 1) await keep.enter(refused(`${at}`))
  await keep.enter(keptAs('running'))
  const whole = [...entries()].filter((entry) => !('rest' in entry))
  assert.deepEqual(
    whole.map((entry) => 'scope' in entry && entry.scope),
    ['scope running'],
  )
  assert.ok(await keep.find('scope 999'))
  assert.deepEqual(fetched, [])
  assert.equal((await keep.find('scope 5'))?.scope, 'scope 5')
  assert.deepEqual(fetched, [5])
  now = 9
  assert.equal(await keep.find('scope 999'), undefined)
  assert.equal([...entries()].length, 1, 'what is forgotten is not written again')
})
