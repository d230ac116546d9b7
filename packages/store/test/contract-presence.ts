/**
 * Presence events: kept in batches, asked for by agent, instance and state, dropped by whole days.
 */
import assert from 'node:assert/strict'
import type { AgentId, CorrelationId, InstanceId } from '@chimera/domain/ids'
import type { Availability } from '@chimera/domain/presence/presence'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { hasCode } from '../src/failure.ts'
import { createPresenceLog, type PresenceEvent } from '../src/presence.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'

const HOUR_MS = 3_600_000

export const event = (
  id: string,
  about: { agent?: string; instance?: string; state?: Availability } = {},
  receivedAt = START,
): PresenceEvent => ({
  id,
  announcement: {
    agent: (about.agent ?? 'a') as AgentId,
    instance: (about.instance ?? 'i') as InstanceId,
    availability: about.state ?? 'available',
    capabilities: ['draw', 'ü'],
    slotsTotal: 4,
    slotsFree: 3,
    load: { cpu: 0.25, mem: 0.1 },
    signedAt: receivedAt - 5,
    expiresAt: receivedAt + 30_000,
    correlation: 'trace' as CorrelationId,
  },
  receivedAt,
  verification: 'verified',
  signature: 'c2ln',
  raw: '{"a":"\\u0000 as it came"}',
})

const partitions = async (database: Database) =>
  (
    await database.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits
       WHERE inhparent = 'presence_events'::regclass ORDER BY 1`,
      [],
    )
  ).map(({ name }) => name)

export function presenceContract({ fresh }: Stage): void {
  describe('presence events', () => {
    test('AV-10 are kept as they came, and found by agent, instance and state', async () => {
      const { database } = await fresh()
      const log = createPresenceLog({ database, clock: createHands().clock })
      const events = [
        event('e1', { agent: 'a', instance: 'i1' }, START - 3 * HOUR_MS),
        event('e2', { agent: 'a', instance: 'i2', state: 'busy' }, START - 2 * HOUR_MS),
        event('e3', { agent: 'b', instance: 'i3', state: 'busy' }, START - HOUR_MS),
        event('old', { agent: 'a', instance: 'i1' }, START - 24 * HOUR_MS - 1),
      ]
      await Promise.all([...events, ...events].map(log.append))
      const found = async (query: Parameters<typeof log.find>[0]) =>
        (await log.find(query)).map(({ id }) => id)
      assert.deepEqual(await found({}), ['e3', 'e2', 'e1'], 'the last 24 hours')
      assert.deepEqual(await found({ agent: 'a' as AgentId }), ['e2', 'e1'])
      assert.deepEqual(await found({ instance: 'i1' as InstanceId }), ['e1'])
      assert.deepEqual(await found({ state: 'busy' }), ['e3', 'e2'])
      assert.deepEqual(await found({ agent: 'a' as AgentId, state: 'busy' }), ['e2'])
      assert.deepEqual(await found({ since: 0, limit: 9 }), ['e3', 'e2', 'e1', 'old'])
      assert.deepEqual(await log.find({ limit: 1 }), [events[2]])
    })

    test('AV-10 are read on behind the last one seen, in either direction', async () => {
      const { database } = await fresh()
      const log = createPresenceLog({ database, clock: createHands().clock })
      // Three of one moment: a place is the time and the id together.
      const moments = [START - 2, START - 1, START - 1, START - 1, START]
      const events = moments.map((at, index) => event(`e${index}`, {}, at))
      for (const each of events) await log.append(each)
      for (const first of ['oldest', 'latest'] as const) {
        const seen: string[] = []
        for (let after: PresenceEvent | undefined; ; ) {
          const page = await log.find({ first, limit: 2, ...(after && { after }) })
          after = page.at(-1)
          if (after === undefined) break
          seen.push(...page.map(({ id }) => id))
        }
        const expected = ['e0', 'e1', 'e2', 'e3', 'e4']
        assert.deepEqual(seen, first === 'oldest' ? expected : expected.reverse())
      }
      const until = await log.find({ until: START - 1 })
      assert.deepEqual(until, events.slice(0, 1))
    })

    test('AV-10 500 at once are all kept, and one that cannot be is refused alone', async () => {
      const { database } = await fresh()
      const log = createPresenceLog({ database, clock: createHands().clock })
      const bad = { ...event('bad'), raw: 'nul \u0000' }
      const wide = event('wide')
      const wrong = { ...wide, announcement: { ...wide.announcement, slotsTotal: 1e30 } }
      const good = Array.from({ length: 500 }, (_, at) => log.append(event(`many-${at}`)))
      await assert.rejects(log.append(bad), (error) => hasCode(error, 'fact_unstorable'))
      await assert.rejects(log.append(wrong), (error) => hasCode(error, 'statement_failed'))
      await Promise.all(good)
      assert.equal((await log.find({})).length, 500)
    })

    test('of one instance keep their order, however many batches run at a time', async () => {
      const { database } = await fresh()
      const log = createPresenceLog({ database, clock: createHands().clock, lanes: 3 })
      const events = Array.from({ length: 600 }, (_, at) =>
        event(`e${String(at).padStart(3, '0')}`, { instance: `i${at % 5}` }),
      )
      await Promise.all(events.map(log.append))
      const rows = await database.query<{ instance_id: string; event_id: string }>(
        'SELECT instance_id, event_id FROM presence_events ORDER BY tx, event_id COLLATE "C"',
        [],
      )
      assert.equal(rows.length, events.length)
      for (const instance of ['i0', 'i1', 'i2', 'i3', 'i4']) {
        const ids = rows.filter((row) => row.instance_id === instance).map((row) => row.event_id)
        assert.deepEqual(ids, [...ids].sort(), instance)
      }
    })

    test('AV-10 days are made ahead and dropped when over, but 24 hours are kept', async () => {
      const { database } = await fresh()
      const hands = createHands()
      const log = createPresenceLog({ database, clock: hands.clock })
      await log.prepare()
      await log.prepare()
      assert.deepEqual(await partitions(database), [
        'presence_events_20260115',
        'presence_events_20260116',
      ])
      await log.append(event('e1'))
      hands.setNow(START + 48 * HOUR_MS)
      await log.prepare()
      const tooSoon = log.dropBefore(START + 48 * HOUR_MS - 24 * HOUR_MS + 1)
      await assert.rejects(tooSoon, (error) => hasCode(error, 'retention_too_short'))
      assert.equal(await log.dropBefore(START + 24 * HOUR_MS), 1)
      assert.deepEqual(await partitions(database), [
        'presence_events_20260116',
        'presence_events_20260117',
        'presence_events_20260118',
      ])
      assert.deepEqual(await log.find({ since: 0 }), [])
    })

    test('AV-10 a single day cannot be emptied either', async () => {
      const { database } = await fresh()
      const log = createPresenceLog({ database, clock: createHands().clock })
      await log.append(event('e1'))
      for (const sql of ['TRUNCATE', 'DELETE FROM']) {
        const statement = `${sql} presence_events_20260115`
        const denied = (e: unknown) => hasCode(e, 'statement_failed') && e.sqlState === '42501'
        await assert.rejects(database.query(statement), denied)
        const byOwner = database.transaction((tx) => tx.query(statement), { role: 'owner' })
        await assert.rejects(byOwner, denied)
      }
    })
  })
}
