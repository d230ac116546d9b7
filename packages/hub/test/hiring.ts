/** A hirer, an agent that has published a schema, and work between the two, as tests want it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  OwnerId,
  TaskId,
  TransferId,
} from '@chimera/domain/ids'
import type { MoneyCommand } from '@chimera/domain/money/money'
import { type Clock, createClock } from '@chimera/host/clock'
import { generateKeyPair } from '@chimera/identity/keys'
import { createAsker, registration } from './asking.ts'
import type { TestHub } from './running.ts'

export const SKILL = 'count_words'
const OUTPUT = {
  type: 'object',
  required: ['words'],
  properties: { words: { type: 'integer', minimum: 0 } },
}

export type Party = Awaited<ReturnType<ReturnType<typeof createAsker>['newAgent']>>

export function createHiring(hub: TestHub, clock: Clock = createClock()) {
  const asker = createAsker(hub, clock)
  const correlation = 'test' as CorrelationId
  const submit = (command: MoneyCommand) => hub.hub.keep.money.submit(command, correlation)

  async function newParty(skills?: readonly object[]): Promise<Party> {
    const { owner, token } = await asker.newOwner()
    const key = generateKeyPair()
    const skill = { skill_name: SKILL, cost_per_call: 3, output_schema: OUTPUT }
    const agent = registration(owner, { skills: skills ?? [skill] })
    const { status, body } = await asker.send('/register', { token, key, body: agent })
    assert.equal(status, 201, JSON.stringify(body))
    return { owner, token, key, agent, id: agent.agent_id }
  }

  /** Credits of the hirer put aside for the agent, and accepted at a price if there is one. */
  async function hold(
    hirer: Party,
    agent: Party,
    {
      task = randomUUID(),
      priceCents = 250,
      deadline,
    }: {
      readonly task?: string
      readonly priceCents?: number | undefined
      readonly deadline?: number
    } = {},
  ) {
    const id = randomUUID() as HoldId
    const payer = hirer.owner as OwnerId
    const placed = await submit({
      type: 'hold_credits',
      hold: id,
      payer,
      payee: agent.owner as OwnerId,
      agent: agent.id as AgentId,
      task: task as TaskId,
      amountCents: 300,
      lapsesAt: clock.now() + 60_000,
      by: payer,
    })
    assert.ok(placed.ok, JSON.stringify(placed))
    return { id, task, ...(priceCents > 0 && (await accept(agent, id, priceCents, deadline))) }
  }
  async function accept(agent: Party, hold: HoldId, priceCents: number, deadline?: number) {
    const confirmed = await submit({
      type: 'confirm_hold',
      hold,
      agent: agent.id as AgentId,
      priceCents,
      ...(deadline !== undefined && { deadline }),
    })
    assert.ok(confirmed.ok, JSON.stringify(confirmed))
    return { priceCents }
  }
  const capture = (agent: Party, hold: HoldId, amountCents: number) =>
    submit({
      type: 'capture_hold',
      hold,
      transfer: randomUUID() as TransferId,
      agent: agent.id as AgentId,
      amountCents,
    })

  const message = (agent: Party, task: string, more: Record<string, unknown> = {}) => ({
    collaboration_id: randomUUID(),
    request_id: task,
    responder_agent_id: agent.id,
    result_status: 'completed',
    correlation_id: randomUUID(),
    output_data: { words: 7 },
    timestamp: new Date(clock.now()).toISOString(),
    ...more,
  })
  const failing = { result_status: 'failed', error: { code: 'BROKEN', message: 'It broke' } }
  const report = (agent: Party, body: object) =>
    asker.send('/openclaw/v1/results', { body, key: agent.key })
  const resultsOf = (agent: Party, as: object, query = '') =>
    asker.send(`/openclaw/v1/results/${agent.id}${query}`, as)
  const work = (key: string, as: object, query = '') => asker.send(`/v1/work/${key}${query}`, as)

  const balance = async ({ owner, token }: Party) =>
    (await asker.send(`/accounts/${owner}`, { token })).body.balance

  /** Facts of a kind that name this piece of work, in the sealed trail. */
  async function factsOf(type: string, name: string): Promise<readonly Record<string, unknown>[]> {
    await hub.hub.settle()
    const found: Record<string, unknown>[] = []
    for (let seq = 0; ; ) {
      const page = await hub.hub.keep.trail.sealedAfter(seq)
      if (page.length === 0) return found
      seq = page.at(-1)?.seq ?? seq
      for (const { fact } of page) {
        const text = JSON.stringify(fact)
        if ((fact as { type: string }).type === type && text.includes(name)) {
          found.push(fact as Record<string, unknown>)
        }
      }
    }
  }

  return {
    ...asker,
    newParty,
    hold,
    accept,
    capture,
    message,
    failing,
    report,
    resultsOf,
    work,
    balance,
    factsOf,
  }
}
export type Hiring = ReturnType<typeof createHiring>
