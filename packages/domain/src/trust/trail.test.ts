/** Scores from the trail alone: which facts make an outcome, and that none is made twice. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { AgentId, HoldId, OwnerId, TaskId, TransferId } from '../ids.ts'
import { foldFacts, type MoneyFact } from '../money/ledger.ts'
import { decideMoney, type MoneyCommand } from '../money/money.ts'
import { TRUST_RULES } from './pair-limit.ts'
import { decideReport, openMemory, readOutcome, type TrustFact } from './trail.ts'

const NOW = 1_000_000
const agent = 'a1' as AgentId
const acme = 'acme' as OwnerId
const bolt = 'bolt' as OwnerId
const task = 't1' as TaskId
const hold = 'h1' as HoldId
const registered: TrustFact = {
  type: 'agent_registered',
  id: agent,
  owner: bolt,
  profile: { name: 'Counter', skills: [] },
  at: NOW,
}

/** The facts of real commands, so that nothing is read here that the ledger does not write. */
function factsOf(...commands: readonly MoneyCommand[]): readonly TrustFact[] {
  const facts: MoneyFact[] = []
  for (const [index, command] of commands.entries()) {
    const decision = decideMoney(foldFacts(facts), command, NOW + index)
    assert.ok(decision.ok, decision.ok ? '' : `${command.type}: ${decision.refusal}`)
    facts.push(...decision.facts)
  }
  return [registered, ...facts]
}
const outcomesOf = (facts: readonly TrustFact[]) => {
  const memory = openMemory()
  return facts.flatMap((fact) => readOutcome(memory, fact) ?? [])
}

const accounts: readonly MoneyCommand[] = [
  { type: 'open_account', owner: acme, grantCents: 1_000, transfer: 'g1' as TransferId },
  { type: 'open_account', owner: bolt, grantCents: 0, transfer: 'g2' as TransferId },
]
const held: MoneyCommand = {
  type: 'hold_credits',
  hold,
  payer: acme,
  payee: bolt,
  agent,
  task,
  amountCents: 10,
  lapsesAt: NOW + 60_000,
  by: acme,
}
const taken: MoneyCommand = { type: 'confirm_hold', hold, agent, priceCents: 5 }
const paid: MoneyCommand = {
  type: 'capture_hold',
  hold,
  transfer: 'p1' as TransferId,
  agent,
  amountCents: 5,
}
const bare: MoneyCommand = {
  type: 'transfer_credits',
  transfer: 'p2' as TransferId,
  payer: acme,
  payee: bolt,
  amountCents: 7,
  task,
  by: acme,
}

describe('P-2 outcomes from the trail', () => {
  test('a captured hold is work done, at its price, answered when it was confirmed', () => {
    const [outcome, ...more] = outcomesOf(factsOf(...accounts, held, taken, paid))
    assert.equal(more.length, 0)
    assert.deepEqual(
      [outcome?.ending.how, outcome?.priceCents, outcome?.agent, outcome?.hirerOwner],
      ['done', 5, agent, acme],
    )
    assert.equal((outcome?.respondedAt ?? 0) - (outcome?.receivedAt ?? 0), 1)
  })
  test('CH-10 OC-7 it knows the agent that hired, and the deadline that was accepted', () => {
    const hirer = 'planner' as AgentId
    const due = { ...taken, deadline: NOW + 3 } as MoneyCommand
    const [outcome] = outcomesOf(factsOf(...accounts, { ...held, hirer }, due, paid))
    assert.deepEqual([outcome?.hirerAgent, outcome?.deadline], [hirer, NOW + 3])
    const [payers] = outcomesOf(factsOf(...accounts, { ...held, deadline: NOW + 9 }, taken, paid))
    assert.deepEqual([payers?.hirerAgent, payers?.deadline], [undefined, NOW + 9])
  })
  test('CH-12 a hold released as failed is a failure; one released as cancelled is nothing', () => {
    const end = (because: 'failed' | 'cancelled'): MoneyCommand => {
      return { type: 'release_hold', hold, because, agent }
    }
    assert.equal(
      outcomesOf(factsOf(...accounts, held, taken, end('failed')))[0]?.ending.how,
      'failed',
    )
    assert.deepEqual(outcomesOf(factsOf(...accounts, held, taken, end('cancelled'))), [])
  })
  test('CH-12 it carries the rules that stood before it in the trail, if any did', () => {
    const facts = factsOf(...accounts, held, taken, paid)
    const rules = { ...TRUST_RULES, pairSuccesses: 3 }
    const set: TrustFact = { type: 'trust_rules_set', rules, at: NOW }
    const later: TrustFact = { ...set, rules: TRUST_RULES }
    assert.equal(outcomesOf(facts)[0]?.rules, undefined)
    assert.deepEqual(outcomesOf([set, ...facts])[0]?.rules, rules)
    assert.deepEqual(outcomesOf([set, later, ...facts])[0]?.rules, TRUST_RULES)
    assert.equal(outcomesOf([...facts, set])[0]?.rules, undefined)
  })
  test('a bare payment is nobody’s outcome until it is reported', () => {
    assert.deepEqual(outcomesOf(factsOf(...accounts, bare)), [])
  })
})

describe('CH-14 a report', () => {
  const remember = (facts: readonly TrustFact[]) => {
    const memory = openMemory()
    for (const fact of facts) readOutcome(memory, fact)
    return memory
  }
  const asked = { agent, task, by: acme } as const

  test('by the payer of a settled job counts once', () => {
    const memory = remember(factsOf(...accounts, bare))
    const first = decideReport(memory, asked, NOW)
    assert.ok(first.ok && first.facts[0])
    assert.equal(readOutcome(memory, first.facts[0])?.priceCents, 7)
    assert.deepEqual(decideReport(memory, asked, NOW), { ok: true, facts: [] })
    assert.equal(readOutcome(memory, first.facts[0]), undefined)
  })
  test('on an unsettled job changes nothing', () => {
    assert.deepEqual(decideReport(remember(factsOf(...accounts)), asked, NOW), {
      ok: true,
      facts: [],
    })
  })
  test('on a job that a hold has paid for changes nothing: it counted already', () => {
    const memory = remember(factsOf(...accounts, held, taken, paid))
    assert.deepEqual(decideReport(memory, asked, NOW), { ok: true, facts: [] })
  })
  test('by anybody but the payer is refused', () => {
    const decision = decideReport(remember(factsOf(...accounts, bare)), { ...asked, by: bolt }, NOW)
    assert.equal(!decision.ok && decision.refusal, 'caller_forbidden')
  })
  test('for an agent that nobody knows is refused', () => {
    const unknown = { ...asked, agent: 'a9' as AgentId }
    const decision = decideReport(remember(factsOf(...accounts, bare)), unknown, NOW)
    assert.equal(!decision.ok && decision.refusal, 'agent_unknown')
  })
})
