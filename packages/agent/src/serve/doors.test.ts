/** OC-11: an answer within 10 s, whatever the rest does. */
import assert from 'node:assert/strict'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { test } from 'vitest'
import { askFor } from '../../test/working.ts'
import { askInTime, type Doors } from './doors.ts'

test('OC-11 an ask that nobody decides in time is answered as one to repeat', async () => {
  const clock = createVirtualClock()
  const silent = { ask: () => new Promise<never>(() => undefined) }
  const doors = { clock, workshop: silent } as unknown as Doors
  const startedAt = clock.now()
  const asking = askInTime(doors, { door: 'openclaw', asked: askFor(), signer: undefined })
  let tookMs = Number.POSITIVE_INFINITY
  void Promise.resolve(asking).finally(() => {
    tookMs = clock.now() - startedAt
  })
  await clock.advanceBy(10_000)
  const answer = await asking
  assert.ok(!answer.ok && answer.refusal === 'service_unavailable')
  assert.ok(tookMs < 10_000, `${tookMs} ms`)
  assert.deepEqual(clock.pending(), [], 'no timer is left')
})
