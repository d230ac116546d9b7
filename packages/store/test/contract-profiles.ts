/**
 * Records under a version, on every engine: all of an update or none, one winner of many, a fact
 * for each; how long an agent was there; and the keys of the hub itself.
 */
import assert from 'node:assert/strict'
import type { Standing } from '@chimera/domain/agent/condition'
import type { Key } from '@chimera/domain/agent/keys'
import type { RecordUpdate } from '@chimera/domain/agent/record'
import type { AgentId, CorrelationId, KeyId, OwnerId, PublicKey } from '@chimera/domain/ids'
import type { Availability } from '@chimera/domain/presence/presence'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { createPresenceLog } from '../src/presence.ts'
import { createRegistry } from '../src/registry/agents.ts'
import { createHubKeys } from '../src/registry/hub-keys.ts'
import { createProfiles, type RecordOutcome } from '../src/registry/profiles.ts'
import { proveBooks } from './books.ts'
import type { Stage } from './contract.ts'
import { event } from './contract-presence.ts'
import { createHands, digestOf, START } from './hands.ts'

const correlation = 'test' as CorrelationId
const HOUR = 3_600_000
const IDLE: Standing = {
  condition: { name: 'idle', since: START },
  workload: { running: 0, awaiting: 0, slotsTotal: 4, slotsFree: 4 },
}
const target = (id: string) => ({ id: id as AgentId, correlation })
const key = (name: string): Key => ({
  id: `hub-${name}` as KeyId,
  publicKey: `public-${name}` as PublicKey,
})
const said = ({ decision, record }: RecordOutcome) =>
  decision.ok ? `v${record?.version} ${record?.standing.condition.name}` : decision.refusal

async function profilesOn(database: Database, ...ids: readonly string[]) {
  const hands = createHands()
  const registry = createRegistry({ database, digestOf, ...hands })
  const profiles = createProfiles({ database, ...hands })
  for (const id of ids) {
    const profile = {
      name: id,
      skills: [{ name: 'draw', version: { major: 1, minor: 0 }, description: '', priceCents: 5 }],
    }
    const wanted = { id: id as AgentId, owner: 'own' as OwnerId, profile }
    await registry.register({ type: 'register_agent', ...wanted }, { open: true }, correlation)
  }
  const update = (id: string, asked: RecordUpdate, seen = IDLE) =>
    profiles.update(target(id), asked, seen)
  return { ...hands, registry, profiles, update }
}

