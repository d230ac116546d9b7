/** Two hubs on one PostgreSQL: one alert for both, told once; and the work of delivering shared. */
import assert from 'node:assert/strict'
import type { CorrelationId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, test } from 'vitest'
import { eventually, type Receiver, startReceiver } from './receiving.ts'
import { runHub, type TestHub } from './running.ts'

const clock = createVirtualClock()
let server: PostgresServer
let hubs: readonly TestHub[] = []
let receiver: Receiver
beforeAll(async () => {
  server = await startPostgres()
  receiver = await startReceiver()
  const wanted = { database: await server.newAddress(), clock, allowNet: ['127.0.0.1'] }
  const first = await runHub({ ...wanted, seed: 1 })
  hubs = [first, await runHub({ ...wanted, seed: 2 })]
}, 120_000)
afterAll(async () => {
  for (const each of hubs) await each.stop()
  await receiver.close()
  await server.stop()
}, 60_000)

const alerts = async (hub: TestHub | undefined) =>
  ((await hub?.get('/v1/alerts'))?.body.alerts ?? []) as readonly { id: string; count: number }[]

async function looks(is: () => boolean | Promise<boolean>, what: string): Promise<void> {
  await eventually(async () => {
    if (await is()) return true
    await clock.advanceBy(LIMITS.alertLookMs)
    for (const each of hubs) await each.hub.keep.check()
    return false
  }, what)
}

test('an alert that both hubs see is one, and stands as long as one of them sees it', {
  timeout: 60_000,
}, async () => {
  const [one, other] = hubs
  assert.equal((await one?.post('/v1/webhooks', { url: receiver.url }))?.status, 201)
  for (const each of hubs) each.hub.alerts.raise({ kind: 'books_stalled' })
  await looks(async () => (await alerts(one))[0]?.count === 2, 'both have said so')
  assert.deepEqual(await alerts(one), await alerts(other))
  one?.hub.alerts.clear('books_stalled')
  // Beat by beat: what is confirmed is written in real time, which no clock here waits for.
  const beats = Math.ceil(LIMITS.alertLeaseMs / LIMITS.alertBeatMs) + 6
  for (let beat = 0; beat < beats; beat += 1) {
    await clock.advanceBy(LIMITS.alertBeatMs)
    for (const each of hubs) await each.hub.alerts.save()
  }
  assert.equal((await alerts(one)).length, 1)
  other?.hub.alerts.clear('books_stalled')
  await looks(async () => (await alerts(one)).length === 0, 'nobody sees it any more')
  await looks(() => receiver.seen.length === 2, 'both changes were told')
  const events = receiver.seen.map(({ body }) => (JSON.parse(body) as { event: string }).event)
  assert.deepEqual(events, ['alert.raised', 'alert.cleared'])
})

test('P-8 each message is brought once, whichever hub does it', { timeout: 60_000 }, async () => {
  const before = receiver.seen.length
  const count = 40
  const correlation = 'c' as CorrelationId
  for (let each = 0; each < count; each += 1) {
    const about = { kind: 'work', id: `${each}` }
    const to = `${receiver.url}/${each}`
    await hubs[each % 2]?.hub.keep.deliveries.enqueue({ to, body: '{}', about, correlation })
  }
  await looks(() => receiver.seen.length >= before + count, 'all came')
  await clock.advanceBy(2 * LIMITS.deliveryClaimMs)
  await looks(() => true, 'a look more')
  const paths = receiver.seen.slice(before).map(({ path }) => path)
  assert.deepEqual([paths.length, new Set(paths).size], [count, count])
})
