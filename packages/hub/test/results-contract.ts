/**
 * Results at a real hub: who hands them over, what they settle, who reads them. Run on both engines
 * by the two test files beside this one.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readResult } from '@chimera/dialects/openclaw'
import { canonicalDigest } from '@chimera/identity/canonical'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Caller } from '../src/act/caller.ts'
import { recordResult, settleResults } from '../src/act/results.ts'
import type { Engine } from './engines.ts'
import { createHiring, type Hiring, type Party } from './hiring.ts'
import type { Answered, TestHub } from './running.ts'

const said = ({ status, body }: Answered) => [status, body.code]
const listed = ({ body }: Answered) =>
  (body.results as { collaboration_id: string }[]).map((each) => each.collaboration_id)

const countOf = (all: readonly unknown[]): number => all.length

export function resultsContract(open: () => Engine): void {
  let engine: Engine
  let hub: TestHub
  let on: Hiring
  let hirer: Party
  let agent: Party
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ seed: 1, auth: 'required' })
    on = createHiring(hub)
    hirer = await on.newParty()
    agent = await on.newParty()
  }, 120_000)
  afterAll(async () => {
    await hub.stop()
    await engine.end()
  })
  const payments = (task: string) => on.factsOf('hold_captured', task)

  describe('what a result settles', () => {
    test('OC-17 CH-15 a completed result pays the price that was agreed, once', async () => {
      const before = [await on.balance(hirer), await on.balance(agent)].map(Number)
      const { task } = await on.hold(hirer, agent)
      const message = on.message(agent, task)
      for (let times = 0; times < 3; times += 1) {
        const { status, body } = await on.report(agent, message)
        assert.deepEqual([status, body], [204, {}])
      }
      // A retry has a new time and a new trace, and is the same result.
      const again = { ...message, correlation_id: randomUUID(), timestamp: '2026-01-01T00:00:00Z' }
      assert.equal((await on.report(agent, again)).status, 204)
      const after = [await on.balance(hirer), await on.balance(agent)].map(Number)
      assert.deepEqual(after, [(before[0] ?? 0) - 2.5, (before[1] ?? 0) + 2.5])
      assert.equal((await payments(task)).length, 1)
    })

    test('OC-17 many come together, and each is judged by itself', async () => {
      const [good, bad] = [await on.hold(hirer, agent), await on.hold(hirer, agent)]
      const message = on.message(agent, good.task)
      const unfit = on.message(agent, bad.task, { output_data: { words: 'many' } })
      const body = { results: [message, unfit, {}, message] }
      const { status, body: told } = await on.send('/v1/results', { key: agent.key, body })
      const outcomes = told.outcomes as { taken: boolean; error?: { code: string } }[]
      assert.equal(status, 200)
      assert.deepEqual(
        outcomes.map(({ taken, error }) => error?.code ?? taken),
        [true, 'output_invalid', 'message_malformed', true],
      )
      assert.deepEqual([await payments(good.task), await payments(bad.task)].map(countOf), [1, 0])
      const others = await on.send('/v1/results', { key: hirer.key, body: { results: [message] } })
      const [other] = others.body.outcomes as typeof outcomes
      assert.equal(other?.error?.code, 'caller_forbidden')
    })

    test('P-2 the trail has its hash, and nothing of its content', async () => {
      const { task } = await on.hold(hirer, agent)
      const output = { words: 41_041 }
      const message = on.message(agent, task, { output_data: output })
      assert.equal((await on.report(agent, message)).status, 204)
      const facts = await on.factsOf('result_recorded', task)
      assert.equal(facts.length, 1)
      const { at: _, endedAt: __, ...fact } = facts[0] ?? {}
      assert.deepEqual(fact, {
        type: 'result_recorded',
        agent: agent.id,
        work: message.collaboration_id,
        task,
        requester: hirer.owner,
        how: 'done',
        output: canonicalDigest(output),
      })
      assert.equal((await on.factsOf('result_recorded', '41041')).length, 0)
    })

    test('P-3 another result under the same name is refused and changes nothing', async () => {
      const { task } = await on.hold(hirer, agent)
      const message = on.message(agent, task)
      await on.report(agent, message)
      for (const other of [
        { ...message, output_data: { words: 8 } },
        { ...message, ...on.failing, output_data: undefined },
        { ...message, request_id: randomUUID() },
      ]) {
        assert.equal((await on.report(agent, other)).status, 409)
      }
      assert.equal((await on.work(task, hirer)).body.state, 'settled')
      assert.equal((await on.factsOf('result_recorded', task)).length, 1)
    })

    test('OC-17 an output that does not fit its schema is refused and not kept', async () => {
      const { task } = await on.hold(hirer, agent)
      const message = on.message(agent, task, { output_data: { words: -1 } })
      const { status, body } = await on.report(agent, message)
      assert.equal(status, 422)
      assert.match(JSON.stringify(body.details), /"\/words"/)
      assert.equal(body.correlation_id, message.correlation_id)
      assert.deepEqual(listed(await on.resultsOf(agent, agent, `?request_id=${task}`)), [])
      assert.equal((await on.work(task, hirer)).body.state, 'accepted')
      const better = { ...message, output_data: { words: 1 } }
      assert.equal((await on.report(agent, better)).status, 204)
      assert.equal((await on.work(task, hirer)).body.state, 'settled')
    })

    test('OC-17 the schema is the one of the capability that is named', async () => {
      const two = await on.newParty([
        { skill_name: 'number', cost_per_call: 1, output_schema: { n: 'number' } },
        { skill_name: 'text', cost_per_call: 1, output_schema: { t: 'string' } },
      ])
      const tell = (more: object) =>
        on.report(two, on.message(two, randomUUID(), { output_data: { t: 'a' }, ...more }))
      assert.equal((await tell({})).status, 204)
      assert.equal((await tell({ output_data: { n: 'a' } })).status, 422)
      assert.equal((await tell({ capability_id: 'text' })).status, 204)
      assert.equal((await tell({ capability_id: 'number' })).status, 422)
      assert.equal((await tell({ capability_id: 'sound' })).status, 404)
    })

    test('an agent that registers again is held to its new schema', async () => {
      const party = await on.newParty()
      const tell = () => on.report(party, on.message(party, randomUUID()))
      assert.equal((await tell()).status, 204)
      const skills = [{ skill_name: 'count_words', cost_per_call: 1, output_schema: { x: 'int' } }]
      const body = { ...party.agent, skills }
      assert.equal(
        (await on.send('/register', { token: party.token, key: party.key, body })).status,
        201,
      )
      assert.equal((await tell()).status, 422)
    })

    test('P-3 a failed result gives the credits back, with the error for both sides', async () => {
      const before = await on.balance(hirer)
      const { task } = await on.hold(hirer, agent)
      const message = on.message(agent, task, { ...on.failing, output_data: undefined })
      assert.equal((await on.report(agent, message)).status, 204)
      assert.equal(await on.balance(hirer), before)
      const { body } = await on.resultsOf(agent, agent, `?request_id=${task}`)
      assert.equal((body.results as { error: { code: string } }[])[0]?.error.code, 'BROKEN')
    })

    for (const [how, because] of [
      ['failed', 'failed'],
      ['cancelled', 'cancelled'],
    ] as const) {
      test(`P-3 ${how} releases the hold as ${because}`, async () => {
        const { id, task } = await on.hold(hirer, agent)
        const more = how === 'failed' ? on.failing : { result_status: 'cancelled' }
        await on.report(agent, on.message(agent, task, { output_data: undefined, ...more }))
        const facts = await on.factsOf('hold_released', id)
        assert.deepEqual(
          facts.map((fact) => fact.because),
          [because],
        )
      })
    }

    test('P-3 what was captured before is not paid again', async () => {
      const { id, task } = await on.hold(hirer, agent)
      assert.ok((await on.capture(agent, id, 250)).ok)
      const before = await on.balance(agent)
      assert.equal((await on.report(agent, on.message(agent, task))).status, 204)
      assert.equal(await on.balance(agent), before)
      // Nor is less that was taken made up to the price.
      const other = await on.hold(hirer, agent)
      assert.ok((await on.capture(agent, other.id, 100)).ok)
      const then = await on.balance(agent)
      assert.equal((await on.report(agent, on.message(agent, other.task))).status, 204)
      assert.equal(await on.balance(agent), then)
      assert.deepEqual(await hub.hub.keep.results.unsettled(Number.MAX_SAFE_INTEGER, 9), [])
    })

    test('P-3 thirty at once are one result and one payment', async () => {
      const { task } = await on.hold(hirer, agent)
      const message = on.message(agent, task)
      const all = await Promise.all(Array.from({ length: 30 }, () => on.report(agent, message)))
      assert.deepEqual([...new Set(all.map(({ status }) => status))], [204])
      assert.equal((await on.factsOf('result_recorded', task)).length, 1)
      assert.equal((await payments(task)).length, 1)
    })

    test('the hold may go by the name that the agent gave', async () => {
      const { task } = await on.hold(hirer, agent)
      const message = on.message(agent, randomUUID(), { collaboration_id: task })
      assert.equal((await on.report(agent, message)).status, 204)
      assert.equal((await payments(task)).length, 1)
    })

    test('of two payers with one name only the one that is named pays', async () => {
      const other = await on.newParty()
      const { task } = await on.hold(hirer, agent)
      await on.hold(other, agent, { task })
      assert.equal((await on.report(agent, on.message(agent, task))).status, 204)
      assert.equal((await payments(task)).length, 0)
      const named = on.message(agent, task, { requester_agent_id: other.id })
      assert.equal((await on.report(agent, named)).status, 204)
      const paid = await payments(task)
      assert.deepEqual(
        paid.map((fact) => (fact.payment as { payer: string }).payer),
        [other.owner],
      )
    })
  })

  describe('P-3 R2 a hub that dies between the result and the money', () => {
    /** Records and then breaks, as a process that is killed there would. */
    async function recordOnly(task: string) {
      const message = on.message(agent, task)
      const report = readResult(message)
      assert.ok(report.ok)
      const { keep } = hub.hub
      const submit = () => Promise.reject(new Error('killed'))
      const dying = { ...hub.hub, keep: { ...keep, money: { ...keep.money, submit } } }
      const caller = { open: true, scopes: ['agents'] } as unknown as Caller
      await assert.rejects(recordResult(dying, caller, report.value), /killed/)
      assert.equal((await on.factsOf('result_recorded', task)).length, 1)
      return message
    }

    test('settles when the agent repeats', async () => {
      const { task } = await on.hold(hirer, agent)
      const message = await recordOnly(task)
      assert.equal((await on.report(agent, message)).status, 204)
      assert.equal((await payments(task)).length, 1)
    })

    test('settles by itself when it is back', async () => {
      const { task } = await on.hold(hirer, agent)
      await recordOnly(task)
      await hub.stop()
      hub = await engine.start({ seed: 2, auth: 'required' })
      on = createHiring({ ...hub, firstOperatorToken: on.operator })
      for (let tries = 0; tries < 500; tries += 1) {
        if ((await payments(task)).length > 0) break
      }
      assert.equal((await payments(task)).length, 1)
      await settleResults(hub.hub)
      assert.equal((await payments(task)).length, 1)
    }, 60_000)

    test('waits for a hold that is not accepted yet', async () => {
      const { id, task } = await on.hold(hirer, agent, { priceCents: 0 })
      assert.equal((await on.report(agent, on.message(agent, task))).status, 204)
      assert.equal((await payments(task)).length, 0)
      const owed = await hub.hub.keep.results.unsettled(Number.MAX_SAFE_INTEGER, 9)
      assert.deepEqual(
        owed.map((each) => each.hold),
        [id],
      )
      await on.accept(agent, id, 200)
      // Not before it is due again.
      await settleResults(hub.hub)
      assert.equal((await payments(task)).length, 0)
      await settleResults({ ...hub.hub, now: () => hub.hub.now() + 60_000 })
      assert.equal((await payments(task)).length, 1)
      assert.deepEqual(await hub.hub.keep.results.unsettled(Number.MAX_SAFE_INTEGER, 9), [])
    })
  })

  describe('who hands over and who reads', () => {
    test('CH-15 only the agent itself, by its key', async () => {
      const { task } = await on.hold(hirer, agent)
      const body = on.message(agent, task)
      const path = '/openclaw/v1/results'
      assert.deepEqual(said(await on.send(path, { body })), [401, 'unauthenticated'])
      const session = await on.send('/v1/tokens/session', { key: agent.key, body: {} })
      assert.equal(session.status, 201)
      for (const as of [
        { token: String(session.body.token) },
        { token: agent.token },
        { token: hirer.token },
        { token: on.operator },
        { key: hirer.key },
      ]) {
        assert.deepEqual(said(await on.send(path, { body, ...as })), [403, 'forbidden'])
      }
      assert.equal((await on.work(task, hirer)).body.state, 'accepted')
      const unknown = { ...body, responder_agent_id: randomUUID() }
      assert.equal((await on.send(path, { body: unknown, key: agent.key })).status, 404)
    })

    test('OC-23 both sides and operators read it, nobody else', async () => {
      const stranger = await on.newParty()
      const own = await on.newParty()
      const messages: string[] = []
      for (const party of [hirer, stranger]) {
        const { task } = await on.hold(party, own)
        const message = on.message(own, task)
        assert.equal((await on.report(own, message)).status, 204)
        messages.push(message.collaboration_id)
      }
      const [first, second] = messages
      // Both may be recorded within one millisecond, where their names decide.
      const seen = async (as: object) => listed(await on.resultsOf(own, as)).sort()
      const all = [...messages].sort()
      assert.deepEqual(await seen({ token: own.token }), all)
      assert.deepEqual(await seen({ key: own.key }), all)
      assert.deepEqual(await seen({ token: on.operator }), all)
      assert.deepEqual(await seen({ token: hirer.token }), [first])
      assert.deepEqual(await seen({ key: stranger.key }), [second])
      assert.deepEqual(await seen({ token: agent.token }), [])
      const { token: blind } = await on.narrower(own.token, { scopes: ['money'] })
      assert.equal((await on.resultsOf(own, { token: blind })).status, 403)
      assert.equal((await on.resultsOf(own, {})).status, 401)
      for (const id of [randomUUID(), 'no-uuid']) {
        const { status } = await on.send(`/openclaw/v1/results/${id}`, { token: agent.token })
        assert.equal(status, 404)
      }
    })

    test('OC-23 pages, newest first, without gap or repeat; and by either name', async () => {
      const own = await on.newParty()
      const names: string[] = []
      for (let count = 0; count < 5; count += 1) {
        const message = on.message(own, randomUUID())
        await on.report(own, message)
        names.unshift(message.collaboration_id)
      }
      const pages: string[][] = []
      for (let query = '?limit=2'; ; ) {
        const page = await on.resultsOf(own, own, query)
        pages.push(listed(page))
        const { next } = page.body
        if (typeof next !== 'string') break
        query = `?limit=2&cursor=${next}`
      }
      assert.deepEqual(
        pages.map((page) => page.length),
        [2, 2, 1],
      )
      // Two may be recorded within one millisecond, where their names decide.
      assert.deepEqual(pages.flat().sort(), [...names].sort())
      assert.deepEqual(listed(await on.resultsOf(own, own, `?collaboration_id=${names[3]}`)), [
        names[3],
      ])
      assert.equal((await on.resultsOf(own, own, '?limit=21')).status, 400)
    })

    test('a result reads as it was handed over', async () => {
      const message = on.message(agent, randomUUID(), {
        execution_duration_ms: 12,
        completed_at: '2026-02-06T16:00:00Z',
        capability_id: 'count_words',
      })
      await on.report(agent, message)
      const query = `?collaboration_id=${message.collaboration_id}`
      const { body } = await on.resultsOf(agent, agent, query)
      const [{ timestamp: _, protocol_version: __, ...read }] = body.results as [
        Record<string, unknown>,
      ]
      const { timestamp: ___, ...sent } = message
      assert.deepEqual(read, sent)
    })
  })
}
