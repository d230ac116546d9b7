/** A stream handed out in this process, under a clock and timers that do not quite agree. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { Kept } from '../link.ts'
import { createHanding } from './handing.ts'

test('what is to come again does when its timer ends, though the clock is behind', async () => {
  const timers: { readonly ms: number; readonly run: () => void }[] = []
  const clock = {
    now: () => 1_000,
    after: (ms: number, run: () => void) => {
      timers.push({ ms, run })
      return { cancel: () => {} }
    },
  }
  const kept = { seq: 1, at: 0, delivery: { subject: 'town.a' } } as unknown as Kept
  const keep = { read: async (_: string, next: number) => (next === 1 ? [kept] : []) }
  const { handOut } = createHanding(keep as never, clock)
  const over = new AbortController()
  const from = handOut({ stream: 'town', group: 'all', pattern: 'town.>' }, over.signal)
  const first = await from.next()
  assert.equal(first.value?.seq, 1)
  first.value?.again(1)
  const second = from.next()
  timers.find(({ ms }) => ms === 1)?.run()
  assert.equal((await second).value?.seq, 1)
  over.abort()
  await from.return()
})
