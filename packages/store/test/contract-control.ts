/**
 * Orders to agents, on every engine: numbered in one row however many hubs give them, one for each
 * id, each with its message and its fact; and obeyed once by each agent.
 */
import assert from 'node:assert/strict'
import type { Addressee, ControlAction, ControlOrder } from '@chimera/domain/control'
import type { AgentId, ControlId, CorrelationId, KeyId, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { describe, test } from 'vitest'
import { backup, restore } from '../src/backup.ts'
import { createControl, type IssueOutcome } from '../src/control.ts'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { proveBooks } from './books.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'

const correlation = 'test' as CorrelationId
const key = 'hub' as KeyId
const idOf = (name: string) => name as ControlId
const ALL: Addressee = { kind: 'all' }
const OWN: Addressee = { kind: 'owner', owner: 'ann' as OwnerId }
const A1: Addressee = { kind: 'agent', agent: 'a1' as AgentId }
const me = { agent: 'a1' as AgentId, owner: 'ann' as OwnerId }
const other = { agent: 'a2' as AgentId, owner: 'bob' as OwnerId }
const PAUSE: ControlAction = { type: 'pause' }
const OFF: ControlAction = { type: 'publishing', on: false }
const CANARY: ControlAction = { type: 'canary', share: 0.1 }

const sign = ({ id, sequence }: ControlOrder) => ({ control: id, sequence, signature: 'signed' })
const said = ({ decision }: IssueOutcome) =>
  decision.ok ? (decision.facts[0]?.type ?? 'nothing new') : decision.refusal

async function controlOn(database: Database) {
  const hands = createHands()
  await database.query(
    `INSERT INTO owners VALUES ('ann', 0), ('bob', 0), ('eve', 0) ON CONFLICT DO NOTHING`,
    [],
  )
  await database.query(
    `INSERT INTO agents VALUES ('a1', 'ann', NULL, '{}'), ('a2', 'bob', NULL, '{}'),
       ('a3', 'ann', NULL, '{}'), ('gone', 'eve', 1, '{}') ON CONFLICT DO NOTHING`,
    [],
  )
  const control = createControl({ database, ...hands })
  const give = (id: string, to: Addressee = ALL, action = PAUSE, more: object = {}) =>
    control.issue(
      { wanted: { id: idOf(id), to, action, ...more }, key, by: 'op', correlation },
      sign,
    )
  return { ...hands, control, give }
}

const names = (kept: readonly { readonly order: ControlOrder }[]) =>
  kept.map(({ order }) => order.id).sort()

export function controlContract({ engine, fresh }: Stage): void {
  describe('orders', () => {
    test('SF-11 an order, its message and its fact are kept together, once per id', async () => {
      const { database } = await fresh()
      const { control, give } = await controlOn(database)
      const more = { reason: 'too loud', expiresAt: START + 5_000 }
      const first = await give('o1', OWN, OFF, more)
      assert.equal(said(first), 'control_issued')
      const order = {
        id: 'o1',
        to: OWN,
        action: OFF,
        reason: 'too loud',
        issuedAt: START,
        expiresAt: START + 5_000,
        sequence: START,
        key,
      }
      const kept = { order, message: { control: 'o1', sequence: START, signature: 'signed' } }
      assert.deepEqual(first.kept, kept)
      assert.deepEqual(await control.find(idOf('o1')), kept)

      const again = await give('o1', OWN, OFF, more)
      assert.deepEqual([said(again), again.kept], ['nothing new', kept])
      assert.equal(said(await give('o1', OWN, PAUSE, more)), 'key_conflict')
      assert.equal(said(await give('o2', ALL, PAUSE, { expiresAt: START })), 'deadline_too_soon')
      const nul: Addressee = { kind: 'owner', owner: '\u0000' as OwnerId }
      assert.equal(said(await give('o3', nul)), 'message_malformed')
      const eve: Addressee = { kind: 'owner', owner: 'eve' as OwnerId }
      const gone: Addressee = { kind: 'agent', agent: 'gone' as AgentId }
      assert.equal(said(await give('o4', eve)), 'agent_unknown')
      assert.equal(said(await give('o5', gone)), 'agent_unknown')
      assert.equal(await control.find(idOf('o2')), undefined)

      const trail = await proveBooks(database)
      assert.deepEqual(
        trail.map(({ fact }) => fact),
        [{ type: 'control_issued', at: START, order, by: 'op' }],
      )
    })

    test('whose agents are there is known, for orders to an owner', async () => {
      const { database } = await fresh()
      const { control } = await controlOn(database)
      const of = (owner: string) => control.agentsOf(owner as OwnerId)
      assert.deepEqual(await of('ann'), ['a1', 'a3'])
      assert.deepEqual([await of('eve'), await of('nobody'), await of('\u0000')], [[], [], []])
    })

    test('nothing is kept when it could not be signed', async () => {
      const { database } = await fresh()
      const { control } = await controlOn(database)
      const wanted = { id: idOf('o1'), to: ALL, action: PAUSE }
      const failing = control.issue({ wanted, key, by: 'op', correlation }, () => {
        throw new Error('no key')
      })
      await assert.rejects(failing, /no key/)
      assert.equal(await control.find(idOf('o1')), undefined)
      assert.equal((await proveBooks(database)).length, 0)
    })

    test('SF-11 given by many at once, each has its number and each id one order', async () => {
      const { database, address } = await fresh()
      const second = engine.name === 'PostgreSQL' ? await openDatabase(address) : undefined
      const hubs = [await controlOn(database), await controlOn(second ?? database)]
      const given = await Promise.all(
        Array.from({ length: 40 }, async (_, at) => hubs[at % 2]?.give(`o${at >> 2}`)),
      )
      const kinds = given.map((each) => (each === undefined ? '' : said(each)))
      assert.equal(kinds.filter((each) => each === 'control_issued').length, 10)
      assert.equal(kinds.filter((each) => each === 'nothing new').length, 30)
      const sequences = given.map((each) => each?.kept?.order.sequence ?? 0)
      const numbers = new Set(sequences.sort((a, b) => a - b))
      assert.deepEqual(
        [...numbers],
        Array.from({ length: 10 }, (_, at) => START + at),
      )
      const trail = await proveBooks(database)
      const told = trail.map(({ fact }) => (fact as { order: ControlOrder }).order.sequence)
      assert.deepEqual(
        told,
        [...told].sort((a, b) => a - b),
        'L1: the trail has them in their order',
      )
      await second?.close()
    })

    test('SF-11 an agent is reached as itself, by its owner and with all', async () => {
      const { database } = await fresh()
      const { control, give } = await controlOn(database)
      await give('all-old', ALL)
      await give('all-new', ALL)
      await give('own', OWN, OFF)
      await give('mine', A1, CANARY)
      await give('mine-too', A1)
      assert.deepEqual(names(await control.reaching(me)), ['all-new', 'mine', 'mine-too', 'own'])
      assert.deepEqual(names(await control.reaching(other)), ['all-new'])
      const nul = { agent: '\u0000' as AgentId, owner: 'ann' as OwnerId }
      assert.deepEqual(await control.reaching(nul), [])
      const latest = (await control.latest(10)).map(({ order }) => order.id)
      assert.deepEqual(latest, ['mine-too', 'mine', 'own', 'all-new'])
      assert.equal((await control.latest(2)).length, 2)
    })

    test('SF-11 who has obeyed is recorded once, and only of whom it is for', async () => {
      const { database } = await fresh()
      const { control, give, setNow } = await controlOn(database)
      await give('all')
      await give('own', OWN)
      setNow(START + 7)
      const see = async (who: typeof me, id: string) => {
        const decision = await control.see(who, { id: idOf(id), correlation })
        return decision.ok ? decision.facts.length : decision.refusal
      }
      const seen = await Promise.all(Array.from({ length: 10 }, () => see(me, 'all')))
      assert.equal(seen.filter((facts) => facts === 1).length, 1)
      assert.equal(seen.filter((facts) => facts === 0).length, 9)
      assert.equal(await see(other, 'all'), 1)
      assert.equal(await see(other, 'own'), 'order_unknown')
      assert.equal(await see(me, 'nothing'), 'order_unknown')
      const counts = (await control.latest(9)).map((each) => [each.addressed, each.seen])
      assert.deepEqual(counts, [
        [2, 0],
        [3, 2],
      ])
      const page = await control.listSeen(idOf('all'), { limit: 1 })
      assert.deepEqual(page, [{ agent: 'a1', at: START + 7 }])
      const next = await control.listSeen(idOf('all'), { after: me.agent, limit: 5 })
      assert.deepEqual(next, [{ agent: 'a2', at: START + 7 }])
      const trail = await proveBooks(database)
      const facts = trail.map(({ fact }) => (fact as { type: string }).type).sort()
      assert.deepEqual(facts, ['control_issued', 'control_issued', 'control_seen', 'control_seen'])
    })

    test('A5 what nothing depends on is let go, with who obeyed; numbers rise on', async () => {
      const { database } = await fresh()
      const { control, give, setNow } = await controlOn(database)
      await give('old')
      await control.see(me, { id: idOf('old'), correlation })
      setNow(START + LIMITS.controlMs - 1)
      await give('young')
      assert.ok(await control.find(idOf('old')))
      setNow(START + LIMITS.controlMs)
      await give('new')
      assert.equal(await control.find(idOf('old')), undefined)
      assert.deepEqual(await control.listSeen(idOf('old'), { limit: 5 }), [])
      assert.ok(await control.find(idOf('young')))
      setNow(START)
      const late = await give('late', ALL, PAUSE, { expiresAt: START + 1 })
      assert.equal(late.kept?.order.sequence, START + LIMITS.controlMs + 1, 'a clock set back')
    })

    test('a backup carries them', async () => {
      const { database } = await fresh()
      const { control, give } = await controlOn(database)
      const { kept } = await give('o1', A1, CANARY)
      await control.see(me, { id: idOf('o1'), correlation })
      const lines: string[] = []
      await backup(database, (line) => void lines.push(line))
      const target = await openDatabase(await engine.newAddress())
      await restore(target, lines, { now: START })
      const restored = createControl({ database: target, ...createHands() })
      assert.deepEqual(await restored.find(idOf('o1')), kept)
      assert.equal((await restored.listSeen(idOf('o1'), { limit: 5 })).length, 1)
      await target.close()
    })
  })
}
