/** What a restarted hub still knows of the posts before: enough that none of them can be replayed. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, test } from 'vitest'
import { createPoster } from './posting.ts'
import { runHub } from './running.ts'

const data = mkdtempSync(join(tmpdir(), 'chimera-restart-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

test('AV-3 a restart undoes no revocation, and who still counts is still listed', {
  timeout: 60_000,
}, async () => {
  const clock = createVirtualClock()
  const before = await runHub({ data, clock, seed: 1 })
  const staying = await createPoster(before, clock)
  const leaving = await createPoster(before, clock)
  const recorded = leaving.signed()
  assert.equal((await before.post('/moltbook/v1/presence', recorded)).status, 204)
  await staying.post()
  await clock.advanceBy(1_000)
  await leaving.post({ availability: 'offline' })
  await before.stop()

  await clock.advanceBy(5_000)
  const after = await runHub({ data, clock, seed: 2 })
  try {
    const replayed = await after.post('/moltbook/v1/presence', recorded)
    assert.deepEqual([replayed.status, replayed.body.code], [409, 'outdated'])
    const { body } = await after.get('/moltbook/v1/directory')
    const listed = body.instances as { agent_id: string }[]
    assert.deepEqual(
      listed.map(({ agent_id }) => agent_id),
      [staying.id],
    )
  } finally {
    await after.stop()
  }
})
