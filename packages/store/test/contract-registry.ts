/**
 * The registry: agents, keys, aliases and tokens as rows, each change with its facts, and caps that
 * hold under any concurrency.
 */
import assert from 'node:assert/strict'
import type { Registration } from '@chimera/domain/agent/agent'
import type { Key } from '@chimera/domain/agent/keys'
import type {
  AgentId,
  Alias,
  CorrelationId,
  Digest,
  KeyId,
  OwnerId,
  PublicKey,
} from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { createLedger } from '../src/ledger/ledger.ts'
import { type AgentOutcome, createRegistry } from '../src/registry/agents.ts'
import { createTokens } from '../src/registry/tokens.ts'
import { answerOf, asked, open, owner, pay, proveBooks } from './books.ts'
import type { Stage } from './contract.ts'
import { createHands, digestOf, START } from './hands.ts'

const correlation = 'test' as CorrelationId
const key = (name: string): Key => ({
  id: `key-${name}` as KeyId,
  publicKey: `public-${name}` as PublicKey,
})
const target = (id: string) => ({ id: id as AgentId, correlation })
const wanted = (id: string, owner = 'own', title = 'One'): Registration => ({
  type: 'register_agent',
  id: id as AgentId,
  owner: owner as OwnerId,
  profile: {
    name: title,
    skills: [{ name: 'draw', version: { major: 1, minor: 0 }, description: '', priceCents: 5 }],
  },
})
const said = ({ decision }: AgentOutcome) =>
  decision.ok
    ? decision.facts.map((fact) => (fact.type === 'key_changed' ? fact.change.type : fact.type))
    : decision.refusal

function registryOn(database: Database) {
  const hands = createHands()
  const registry = createRegistry({ database, digestOf, ...hands })
  const register = async (registration: Registration, name: string) => {
    const registrant = { key: key(name), owner: registration.owner, open: false }
    return registry.register(registration, registrant, correlation)
  }
  return { ...hands, registry, register }
}

