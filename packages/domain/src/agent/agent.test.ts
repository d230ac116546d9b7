/** X-10, CH-1 and CH-14: who may take an id, update it, leave and come back. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, Alias, KeyId, OwnerId, PublicKey } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import {
  type Agent,
  applyAgent,
  decideClaimAlias,
  decideRegister,
  decideRemove,
  type Registrant,
  type Registration,
} from './agent.ts'
import { presentKey } from './keys.ts'

const NOW = 1_000_000
const key = (name: string) => ({ id: name as KeyId, publicKey: name as PublicKey })
const acme = 'acme' as OwnerId
const bolt = 'bolt' as OwnerId
const skill = { name: 'sum', version: { major: 1, minor: 0 }, description: '', priceCents: 5 }
const asked: Registration = {
  type: 'register_agent',
  id: 'a1' as AgentId,
  owner: acme,
  profile: { name: 'Counter', endpoint: 'https://a.example.org', skills: [skill] },
}
const signed: Registrant = { key: key('k1'), owner: acme, open: false, ownedAgents: 0 }
const stranger: Registrant = { open: true, ownedAgents: 0 }

function registered(registrant: Registrant): Agent {
  const decision = decideRegister(undefined, asked, registrant, NOW)
  assert.ok(decision.ok)
  const agent = decision.facts.reduce<Agent | undefined>(applyAgent, undefined)
  assert.ok(agent)
  return agent
}
const known = registered(signed)
const unsigned = registered(stranger)

// biome-ignore format: a table is read by its columns
const rows: [rule: string, agent: Agent | undefined, by: Registrant, more: Partial<Registration>, answer: string][] = [
  ['CH-1 a new agent is registered',                       undefined, signed,                            {},               'agent_registered'],
  ['CH-1 registering again updates the entry',             known,     signed,                            {},               'profile_changed'],
  ['X-10 unsigned registration is for open hubs only',     undefined, { ...signed, key: undefined as never }, {},           'caller_unknown'],
  ['X-10 on an open hub nobody needs to sign',             undefined, stranger,                          {},               'agent_registered'],
  ['X-10 the owner must be the token\'s owner',            undefined, signed,                            { owner: bolt },  'owner_mismatch'],
  ['X-10 an id cannot be taken over by another owner',     known,     { ...signed, owner: bolt },        { owner: bolt },  'owner_mismatch'],
  ['X-10 nor by another key',                              known,     { ...signed, key: key('k2') },     {},               'key_mismatch'],
  ['X-10 nor without a key on an open hub',                known,     stranger,                          {},               'key_mismatch'],
  ['X-10 an unsigned entry is updated without a key',      unsigned,  stranger,                          {},               'profile_changed'],
  ['X-10 and bound by the first signature',                unsigned,  { ...signed, open: true },         {},               'profile_changed'],
  ['A5 an owner has a limited number of agents',           undefined, { ...signed, ownedAgents: 1_000 }, {},               'agents_exhausted'],
  ['A5 which does not keep it from updating one',          known,     { ...signed, ownedAgents: 1_000 }, {},               'profile_changed'],
  ['an agent without skills offers nothing',               undefined, signed, { profile: { name: 'x', skills: [] } },        'skills_invalid'],
]

describe('registering', () => {
  for (const [rule, agent, by, more, answer] of rows) {
    test(rule, () => {
      const decision = decideRegister(agent, { ...asked, ...more }, by, NOW + 1)
      assert.equal(decision.ok ? decision.facts[0]?.type : decision.refusal, answer)
    })
  }

  test('X-10 the first signature on an unsigned entry binds its key', () => {
    const decision = decideRegister(unsigned, asked, { ...signed, open: true }, NOW + 1)
    assert.ok(decision.ok)
    const agent = decision.facts.reduce<Agent | undefined>(applyAgent, unsigned)
    assert.equal(agent && presentKey(agent.keys)?.id, 'k1')
  })
})

describe('leaving and coming back', () => {
  const removed = decideRemove(known, acme, NOW + 5)
  assert.ok(removed.ok)
  const gone = removed.facts.reduce<Agent | undefined>(applyAgent, known)

  test('CH-14 a removed agent leaves a tombstone with its key', () => {
    assert.equal(gone?.removedAt, NOW + 5)
    assert.equal(gone && presentKey(gone.keys)?.id, 'k1')
  })
  test('CH-14 coming back is a return, by the same key', () => {
    const back = decideRegister(gone, asked, signed, NOW + 9)
    assert.ok(back.ok && back.facts[0]?.type === 'agent_returned')
    const agent = back.facts.reduce<Agent | undefined>(applyAgent, gone)
    assert.deepEqual([agent?.removedAt, agent?.registeredAt], [undefined, NOW])
    const other = decideRegister(gone, asked, { ...signed, key: key('k2') }, NOW + 9)
    assert.equal(!other.ok && other.refusal, 'key_mismatch')
  })
  test('only the owner removes, and once is enough', () => {
    const thief = decideRemove(known, bolt, NOW)
    assert.equal(!thief.ok && thief.refusal, 'caller_forbidden')
    assert.deepEqual(decideRemove(gone, acme, NOW + 9), { ok: true, facts: [] })
    const nobody = decideRemove(undefined, acme, NOW)
    assert.equal(!nobody.ok && nobody.refusal, 'agent_unknown')
  })
})

test('X-10 an alias belongs to one agent', () => {
  const alias = 'chimera_planner_01' as Alias
  const first = decideClaimAlias(known, alias, undefined)
  assert.ok(first.ok)
  const agent = first.facts.reduce<Agent | undefined>(applyAgent, known)
  assert.deepEqual(agent?.aliases, [alias])
  const own = { by: 'agent', agent: known.id } as const
  assert.deepEqual(decideClaimAlias(known, alias, own), { ok: true, facts: [] })
  const others = [
    { by: 'agent', agent: 'other' as AgentId },
    { by: 'credential', subject: known.id },
  ] as const
  for (const other of others) {
    const taken = decideClaimAlias(known, alias, other)
    assert.equal(!taken.ok && taken.refusal, 'alias_taken')
  }
  const aliases = Array.from({ length: LIMITS.aliasesPerAgent }, (_, at) => `a${at}` as Alias)
  const full = decideClaimAlias({ ...known, aliases }, alias, undefined)
  assert.equal(!full.ok && full.refusal, 'aliases_exhausted')
})

test('G1 over any run of strangers, an id stays with its first owner and its first key', () => {
  const attempt = fc.record({
    owner: fc.constantFrom(acme, bolt),
    key: fc.option(fc.constantFrom('k1', 'k2', 'k3'), { nil: undefined }),
    removes: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 30 }), (attempts) => {
      let agent: Agent | undefined
      let firstKey: string | undefined
      for (const { owner, key: name, removes } of attempts) {
        const by = { open: true, ownedAgents: 0, ...(name && { key: key(name) }) }
        const decision = removes
          ? decideRemove(agent, owner, NOW)
          : decideRegister(agent, { ...asked, owner }, by, NOW)
        const before = agent
        if (decision.ok) agent = decision.facts.reduce<Agent | undefined>(applyAgent, agent)
        if (before !== undefined) assert.equal(agent?.owner, before.owner)
        const present = agent && presentKey(agent.keys)?.id
        if (firstKey !== undefined) assert.equal(present, firstKey)
        firstKey ??= present
      }
    }),
  )
})
