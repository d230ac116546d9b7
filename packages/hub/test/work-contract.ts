/**
 * Work by its key at a real hub (P-3): what a hirer or an agent learns whose answer was lost, and
 * the removal of contents. Run on both engines by the two test files beside this one.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  InstanceId,
  OwnerId,
  ReservationId,
  TaskId,
} from '@chimera/domain/ids'
import { canonicalDigest } from '@chimera/identity/canonical'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Engine } from './engines.ts'
import { createHiring, type Hiring, type Party } from './hiring.ts'
import type { Answered, TestHub } from './running.ts'

const state = ({ status, body }: Answered) => (status < 300 ? body.state : body.code)

export function workContract(open: () => Engine): void {
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

  describe('work by its key', () => {
    test('P-3 what the hub never heard of is said to be so', async () => {
      assert.deepEqual(
        [await on.work(randomUUID(), hirer), await on.work('a%20job%20of%20mine', agent)].map(
          state,
        ),
        ['work_unknown', 'work_unknown'],
      )
    })

    test('P-3 from put aside to settled, for both sides', async () => {
      const both = async (key: string) => {
        const [one, other] = [await on.work(key, hirer), await on.work(key, { key: agent.key })]
        assert.deepEqual(one, other)
        assert.deepEqual(one, await on.work(key, { token: on.operator }))
        return one.body
      }
      const { id, task } = await on.hold(hirer, agent, { priceCents: 0 })
      const asked = await both(task)
      assert.deepEqual(
        [asked.state, asked.agent_id, asked.payer_id, asked.payee_id, asked.price, asked.ended],
        ['asked', agent.id, hirer.owner, agent.owner, undefined, undefined],
      )
      const deadline = Date.now() + 60_000
      await on.accept(agent, id, 225, deadline)
      const accepted = await both(task)
      assert.deepEqual(
        [accepted.state, accepted.price, accepted.deadline],
        ['accepted', 2.25, new Date(deadline).toISOString()],
      )
      const completed = '2026-02-06T16:00:00Z'
      const message = on.message(agent, task, { completed_at: completed })
      assert.equal((await on.report(agent, message)).status, 204)
      const settled = await both(task)
      assert.deepEqual([settled.state, settled.ended], ['settled', { how: 'done', at: completed }])
      const { transfer_id, amount } = settled.settlement as Record<string, unknown>
      assert.equal(amount, 2.25)
      assert.match(String(transfer_id), /^[0-9a-f-]{36}$/)
      const { recorded_at: _, ...result } = settled.result as Record<string, unknown>
      assert.deepEqual(result, {
        collaboration_id: message.collaboration_id,
        content: 'kept',
        output_hash: canonicalDigest(message.output_data),
        output: message.output_data,
      })
      // Its agent's own name for it leads there too.
      assert.deepEqual(await both(message.collaboration_id), settled)
      assert.deepEqual(await both(task.toUpperCase()), settled)
    })

    test('P-3 past its deadline without a word it is unknown, not failed', async () => {
      const { task } = await on.hold(hirer, agent, { deadline: Date.now() - 1 })
      const { body } = await on.work(task, hirer)
      assert.deepEqual([body.state, body.ended], ['unknown', undefined])
      const broken = on.message(agent, task, { ...on.failing, output_data: undefined })
      await on.report(agent, broken)
      const { body: told } = await on.work(task, hirer)
      const { how, because } = told.ended as Record<string, unknown>
      assert.deepEqual([told.state, how, because], ['settled', 'failed', 'agent'])
      assert.deepEqual((told.result as { error: object }).error, {
        code: 'BROKEN',
        message: 'It broke',
        error_type: 'permanent',
      })
    })

    test('OC-18 called off: withdrawn before it is accepted, by its agent after that', async () => {
      const cancel = async (task: string, as: Party | { readonly token: string }) => {
        const { token } = as
        return state(await on.send(`/v1/work/${task}/cancel`, { token, body: {} }))
      }
      const before = await on.balance(hirer)
      const asked = await on.hold(hirer, agent, { priceCents: 0 })
      assert.equal(await cancel(asked.task, agent), 'caller_forbidden')
      assert.equal(await cancel(asked.task, { token: on.operator }), 'caller_forbidden')
      assert.equal(await cancel(asked.task, await on.newOwner()), 'work_unknown')
      const read = await on.narrower(hirer.token, { scopes: ['read'] })
      assert.equal(await cancel(asked.task, read), 'caller_forbidden')
      assert.equal(await cancel(asked.task, hirer), 'settled')
      assert.equal(await on.balance(hirer), before)
      assert.equal(await cancel(asked.task, hirer), 'work_ended')
      assert.equal((await on.factsOf('hold_released', asked.id)).length, 1)
      assert.equal(await cancel(randomUUID(), hirer), 'work_unknown')
      // Nobody is where this agent says that it is.
      const accepted = await on.hold(hirer, agent)
      assert.equal(await cancel(accepted.task, hirer), 'agent_silent')
      assert.equal(state(await on.work(accepted.task, hirer)), 'accepted')
    })

    test('P-1 P-3 slots that were promised with the credits are shown with them', async () => {
      const task = randomUUID() as string as TaskId
      const instance = randomUUID() as string as InstanceId
      const now = Date.now()
      const id = randomUUID() as string as ReservationId
      const promised = await hub.hub.keep.slots.reserve(
        {
          type: 'reserve_slots',
          id,
          instance,
          agent: agent.id as string as AgentId,
          planner: hirer.id as string as AgentId,
          task,
          slots: 2,
          slotsOwned: 4,
          draining: false,
          deadline: now + 60_000,
          money: {
            hold: randomUUID() as string as HoldId,
            payer: hirer.owner as OwnerId,
            payee: agent.owner as OwnerId,
            amountCents: 100,
          },
        },
        'test' as CorrelationId,
        { offer: canonicalDigest(task), forgetAt: now + 60_000 },
      )
      assert.ok(promised.ok, JSON.stringify(promised))
      const shown = async (as: object) => {
        const { reservation, state } = (await on.work(task, as)).body
        const { lapses_at: _, ...slots } = reservation as Record<string, unknown>
        return { state, ...slots }
      }
      const expected = { reservation_id: id, instance_id: instance, slots: 2, state: 'promised' }
      assert.deepEqual(await shown(hirer), expected)
      assert.deepEqual(await shown(agent), expected)
      const { body } = await on.work(task, hirer)
      assert.deepEqual([body.state, (body.hold as { amount: number }).amount], ['asked', 1])
    })

    test('P-3 a job that was paid by transfer is settled, with which transfer', async () => {
      const job = randomUUID()
      const transfer = randomUUID()
      const body = {
        transfer_id: transfer,
        from_owner: hirer.owner,
        to_owner: agent.owner,
        amount: 1.5,
        job_id: job,
        timestamp: new Date().toISOString(),
      }
      const paid = await on.send('/transfer', { token: hirer.token, body })
      assert.equal(paid.status, 200, JSON.stringify(paid.body))
      const { body: told } = await on.work(job, hirer)
      assert.equal(told.state, 'settled')
      assert.equal((told.settlement as { transfer_id: string }).transfer_id, transfer)
    })

    test('P-3 0010 two payers with one key see each their own, a stranger neither', async () => {
      const other = await on.newParty()
      const { task } = await on.hold(hirer, agent)
      const second = await on.hold(other, agent, { task, priceCents: 0 })
      assert.deepEqual([await on.work(task, hirer), await on.work(task, other)].map(state), [
        'accepted',
        'asked',
      ])
      const stranger = await on.newParty()
      assert.equal(state(await on.work(task, stranger)), 'work_unknown')
      assert.equal((await on.work(task, {})).status, 401)
      const { token } = await on.narrower(hirer.token, { scopes: ['money'] })
      assert.equal((await on.work(task, { token })).status, 403)
      // Whoever may see both says which one.
      for (const as of [{ token: on.operator }, { token: agent.token }]) {
        const { body } = await on.work(task, as, `?payer_id=${other.owner}`)
        assert.equal((body.hold as { hold_id: string }).hold_id, second.id)
      }
      assert.equal((await on.work(task, hirer, '?payer=x')).status, 400)
    })

    test('P-3 the answer is the same after a restart', async () => {
      const { task } = await on.hold(hirer, agent)
      await on.report(agent, on.message(agent, task))
      const before = await on.work(task, hirer)
      await hub.stop()
      hub = await engine.start({ seed: 2, auth: 'required' })
      on = createHiring({ ...hub, firstOperatorToken: on.operator })
      assert.deepEqual(await on.work(task, hirer), before)
    }, 60_000)
  })

  describe('contents can be deleted', () => {
    const remove = (key: string, as: object) =>
      on.send(`/v1/work/${key}/content`, { method: 'DELETE', ...as })
    const contentOf = async (task: string) =>
      (await on.work(task, hirer)).body.result as Record<string, unknown>

    for (const [who, as] of [
      ['hirer', () => ({ token: hirer.token })],
      ['owner of the agent', () => ({ token: agent.token })],
      ['agent', () => ({ key: agent.key })],
    ] as const) {
      test(`by the ${who}, at once; how it ended and its hash stay`, async () => {
        const { task } = await on.hold(hirer, agent)
        const message = on.message(agent, task)
        await on.report(agent, message)
        assert.equal((await remove(task, as())).status, 204)
        assert.equal((await remove(task, as())).status, 204)
        const { content, output, output_hash } = await contentOf(task)
        const hash = canonicalDigest(message.output_data)
        assert.deepEqual([content, output, output_hash], ['deleted', undefined, hash])
        const { body } = await on.resultsOf(agent, agent, `?request_id=${task}`)
        assert.deepEqual(body.results, [])
        // The same result again brings nothing back.
        assert.equal((await on.report(agent, message)).status, 204)
        assert.equal((await contentOf(task)).content, 'deleted')
        const [fact] = await on.factsOf('result_recorded', task)
        assert.equal(fact?.output, hash)
      })
    }

    test('by nobody else', async () => {
      const { task } = await on.hold(hirer, agent)
      await on.report(agent, on.message(agent, task))
      const stranger = await on.newParty()
      assert.equal(state(await remove(task, { token: stranger.token })), 'work_unknown')
      assert.equal((await remove(task, { token: on.operator })).status, 403)
      assert.equal((await remove(task, {})).status, 401)
      const { token } = await on.narrower(hirer.token, { scopes: ['read'] })
      assert.equal((await remove(task, { token })).status, 403)
      assert.equal((await contentOf(task)).content, 'kept')
      assert.equal(state(await remove(randomUUID(), hirer)), 'work_unknown')
    })
  })
}
