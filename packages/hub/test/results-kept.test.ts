/** The content of results is let go after its time, by the clock alone. */
import assert from 'node:assert/strict'
import { createLog } from '@chimera/host/log'
import { createStop } from '@chimera/host/stop'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { test } from 'vitest'
import type { Hub } from '../src/act/hub.ts'
import { keepResults } from '../src/watch.ts'

const HOUR_MS = 3_600_000

test('what is older than the setting says is emptied, at the start and every hour', async () => {
  const clock = createVirtualClock({ startAt: 100 * HOUR_MS })
  const stop = createStop({ clock })
  const asked: number[] = []
  const results = {
    deleteContentBefore: async (at: number) => {
      asked.push(at / HOUR_MS)
      // Trouble with the database is tried again sooner.
      if (asked.length === 1) throw new Error('busy')
      return 0
    },
  }
  const hub = { keep: { results }, now: clock.now, resultsKeptMs: 30 * HOUR_MS } as unknown as Hub
  keepResults(hub, { clock, stop, log: createLog({ clock, name: 'test', level: 'silent' }) })
  await clock.advanceBy(2.5 * HOUR_MS)
  await stop.stop('end of the test')
  const retried = 70 + 5 / 60
  assert.deepEqual(asked.length, 4)
  assert.equal(asked[0], 70)
  for (const [at, when] of asked.slice(1).entries()) {
    assert.ok(Math.abs(when - (retried + at)) < 1e-6, `${when}`)
  }
})
