/**
 * What belongs to whom beside agents: aliases that credentials hold, and tokens that were made with
 * others.
 */
import assert from 'node:assert/strict'
import type { AgentId, Alias, CorrelationId, Digest, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { createRegistry } from '../src/registry/agents.ts'
import { createAliases } from '../src/registry/aliases.ts'
import { createTokens, type TokenKind } from '../src/registry/tokens.ts'
import type { Stage } from './contract.ts'
import { createHands, digestOf, START } from './hands.ts'

const correlation = 'test' as CorrelationId

async function factsOf(database: Database, type: string) {
  const rows = await database.query<{ fact: Record<string, unknown> }>(
    `SELECT fact FROM facts WHERE fact ->> 'type' = $1 ORDER BY id`,
    [type],
  )
  return rows.map(({ fact }) => fact)
}

export function namesContract({ fresh }: Stage): void {
  describe('aliases', () => {
    async function open() {
      const { database } = await fresh()
      const hands = createHands()
      const registry = createRegistry({ database, digestOf, ...hands })
      const aliases = createAliases({ database, ...hands })
      const hold = async (alias: string, subject: string) => {
        const decision = await aliases.hold({ alias: alias as Alias, subject, correlation })
        return decision.ok ? decision.facts.length : decision.refusal
      }
      const claim = async (alias: string, id: string) => {
        const target = { id: id as AgentId, correlation }
        const { decision } = await registry.claimAlias(target, alias as Alias)
        return decision.ok ? decision.facts.length : decision.refusal
      }
      const register = (id: string) =>
        registry.register(
          {
            type: 'register_agent',
            id: id as AgentId,
            owner: 'own' as OwnerId,
            profile: {
              name: id,
              skills: [
                { name: 'd', version: { major: 1, minor: 0 }, description: '', priceCents: 0 },
              ],
            },
          },
          { open: true },
          correlation,
        )
      return { database, aliases, hold, claim, register }
    }

    test('X-10 a name has one holder, agent or credential, and a fact of it', async () => {
      const { database, aliases, hold, claim, register } = await open()
      await register('a')
      assert.deepEqual([await hold('one', 'acme'), await hold('one', 'acme')], [1, 0])
      assert.equal(await hold('one', 'bolt'), 'alias_taken')
      assert.equal(await claim('one', 'a'), 'alias_taken')
      assert.equal(await claim('two', 'a'), 1)
      assert.equal(await hold('two', 'acme'), 'alias_taken')
      const holders = await Promise.all(
        ['one', 'two', 'three'].map((alias) => aliases.holderOf(alias as Alias)),
      )
      assert.deepEqual(holders, [
        { by: 'credential', subject: 'acme' },
        { by: 'agent', agent: 'a' },
        undefined,
      ])
      assert.deepEqual(await factsOf(database, 'alias_held'), [
        { type: 'alias_held', alias: 'one', subject: 'acme' },
      ])
      assert.equal(await hold('nul \u0000', 'acme'), 'message_malformed')
    })

    test('X-10 of many that want one name at once, one gets it', async () => {
      const { hold, claim, register } = await open()
      await register('a')
      const wants = ['b', 'c', 'd'].map((subject) => hold('free', subject))
      const answers = await Promise.all([...wants, claim('free', 'a')])
      assert.equal(answers.filter((each) => each === 1).length, 1, answers.join())
      assert.equal(answers.filter((each) => each === 'alias_taken').length, 3, answers.join())
    })

    test('A5 a credential has so many names at most, also if it asks at once', async () => {
      const { database, hold } = await open()
      await database.query(
        `INSERT INTO aliases (alias, subject)
         SELECT 'n' || n, 'acme' FROM generate_series(1, $1::int) AS n`,
        [LIMITS.aliasesPerCredential - 1],
      )
      const answers = await Promise.all(['x', 'y', 'z'].map((alias) => hold(alias, 'acme')))
      assert.equal(answers.filter((each) => each === 'aliases_exhausted').length, 2)
      assert.equal((await hold('x', 'bolt')) === 1 || (await hold('y', 'bolt')) === 1, true)
    })
  })

  describe('families of tokens', () => {
    async function open() {
      const { database } = await fresh()
      const { clock } = createHands()
      const tokens = createTokens({ database, clock })
      const digest = (id: string) => `digest-${id}` as Digest
      const issue = (id: string, parent?: string, kind: TokenKind = 'owner') =>
        tokens.issue(
          {
            digest: digest(id),
            id,
            kind,
            scopes: ['tokens'],
            ...(kind === 'owner' && { owner: 'own' as OwnerId }),
            ...(parent !== undefined && { parent }),
          },
          correlation,
        )
      const revoked = async (...ids: string[]) => {
        const found = await Promise.all(ids.map((id) => tokens.find(digest(id))))
        return found.flatMap((each) => (each?.revokedAt === START ? [each.id] : []))
      }
      return { database, tokens, issue, revoked, digest }
    }

    test('what was made with a token is revoked with it, and each has its fact', async () => {
      const { database, tokens, issue, revoked, digest } = await open()
      await issue('root')
      await issue('child', 'root')
      await issue('grandchild', 'child')
      await issue('other')
      assert.equal((await tokens.find(digest('grandchild')))?.parent, 'child')
      assert.equal(await tokens.revoke({ id: 'root' }, correlation), true)
      const all = ['root', 'child', 'grandchild', 'other']
      assert.deepEqual(await revoked(...all), ['root', 'child', 'grandchild'])
      const facts = await factsOf(database, 'token_revoked')
      const told = new Map(facts.map(({ id, along }) => [id, along]))
      assert.deepEqual(
        all.map((id) => told.get(id)),
        [undefined, 'root', 'root', undefined],
      )
      assert.deepEqual(
        all.map((id) => told.has(id)),
        [true, true, true, false],
      )
      await tokens.revoke({ id: 'root' }, correlation)
      assert.equal((await factsOf(database, 'token_revoked')).length, 3)
    })

    test('a branch goes by itself, and later the rest without saying it twice', async () => {
      const { database, tokens, issue, revoked } = await open()
      await issue('root')
      await issue('left', 'root')
      await issue('right', 'root')
      await tokens.revoke({ id: 'left' }, correlation)
      assert.deepEqual(await revoked('root', 'left', 'right'), ['left'])
      await tokens.revoke({ id: 'root' }, correlation)
      assert.deepEqual(await revoked('root', 'left', 'right'), ['root', 'left', 'right'])
      assert.equal((await factsOf(database, 'token_revoked')).length, 3)
    })

    test('a token that revokes what it was made with stays, with its own', async () => {
      const { tokens, issue, revoked } = await open()
      await issue('old')
      await issue('between', 'old')
      await issue('new', 'between')
      await issue('its-own', 'new')
      await issue('sibling', 'old')
      const all = ['old', 'between', 'new', 'its-own', 'sibling']
      await tokens.revoke({ id: 'old', by: 'new' }, correlation)
      assert.deepEqual(await revoked(...all), ['old', 'between', 'sibling'])
      await tokens.revoke({ id: 'old' }, correlation)
      assert.deepEqual(await revoked(...all), ['old', 'between', 'sibling'])
      await tokens.revoke({ id: 'new', by: 'new' }, correlation)
      assert.deepEqual(await revoked(...all), all)
    })

    test('an owner’s token outlives the operator’s that made it', async () => {
      const { tokens, issue, revoked } = await open()
      await issue('operator', undefined, 'operator')
      await issue('deputy', 'operator', 'operator')
      await issue('owner', 'operator')
      await issue('owners-own', 'owner')
      await tokens.revoke({ id: 'operator' }, correlation)
      const all = ['operator', 'deputy', 'owner', 'owners-own']
      assert.deepEqual(await revoked(...all), ['operator', 'deputy'])
    })

    test('nothing is made with a revoked token, nor slips through meanwhile', async () => {
      const { tokens, issue, revoked, digest } = await open()
      await issue('root')
      const names = Array.from({ length: 12 }, (_, at) => `c${at}`)
      const made = names.map((name) => issue(name, 'root'))
      const [, ...answers] = await Promise.all([
        tokens.revoke({ id: 'root' }, correlation),
        ...made,
      ])
      const kept = names.filter((_, at) => answers[at])
      assert.deepEqual(await revoked(...names), kept, 'those that were made are gone')
      assert.equal(await issue('late', 'root'), false)
      assert.equal(await tokens.find(digest('late')), undefined)
      assert.equal(await issue('odd', 'nobody'), false)
    })
  })
}
