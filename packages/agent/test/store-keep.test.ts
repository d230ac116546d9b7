/** The keep of the store, embedded and on PostgreSQL: the contract of every keep, and the hands. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AgentId, WorkId } from '@chimera/domain/ids'
import { type AgentStore, openAgentStore } from '@chimera/store/agents'
import { createDirectories } from '@chimera/store/testing/embedded'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Keep, Shared, Taken } from '../src/work/keep.ts'
import { keepContract, keptAs } from './contract-keep.ts'

const LEASE_MS = 1_000
const knows = () => true
const directories = createDirectories()
let server: PostgresServer | undefined
afterAll(async () => {
  await directories.removeAll()
  await server?.stop()
})

const engines: readonly { name: string; address: () => Promise<string> }[] = [
  { name: 'embedded', address: directories.newMigrated },
  {
    name: 'PostgreSQL',
    address: async () => {
      server ??= await startPostgres()
      return server.newAddress()
    },
  },
]

for (const { name, address } of engines) {
  describe(`the keep of the store, ${name}`, () => {
    let store: AgentStore
    let now: () => number = () => 0
    beforeAll(async () => {
      const clock = { now: () => now() }
      store = await openAgentStore({ database: await address(), leaseMs: LEASE_MS, clock })
    }, 60_000)
    afterAll(() => store.close())

    const newAgent = () => randomUUID() as AgentId
    const openKeep = (agent = newAgent()): Keep & { shared: Shared } => store.keep.of(agent)
    const names = (all: readonly Taken[]) => all.map(({ kept }) => kept.work.ask.work)
    /** Two instances of one agent. */
    async function openBoth() {
      const agent = newAgent()
      const [one, other] = [openKeep(agent), openKeep(agent)]
      await Promise.all([one.shared.renew(knows), other.shared.renew(knows)])
      return { one, other }
    }

    keepContract(async (at) => {
      now = at
      return openKeep()
    })

    test('any characters come back, and each agent sees its own work only', async () => {
      const keep = openKeep()
      const input = { text: 'a\u0000\ud800"\\\n{,}NULL' }
      await keep.enter(keptAs('a', { input }))
      assert.deepEqual((await keep.find('scope a'))?.input, input)
      assert.equal(await openKeep().find('scope a'), undefined)
      assert.deepEqual(await openKeep().unfinished(), [])
    })

    test('many that come together are all kept', async () => {
      const keep = openKeep()
      const all = Array.from({ length: 300 }, (_, at) => keptAs(String(at)))
      const twice = await Promise.all([...all, ...all].map(async (each) => keep.enter(each)))
      assert.equal(twice.filter((each) => each !== undefined).length, 0)
      const saved = await Promise.all(
        all.map(async (each) => keep.save({ ...each, durationMs: 7 })),
      )
      assert.deepEqual(new Set(saved), new Set(['saved']))
      assert.ok((await keep.unfinished()).every(({ durationMs }) => durationMs === 7))
    })

    test('what a living instance has in hand nobody takes, and only it changes it', async () => {
      const { one, other } = await openBoth()
      const running = keptAs('a', {}, { name: 'running', acceptedAt: 0, startedAt: 0 })
      await one.enter(running)
      assert.deepEqual(await other.shared.takeOver(9), [])
      assert.equal(await other.shared.take('work a' as WorkId), undefined)
      assert.equal(await other.save({ ...running, durationMs: 9 }), 'lost')
      assert.equal(await one.save({ ...running, durationMs: 8 }), 'saved')
      assert.equal((await other.find('scope a'))?.durationMs, 8)
    })

    test('what a dead one had is taken once, and a late save of it is lost', async () => {
      let at = 0
      now = () => at
      const { one, other } = await openBoth()
      const running = keptAs('a', {}, { name: 'running', acceptedAt: 0, startedAt: 0 })
      await one.enter(running)
      at = LEASE_MS - 1
      await other.shared.renew(knows)
      assert.deepEqual(await other.shared.takeOver(0), [])
      at = LEASE_MS
      const third = openKeep()
      assert.deepEqual(await third.shared.takeOver(9), [], 'not of another agent')
      assert.deepEqual(names(await other.shared.takeOver(0)), ['work a'])
      assert.deepEqual(await other.shared.takeOver(0), [])
      assert.equal(await one.save({ ...running, durationMs: 9 }), 'lost')
      assert.equal((await other.find('scope a'))?.durationMs, running.durationMs)
    })

    test('one that was only asleep hears at its renewal what it lost', async () => {
      let at = 0
      now = () => at
      const { one, other } = await openBoth()
      await one.enter(keptAs('a'))
      at = LEASE_MS
      await other.shared.renew(knows)
      assert.deepEqual(names(await other.shared.takeOver(0)), ['work a'])
      assert.deepEqual(await one.shared.renew(knows), { lost: ['work a'], cancel: [] })
      assert.deepEqual(await other.shared.renew(knows), { lost: [], cancel: [] })
    })

    test('what waits for a slot goes to whoever has one, but not all that waits', async () => {
      let at = 0
      now = () => at
      const { one, other } = await openBoth()
      for (const each of ['a', 'b', 'c']) await one.enter(keptAs(each))
      await one.enter(keptAs('d', {}, { name: 'awaiting', since: 0, until: 9_000 }))
      assert.deepEqual(await other.shared.takeOver(9), [], 'it is about to begin')
      at = LEASE_MS
      await Promise.all([one.shared.renew(knows), other.shared.renew(knows)])
      assert.deepEqual(names(await other.shared.takeOver(2)), ['work a', 'work b'])
      assert.deepEqual((await one.shared.renew(knows)).lost, ['work a', 'work b'])
      assert.equal((await other.shared.take('work d' as WorkId))?.scope, 'scope d')
    })

    test('a wish to cancel reaches whoever is at it', async () => {
      now = () => 0
      const { one, other } = await openBoth()
      await one.enter(keptAs('a', {}, { name: 'running', acceptedAt: 0, startedAt: 0 }))
      await other.shared.wishCancelled('work a' as WorkId)
      assert.deepEqual((await other.shared.renew(knows)).cancel, [])
      assert.deepEqual((await one.shared.renew(knows)).cancel, ['work a'])
    })

    test('one that leaves gives up everything at once', async () => {
      now = () => 0
      const { one, other } = await openBoth()
      await one.enter(keptAs('a', {}, { name: 'running', acceptedAt: 0, startedAt: 0 }))
      await one.shared.leave()
      assert.deepEqual(names(await other.shared.takeOver(0)), ['work a'])
    })
  })
}