export function registryContract({ shared, fresh }: Stage): void {
  describe('the registry', () => {
    test('an agent is registered, changed, removed and comes back with its key', async () => {
      const { database } = await fresh()
      const { registry, register } = registryOn(database)
      assert.deepEqual(said(await register(wanted('a1'), 'k1')), ['agent_registered', 'key_bound'])
      assert.deepEqual(said(await register(wanted('a1', 'own', 'Two'), 'k1')), ['profile_changed'])
      assert.equal(said(await register(wanted('a1'), 'k2')), 'key_mismatch')
      assert.equal(said(await register(wanted('a1', 'other'), 'k1')), 'owner_mismatch')
      assert.equal(said(await register(wanted('a2'), 'k1')), 'key_reused')
      assert.equal((await registry.load('a1' as AgentId))?.name, 'Two')

      const by = 'own' as OwnerId
      assert.equal(
        said(await registry.remove(target('a1'), 'other' as OwnerId)),
        'caller_forbidden',
      )
      assert.deepEqual(said(await registry.remove(target('a1'), by)), ['agent_removed'])
      assert.equal((await registry.load('a1' as AgentId))?.removedAt, START)
      assert.deepEqual(said(await register(wanted('a1'), 'k1')), ['agent_returned'])
      assert.equal(said(await registry.remove(target('none'), by)), 'agent_unknown')

      const trail = await proveBooks(database)
      const types = trail.map(({ fact }) => (fact as { type: string }).type)
      assert.deepEqual(types, [
        'agent_registered',
        'key_changed',
        'profile_changed',
        'agent_removed',
        'agent_returned',
      ])
      assert.deepEqual(await database.query('SELECT id FROM owners', []), [{ id: 'own' }])
    })

    test('X-10 the first key binds an agent that was registered unsigned', async () => {
      const { database } = await fresh()
      const { registry, register } = registryOn(database)
      await register(wanted('other'), 'taken')
      await registry.register(wanted('a'), { open: true }, correlation)
      assert.equal(said(await registry.bind(target('nobody'), key('1'))), 'agent_unknown')
      assert.equal(said(await registry.bind(target('a'), key('taken'))), 'key_reused')
      const all = await Promise.all(['1', '2'].map((one) => registry.bind(target('a'), key(one))))
      assert.equal(all.filter(({ decision }) => decision.ok).length, 1)
      const bound = (await registry.load('a' as AgentId))?.keys.periods.map(({ id }) => id)
      const [winner = ''] = bound ?? []
      assert.deepEqual(said(await registry.bind(target('a'), key(winner.slice(4)))), [])
      assert.equal(said(await registry.bind(target('a'), key('3'))), 'key_mismatch')
    })

    test('AV-12 keys rotate and are recovered, and none is ever used twice', async () => {
      const { registry, register, setNow } = registryOn(shared())
      await register(wanted('r1'), 'r1')
      await register(wanted('r2'), 'r2')
      const rotate = (to: string, by: string) =>
        registry.rotate(target('r1'), { key: key(to), signedBy: key(by).id })
      assert.equal(said(await rotate('r9', 'r2')), 'key_mismatch')
      assert.equal(said(await rotate('r2', 'r1')), 'key_reused')
      assert.deepEqual(said(await rotate('r3', 'r1')), ['key_rotated'])
      assert.equal(said(await rotate('r1', 'r3')), 'key_reused')

      const recovery = { key: key('r4'), by: 'own' as OwnerId }
      const thief = { ...recovery, by: 'thief' as OwnerId }
      assert.equal(said(await registry.recover(target('r1'), thief)), 'caller_forbidden')
      assert.deepEqual(said(await registry.recover(target('r1'), recovery)), ['recovery_begun'])
      assert.equal(said(await registry.finishRecovery(target('r1'))), 'recovery_pending')
      setNow(START + 3 * 24 * 3_600_000)
      assert.deepEqual(said(await registry.finishRecovery(target('r1'))), ['key_rotated'])
      const { keys } = (await registry.load('r1' as AgentId)) ?? {}
      assert.deepEqual(
        keys?.periods.map(({ id }) => id),
        ['key-r1', 'key-r3', 'key-r4'],
      )
    })

    test('X-10 of many that claim one alias or one id at once, one gets it', async () => {
      const { registry, register } = registryOn(shared())
      const ids = Array.from({ length: 8 }, (_, at) => `alias-${at}`)
      await Promise.all(ids.map((id) => register(wanted(id), id)))
      const claims = await Promise.all(
        ids.map((id) => registry.claimAlias(target(id), 'free' as Alias)),
      )
      const got = claims.map(said).filter((each) => each !== 'alias_taken')
      assert.deepEqual(got, [['alias_claimed']])
      const agents = await Promise.all(ids.map((id) => registry.load(id as AgentId)))
      assert.deepEqual(
        agents.flatMap((agent) => agent?.aliases ?? []),
        ['free'],
      )

      const keys = ids.map((_, at) => `same-id-${at}`)
      const taken = await Promise.all(keys.map((name) => register(wanted('same-id'), name)))
      assert.equal(taken.filter(({ decision }) => decision.ok).length, 1)
    })

    test('what cannot be sealed is refused and leaves no row', async () => {
      const { registry, register } = registryOn(shared())
      const nul = await register(wanted('bad-1', 'bad-own', 'nul \u0000'), 'bad-1')
      assert.equal(said(nul), 'message_malformed')
      assert.equal(await registry.load('bad-1' as AgentId), undefined)
      const rows = await shared().query('SELECT 1 FROM owners WHERE id = $1', ['bad-own'])
      assert.equal(rows.length, 0)
    })

    test('all agents are read, page by page', async () => {
      const { database } = await fresh()
      const { registry } = registryOn(database)
      const row = JSON.stringify(wanted('x'))
      await database.query(`INSERT INTO owners VALUES ('o', 0)`)
      await database.query(
        `INSERT INTO agents (id, owner, agent)
         SELECT 'p' || n, 'o', json_build_object('id', 'p' || n, 'row', $1::json)
         FROM generate_series(1, 450) AS n`,
        [row],
      )
      const ids = new Set<string>()
      for await (const page of registry.loadAll()) for (const { id } of page) ids.add(id)
      assert.equal(ids.size, 450)
    })
  })

  describe('tokens', () => {
    const digest = (name: string) => `digest-${name}` as Digest
    const terms = (name: string, capCents: number) => ({
      digest: digest(name),
      id: `id-${name}`,
      kind: 'owner' as const,
      owner: owner(`tok-${name}`),
      scopes: ['pay'],
      capCents,
    })

    test('a token is kept by its digest, listed, revoked, and in no fact', async () => {
      const { clock } = createHands()
      const tokens = createTokens({ database: shared(), clock })
      await tokens.issue(terms('a', 10), correlation)
      const kept = { ...terms('a', 10), issuedAt: START, spentCents: 0 }
      assert.deepEqual(await tokens.find(digest('a')), kept)
      assert.deepEqual(await tokens.listOf(owner('tok-a')), [kept])
      assert.equal(await tokens.find(digest('none')), undefined)
      assert.equal(await tokens.revoke({ id: 'id-a' }, correlation), true)
      assert.equal(await tokens.revoke({ id: 'id-a' }, correlation), true)
      assert.equal(await tokens.revoke({ id: 'id-none' }, correlation), false)
      assert.equal((await tokens.find(digest('a')))?.revokedAt, START)
      const [facts] = await shared().query<{ all: string }>(
        `SELECT string_agg(fact::text, ' ' ORDER BY id) AS all FROM facts WHERE fact ->> 'id' = $1`,
        ['id-a'],
      )
      assert.match(facts?.all ?? '', /token_issued.*token_revoked/)
      assert.doesNotMatch(facts?.all ?? '', /digest-a/)
    })

    test('a cap is spent to the last credit and not beyond, whatever comes at once', async () => {
      const hands = createHands()
      const tokens = createTokens({ database: shared(), clock: hands.clock })
      const ledger = createLedger({ database: shared(), ...hands, most: 16 })
      await ledger.submit(asked(open('tok-c', 1_000)))
      await ledger.submit(asked(open('tok-d', 0)))
      await tokens.issue(terms('c', 100), correlation)
      const spend = { token: digest('c'), amountCents: 7 }
      const order = (id: string, amountCents: number) => ({
        ...asked(pay(id, { from: 'tok-c', to: 'tok-d' }, amountCents)),
        spend: { ...spend, amountCents },
      })
      // One that the ledger refuses must not take anything from the cap.
      assert.equal(answerOf(await ledger.submit(order('cap-0', 0))), 'amount_invalid')
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, at) => ledger.submit(order(`cap-7-${at}`, 7))),
      )
      assert.equal(answers.filter(({ decision }) => decision.ok).length, 14)
      assert.ok(answers.map(answerOf).includes('cap_reached'))
      assert.equal(answerOf(await ledger.submit(order('cap-7-0', 2))), 'key_conflict')
      assert.equal(answerOf(await ledger.submit(order('cap-rest', 2))), 'credits_transferred')
      assert.equal((await tokens.find(digest('c')))?.spentCents, 100)
      await tokens.revoke({ id: 'id-c' }, correlation)
      assert.equal(answerOf(await ledger.submit(order('cap-last', 1))), 'token_invalid')
    })
  })
}