export function profilesContract({ engine, shared, fresh }: Stage): void {
  describe('records', () => {
    test('SK-12 a change is kept with its fact, and a refused one leaves nothing', async () => {
      const { database } = await fresh()
      const { profiles, registry, update } = await profilesOn(database, 'a')
      assert.equal(await profiles.load('a' as AgentId), undefined)
      const paused = { name: 'paused' } as const
      assert.equal(said(await update('a', { expectedVersion: 1, condition: paused })), 'v2 paused')
      assert.equal(
        said(await update('a', { expectedVersion: 1, pendingTasks: 3 })),
        'state_changed',
      )
      const busy = { pendingTasks: 9, condition: { name: 'occupied' } } as const
      assert.equal(said(await update('a', busy)), 'transition_illegal')
      assert.equal(said(await update('a', { condition: paused })), 'v2 paused', 'nothing new')
      assert.equal(said(await update('a', { pendingTasks: 3, lastExecutionAt: 5 })), 'v3 paused')
      assert.equal(said(await update('nobody', { pendingTasks: 3 })), 'agent_unknown')
      const nul = { name: 'failed', fault: { code: 'X', message: '\u0000', lasting: 'permanent' } }
      assert.equal(said(await update('a', { condition: nul as never })), 'message_malformed')

      const kept = await profiles.load('a' as AgentId)
      assert.deepEqual([kept?.version, kept?.pendingTasks, kept?.lastExecutionAt], [3, 3, 5])
      const all = []
      for await (const page of profiles.loadAll()) all.push(...page)
      assert.deepEqual(all, [kept])
      const trail = await proveBooks(database)
      const facts = trail.map(({ fact }) => fact as { type: string; record?: unknown })
      assert.deepEqual(
        facts.map(({ type }) => type),
        ['agent_registered', 'record_updated', 'record_updated'],
      )
      assert.deepEqual(facts.at(-1)?.record, kept)

      await registry.remove(target('a'), 'own' as OwnerId)
      assert.equal(said(await update('a', { pendingTasks: 4 })), 'agent_unknown')
    })

    test('SK-12 of many updates that expect one version, one wins', async () => {
      const { database, address } = await fresh()
      const one = await profilesOn(database, 'race')
      const second = engine.name === 'PostgreSQL' ? await openDatabase(address) : undefined
      const other = second === undefined ? one : await profilesOn(second)
      const tried = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          (at % 2 === 0 ? one : other).update('race', { expectedVersion: 1, pendingTasks: at + 1 }),
        ),
      )
      const answers = tried.map(said)
      assert.equal(answers.filter((each) => each.startsWith('v2 ')).length, 1)
      assert.equal(answers.filter((each) => each === 'state_changed').length, 39)
      const kept = await one.profiles.load('race' as AgentId)
      const winner = answers.findIndex((each) => each.startsWith('v2 '))
      assert.deepEqual([kept?.version, kept?.pendingTasks], [2, winner + 1])
      const unlocked = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          (at % 2 === 0 ? one : other).update('race', { pendingTasks: 100 + at }),
        ),
      )
      assert.ok(unlocked.every(({ decision }) => decision.ok))
      assert.equal((await one.profiles.load('race' as AgentId))?.version, 22)
      await second?.close()
    })

    test('SK-11 the time an agent was there is that of its posts, counted once', async () => {
      const { profiles } = await profilesOn(shared(), 'up')
      const posts = createPresenceLog({ database: shared(), clock: createHands().clock })
      const agent = 'up-agent'
      let sent = 0
      const post = (
        instance: string,
        at: number,
        about: { verification?: string; state?: Availability } = {},
      ) => {
        sent += 1
        const { verification = 'verified', state = 'available' } = about
        const made = event(`up-${sent}`, { agent, instance, state }, at)
        const announcement = { ...made.announcement, signedAt: at, expiresAt: at + 30_000 }
        return posts.append({ ...made, announcement, verification })
      }
      const up = (since: number, until: number) => profiles.upMs(agent as AgentId, { since, until })
      const begin = START + HOUR
      assert.equal(await up(START, begin), 0, 'nobody posted')
      await post('i1', begin)
      await post('i1', begin + 10_000)
      assert.equal(await up(START, begin + HOUR), 40_000, 'until the last one lapses')
      assert.equal(await up(START, begin + 15_000), 15_000, 'not beyond what is asked for')
      assert.equal(await up(begin + 5_000, begin + 12_000), 7_000, 'what began before counts')
      await post('i2', begin + 20_000)
      assert.equal(await up(START, begin + HOUR), 50_000, 'two instances overlap')
      await post('i2', begin + 25_000, { state: 'offline' })
      assert.equal(await up(START, begin + HOUR), 40_000, 'who says goodbye is gone')
      await post('i1', begin + 100_000, { verification: 'signature_invalid' })
      assert.equal(await up(START, begin + HOUR), 40_000, 'what was not believed')

      const spans = async (until = begin + HOUR) =>
        (await profiles.spans(agent as AgentId, { since: START, until })).map((each) => [
          each.state,
          each.begins - begin,
          each.ends - begin,
        ])
      const first = ['available', 0, 40_000]
      const second = ['available', 20_000, 25_000]
      assert.deepEqual(await spans(), [first, second], 'one for each instance')
      assert.deepEqual(await spans(begin + 15_000), [['available', 0, 15_000]])
      await post('i1', begin + 60_000, { state: 'busy' })
      await post('i1', begin + 110_000, { state: 'busy' })
      await post('i1', begin + 400_000, { state: 'busy' })
      assert.deepEqual(
        await spans(),
        [first, second, ['busy', 60_000, 140_000], ['busy', 400_000, 430_000]],
        'a moment is no pause, minutes are',
      )
      const nobody = { since: START, until: begin }
      assert.deepEqual(await profiles.spans('nobody' as AgentId, nobody), [])
    })
  })

  describe('the keys of the hub', () => {
    test('P-15 each has its period, and one that was replaced does not come back', async () => {
      const { database } = await fresh()
      const hands = createHands()
      const keys = createHubKeys({ database, ...hands })
      const adopt = async (name: string) => {
        const decision = await keys.adopt(key(name), correlation)
        return decision.ok ? decision.facts.map(({ type }) => type) : decision.refusal
      }
      assert.deepEqual((await keys.history()).periods, [])
      const first = await Promise.all(['1', '1', '1'].map(adopt))
      assert.deepEqual(first.flat(), ['key_bound'], 'hubs that start together')
      hands.setNow(START + 5)
      assert.deepEqual((await Promise.all(['2', '2'].map(adopt))).flat(), ['key_rotated'])
      assert.equal(await adopt('1'), 'key_reused')
      assert.deepEqual((await keys.history()).periods, [
        { ...key('1'), from: START, until: START + 5 },
        { ...key('2'), from: START + 5 },
      ])
      const trail = await proveBooks(database)
      assert.deepEqual(
        trail.map(({ fact }) => (fact as { change: { type: string } }).change.type),
        ['key_bound', 'key_rotated'],
      )
    })
  })

  describe('recoveries', () => {
    test('AV-12 are found when their time has come, and their key is taken meanwhile', async () => {
      const { database } = await fresh()
      const { registry, setNow } = await profilesOn(database, 'r1', 'r2')
      const own = 'own' as OwnerId
      const begin = (id: string, name: string, delayMs: number) =>
        registry.recover(target(id), { key: key(name), by: own, delayMs })
      await begin('r1', 'n1', 2_000)
      await begin('r2', 'n2', 1_000)
      const taken = await begin('r2', 'n1', 1_000)
      assert.equal(!taken.decision.ok && taken.decision.refusal, 'key_reused')
      const bound = await registry.bind(target('r2'), key('n1'))
      assert.equal(!bound.decision.ok && bound.decision.refusal, 'key_reused')
      assert.deepEqual(await registry.dueRecoveries(), [])
      setNow(START + 2_000)
      assert.deepEqual(await registry.dueRecoveries(), ['r2', 'r1'])
      assert.ok((await registry.finishRecovery(target('r2'))).decision.ok)
      assert.deepEqual(await registry.dueRecoveries(), ['r1'])
      assert.equal((await registry.withKey(key('n2').id))?.agent, 'r2')
      assert.equal(await registry.withKey(key('n1').id), undefined, 'it does not speak yet')
    })
  })
}
