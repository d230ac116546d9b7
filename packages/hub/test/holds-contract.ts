/**
 * Holds over HTTP at a hub that asks who is there: the whole life of one, every refusal, who may
 * what, and sums under load. Run on both engines by the two test files beside this one.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createAsker, type Sent } from './asking.ts'
import type { Engine } from './engines.ts'
import type { Party } from './hiring.ts'
import { createHolding, createShiftedClock, type Holding, idOf, shown, stateOf } from './holding.ts'
import type { Answered, TestHub } from './running.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

export function holdsContract(open: () => Engine): void {
  const { clock, pass } = createShiftedClock()
  let engine: Engine
  let hub: TestHub
  let on: Holding
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock })
    on = createHolding(hub, clock)
  }, 120_000)
  afterAll(async () => {
    await hub.stop()
    await engine.end()
  })
  const codeOf = ({ status, body }: Answered) => [status, body.code]

  describe('the life of a hold', () => {
    test('CH-15 CH-9 placed, accepted, captured, refunded to the last credit', async () => {
      const { hirer, agent } = await on.newPair()
      const deadline = on.at(300_000)
      const wanted = on.holdFor(agent, { hirer_id: hirer.id, deadline })
      const placed = await on.place({ token: hirer.token }, wanted)
      assert.equal(placed.status, 201)
      const id = idOf(placed)
      assert.deepEqual(shown(placed).hold, {
        hold_id: id,
        payer_id: hirer.owner,
        payee_id: agent.owner,
        funder_id: hirer.owner,
        agent_id: agent.id,
        hirer_id: hirer.id,
        task_id: wanted.task_id,
        state: 'placed',
        amount: 3,
        left: 3,
        paid: 0,
        cost: 0,
        deadline,
        ends_at: wanted.expires_at,
      })
      assert.equal(await on.balance(hirer), 97)
      const confirmed = shown(await on.confirm(agent, id, 2.5)).hold
      assert.deepEqual(
        [confirmed?.state, confirmed?.price, confirmed?.left],
        ['confirmed', 2.5, 2.5],
      )
      assert.equal(await on.balance(hirer), 97.5, 'what the price leaves is given back at once')
      const captured = shown(await on.capture(agent, id)).hold
      assert.deepEqual([captured?.state, captured?.paid, captured?.cost], ['captured', 2.5, 2.5])
      assert.equal(await on.balance(agent), 102.5)
      const refund = { transfer_id: randomUUID(), amount: 1 }
      assert.equal((await on.refund({ token: agent.token }, id, refund)).status, 200)
      assert.deepEqual([await on.balance(hirer), await on.balance(agent)], [98.5, 101.5])
    })

    test('P-4 every call again answers the same and moves nothing', async () => {
      const { hirer, agent } = await on.newPair()
      const hold_id = randomUUID()
      const wanted = on.holdFor(agent, { hold_id })
      const twice = async (call: () => Promise<Answered>) => {
        const [first, again] = [await call(), await call()]
        assert.ok(first.status < 300, JSON.stringify(first.body))
        assert.deepEqual(again, first)
      }
      await twice(() => on.place({ token: hirer.token }, wanted))
      await twice(() => on.confirm(agent, hold_id))
      const success = on.success()
      await twice(() => on.capture(agent, hold_id, success))
      const refund = { transfer_id: randomUUID(), amount: 1 }
      await twice(() => on.refund({ key: agent.key }, hold_id, refund))
      const late = await on.place({ token: hirer.token }, wanted)
      assert.deepEqual([late.status, stateOf(late)], [201, 'captured'], 'also after its end')
      assert.deepEqual([await on.balance(hirer), await on.balance(agent)], [98.5, 101.5])

      const other = await on.placed(hirer, agent)
      await twice(() => on.release({ token: hirer.token }, other, 'withdrawn'))
      assert.equal(await on.balance(hirer), 98.5)
    })

    test('H3 one task of a payer has one hold; on other terms it is a conflict', async () => {
      const { hirer, agent } = await on.newPair()
      const wanted = on.holdFor(agent)
      const first = await on.place({ token: hirer.token }, wanted)
      assert.deepEqual(await on.place({ token: hirer.token }, wanted), first)
      const dearer = await on.place({ token: hirer.token }, { ...wanted, amount: 4 })
      assert.deepEqual(codeOf(dearer), [409, 'task_conflict'])
      const taken = on.holdFor(agent, { hold_id: idOf(first) })
      assert.deepEqual(codeOf(await on.place({ token: hirer.token }, taken)), [409, 'key_conflict'])
    })

    test('CH-15 P-3 the agent gives up; the payer withdraws what nobody took', async () => {
      const { hirer, agent } = await on.newPair()
      const ended = async (id: string) => {
        const { hold } = shown(await on.show(id))
        return [hold?.state, hold?.because]
      }
      const refused = await on.placed(hirer, agent)
      await on.release({ key: agent.key }, refused, 'refused')
      assert.deepEqual(await ended(refused), ['released', 'refused'])
      const failed = await on.placed(hirer, agent, 2)
      const early = await on.release({ token: hirer.token }, failed, 'withdrawn')
      assert.deepEqual(codeOf(early), [403, 'caller_forbidden'])
      await on.release({ key: agent.key }, failed, 'failed')
      assert.deepEqual(await ended(failed), ['released', 'failed'])
      assert.deepEqual(codeOf(await on.capture(agent, failed)), [409, 'hold_ended'])
      assert.equal(await on.balance(hirer), 100)
    })

    test('P-3 H6 time ends it at the instant, and the sweep gives back', async () => {
      const { hirer, agent } = await on.newPair()
      const unused = await on.placed(hirer, agent)
      const deadline = on.at(10_000)
      const taken = await on.placed(hirer, agent)
      await on.confirm(agent, taken, 2, { deadline })
      pass(60_000)
      assert.equal(stateOf(await on.show(unused)), 'lapsed')
      assert.deepEqual(codeOf(await on.confirm(agent, unused)), [409, 'hold_ended'])
      assert.equal(stateOf(await on.show(taken)), 'confirmed', 'accepted work is not let go')
      pass(DAY_MS)
      const { hold } = shown(await on.show(taken))
      assert.deepEqual([hold?.state, hold?.because], ['released', 'overdue'])
      await hub.hub.keep.money.endDue()
      assert.equal(await on.balance(hirer), 100)
    })

    test('CH-10 OC-7 the score of who hired counts, and so does the deadline', async () => {
      const { hirer, agent } = await on.newPair()
      const first = await on.newParty()
      const scoreOf = async ({ id }: Party) => {
        await hub.hub.settle()
        return (await on.send(`/reputation/${id}`)).body.reputation_score
      }
      await on.capture(hirer, await on.placed(first, hirer, 2.5))
      assert.equal(await scoreOf(hirer), 51, 'hired by nobody registered, who counts as 50')
      const placed = await on.place({ key: hirer.key }, on.holdFor(agent))
      assert.equal(shown(placed).hold?.hirer_id, hirer.id)
      await on.confirm(agent, idOf(placed), 2.5, { deadline: on.at(5_000) })
      pass(6_000)
      assert.equal((await on.capture(agent, idOf(placed))).status, 200)
      assert.equal(await scoreOf(agent), 51.02)
      const { window } = hub.hub.scores.standingOf(agent.id as never)
      assert.equal(window.recent.at(-1)?.onTime, false)
    })
  })

  describe('P-9 a sub-hold', () => {
    test('is cut from its parent, cannot overspend it, and its cost rolls up', async () => {
      const { hirer, agent } = await on.newPair()
      const helper = await on.newParty()
      const parent = await on.placed(hirer, agent, 3)
      const cut = (amount: number) => on.holdFor(helper, { amount, parent_id: parent })
      const over = await on.place({ token: agent.token }, cut(3.01))
      assert.deepEqual(codeOf(over), [402, 'hold_exceeded'])
      const thief = await on.place({ token: hirer.token }, cut(1))
      assert.deepEqual(codeOf(thief), [403, 'caller_forbidden'])
      const sub = await on.place({ key: agent.key }, cut(2))
      assert.deepEqual(
        [shown(sub).hold?.funder_id, shown(sub).hold?.payer_id],
        [hirer.owner, agent.owner],
      )
      assert.equal(shown(await on.show(parent)).hold?.left, 1)
      const more = await on.place({ key: agent.key }, cut(1.5))
      assert.deepEqual(codeOf(more), [402, 'hold_exceeded'], 'together they are too much')
      await on.confirm(helper, idOf(sub), 1.25)
      await on.capture(helper, idOf(sub), on.success(1.25))
      const short = await on.capture(agent, parent, on.success(1))
      assert.deepEqual(codeOf(short), [409, 'settlement_mismatch'])
      await on.capture(agent, parent, on.success(3))
      const { hold } = shown(await on.show(parent))
      assert.deepEqual([hold?.paid, hold?.cost], [1.75, 3])
      assert.deepEqual(
        [await on.balance(hirer), await on.balance(agent), await on.balance(helper)],
        [97, 101.75, 101.25],
      )
      const seen = await on.show(idOf(sub), { token: hirer.token })
      assert.equal(seen.status, 200, 'whose credits they are may look')
    })

    test('of one that nobody has accepted, or that is not there, is refused', async () => {
      const { hirer, agent } = await on.newPair()
      const parent = await on.placed(hirer, agent)
      const by = { key: agent.key }
      const early = await on.place(by, on.holdFor(hirer, { parent_id: parent }))
      assert.deepEqual(codeOf(early), [409, 'work_not_begun'])
      const lost = await on.place(by, on.holdFor(hirer, { parent_id: randomUUID() }))
      assert.deepEqual(codeOf(lost), [404, 'hold_unknown'])
    })
  })

  describe('what is refused', () => {
    type Change = (agent: Party) => Record<string, unknown>
    // biome-ignore format: a table is read by its columns
    const rows: [what: string, changed: Change, status: number, code: string][] = [
      ['more than there is',        () => ({ amount: 100.01 }),                402, 'funds_short'],
      ['less than nothing',         () => ({ amount: -1 }),                    400, 'message_malformed'],
      ['a third decimal',           () => ({ amount: 0.005 }),                 400, 'message_malformed'],
      ['an agent that is not there',() => ({ agent_id: randomUUID() }),        404, 'agent_unknown'],
      ['an expiry that has passed', () => ({ expires_at: on.at(-1) }),         400, 'message_malformed'],
      ['a deadline that has passed',() => ({ deadline: on.at(-1) }),           422, 'deadline_too_soon'],
      ['another’s credits',         ({ owner }) => ({ payer_id: owner }),      403, 'caller_forbidden'],
      ['another’s agent as hirer',  ({ id }) => ({ hirer_id: id }),            403, 'caller_forbidden'],
      ['a hirer that is not there', () => ({ hirer_id: randomUUID() }),        404, 'agent_unknown'],
      ['a word too many',           () => ({ priority: 1 }),                   400, 'message_malformed'],
    ]
    for (const [what, changed, status, code] of rows) {
      test(`X-3 placing: ${what}`, async () => {
        const { hirer, agent } = await on.newPair()
        const wanted = on.holdFor(agent, changed(agent))
        assert.deepEqual(codeOf(await on.place({ token: hirer.token }, wanted)), [status, code])
        assert.equal(await on.balance(hirer), 100)
      })
    }

    test('CH-15 a price above the hold, a later deadline, another price', async () => {
      const { hirer, agent } = await on.newPair()
      const id = await on.placed(hirer, agent, undefined, { deadline: on.at(60_000) })
      assert.deepEqual(codeOf(await on.confirm(agent, id, 3.01)), [402, 'budget_insufficient'])
      const later = await on.confirm(agent, id, 3, { deadline: on.at(70_000) })
      assert.deepEqual(codeOf(later), [400, 'expiry_too_far'])
      await on.confirm(agent, id, 3)
      assert.deepEqual(codeOf(await on.confirm(agent, id, 2)), [409, 'settlement_mismatch'])
      const free = await on.placed(hirer, agent)
      const never = { deadline: on.at(31 * DAY_MS) }
      const bound = await on.confirm(agent, free, 3, never)
      assert.deepEqual(codeOf(bound), [400, 'expiry_too_far'], 'no agent binds credits for ever')
    })

    test('CH-15 a capture before acceptance, above the price, or with a wrong output', async () => {
      const { hirer, agent } = await on.newPair()
      const id = await on.placed(hirer, agent)
      assert.deepEqual(codeOf(await on.capture(agent, id)), [409, 'work_not_begun'])
      await on.confirm(agent, id, 2.5)
      const captured = (more: object) => on.capture(agent, id, { ...on.success(), ...more })
      assert.deepEqual(codeOf(await captured({ amount: 2.51 })), [402, 'hold_exceeded'])
      const bad = await captured({ output: { words: -1 } })
      assert.deepEqual(codeOf(bad), [422, 'output_invalid'])
      assert.deepEqual(codeOf(await captured({ skill: 'cook' })), [404, 'skill_unknown'])
      assert.equal(await on.balance(agent), 100)
      const again = on.success()
      await on.capture(agent, id, again)
      const second = await on.placed(hirer, agent, 2.5)
      const reused = await on.capture(agent, second, again)
      assert.deepEqual(codeOf(reused), [409, 'key_conflict'])
    })

    test('CH-6 a refund of more than was paid, or of what was not paid', async () => {
      const { hirer, agent } = await on.newPair()
      const id = await on.placed(hirer, agent, 2.5)
      const back = (amount: number) =>
        on.refund({ token: agent.token }, id, { transfer_id: randomUUID(), amount })
      assert.deepEqual(codeOf(await back(1)), [409, 'work_not_begun'])
      await on.capture(agent, id)
      assert.deepEqual(codeOf(await back(2.51)), [409, 'refund_excessive'])
      assert.equal((await back(2.5)).status, 200)
      assert.deepEqual(codeOf(await back(0.01)), [409, 'refund_excessive'])
    })

    test('what is not there', async () => {
      const { agent } = await on.newPair()
      for (const id of [randomUUID(), 'nonsense']) {
        assert.deepEqual(codeOf(await on.show(id)), [404, 'hold_unknown'])
        assert.deepEqual(codeOf(await on.confirm(agent, id)), [404, 'hold_unknown'])
        assert.deepEqual(codeOf(await on.capture(agent, id)), [404, 'hold_unknown'])
        const released = await on.release({ key: agent.key }, id, 'refused')
        assert.deepEqual(codeOf(released), [404, 'hold_unknown'])
      }
    })
  })

  describe('who may what', () => {
    type Who = 'payer' | 'hirer' | 'agent' | 'owner' | 'session' | 'stranger' | 'operator'
    // biome-ignore format: a table is read by its columns
    const rows: [call: string, body: object | undefined, may: readonly Who[]][] = [
      ['',         undefined,                               ['payer', 'hirer', 'agent', 'owner', 'session', 'operator']],
      ['/confirm', { price: 2.5 },                          ['agent', 'session']],
      ['/capture', undefined,                               ['agent']],
      ['/release', { because: 'withdrawn' },                ['payer', 'hirer']],
      ['/release', { because: 'refused' },                  ['agent', 'session']],
      ['/release', { because: 'failed' },                   ['agent']],
    ]
    const everybody: readonly Who[] = [
      'payer',
      'hirer',
      'agent',
      'owner',
      'session',
      'stranger',
      'operator',
    ]
    for (const [call, body, may] of rows) {
      test(`CH-15 ${call || 'looking'} ${body ? JSON.stringify(body) : ''}`, async () => {
        const { hirer, agent } = await on.newPair()
        const stranger = await on.newParty()
        const session = await on.send('/v1/tokens/session', { key: agent.key, body: {} })
        const as: Record<Who, Sent> = {
          payer: { token: hirer.token },
          hirer: { key: hirer.key },
          agent: { key: agent.key },
          owner: { token: agent.token },
          session: { token: String(session.body.token) },
          stranger: { token: stranger.token },
          operator: { token: on.operator },
        }
        for (const who of everybody) {
          const price = call === '/capture' ? 2.5 : undefined
          const id = await on.placed(hirer, agent, price)
          const sent = call === '/capture' ? on.success() : body
          const { status } = await on.send(`/v1/holds/${id}${call}`, {
            ...as[who],
            ...(sent && { body: sent }),
          })
          assert.equal(status, may.includes(who) ? 200 : 403, who)
        }
      })
    }

    test('CH-15 placing: the owner’s token, its agent’s key, nobody else', async () => {
      const { hirer, agent } = await on.newPair()
      const narrow = await on.narrower(hirer.token, { scopes: ['read', 'agents'] })
      const tries: [Sent, number][] = [
        [{ token: hirer.token }, 201],
        [{ key: hirer.key }, 201],
        [{ token: narrow.token }, 403],
        [{ token: agent.token }, 403],
        [{ token: on.operator }, 403],
        [{}, 401],
      ]
      for (const [by, status] of tries) {
        const wanted = on.holdFor(agent, { payer_id: hirer.owner })
        assert.equal((await on.place(by, wanted)).status, status, JSON.stringify(Object.keys(by)))
      }
    })

    test('a list shows each party its own, and an operator all', async () => {
      const { hirer, agent } = await on.newPair()
      const other = await on.newParty()
      const ids = [await on.placed(hirer, agent), await on.placed(hirer, agent)]
      await on.placed(other, agent)
      const listed = async (by: Sent, query = '') => {
        const { body } = await on.send(`/v1/holds${query}`, by)
        return (body.holds as { hold_id: string }[]).map(({ hold_id }) => hold_id).sort()
      }
      assert.deepEqual(await listed({ token: hirer.token }), [...ids].sort())
      assert.equal((await listed({ key: agent.key })).length, 3)
      assert.equal((await listed({ token: on.operator }, `?agent_id=${agent.id}`)).length, 3)
      assert.equal((await listed({ token: agent.token }, '?limit=1')).length, 1)
      const task = String(shown(await on.show(ids[0] ?? '')).hold?.task_id)
      assert.deepEqual(await listed({ token: hirer.token }, `?task_id=${task}`), [ids[0]])
      assert.deepEqual(await listed({ token: other.token }, `?task_id=${task}`), [])
      assert.equal((await on.send('/v1/holds?limit=0', { token: hirer.token })).status, 400)
      assert.equal((await on.send('/v1/holds')).status, 401)
    })

    test('a capped token holds as much as its cap and no more', async () => {
      const { hirer, agent } = await on.newPair()
      const { token } = await on.narrower(hirer.token, { spending_cap: 5 })
      const wanted = on.holdFor(agent)
      assert.equal((await on.place({ token }, wanted)).status, 201)
      assert.equal((await on.place({ token }, wanted)).status, 201, 'a repeat is not counted')
      const over = await on.place({ token }, on.holdFor(agent))
      assert.deepEqual(codeOf(over), [403, 'cap_reached'])
      assert.equal((await on.place({ token }, on.holdFor(agent, { amount: 2 }))).status, 201)
      assert.equal(await on.balance(hirer), 95)
    })
  })

  describe('minting', () => {
    test('CH-9 an operator tops an account up, once for each order', async () => {
      const { hirer } = await on.newPair()
      const order = { transfer_id: randomUUID(), owner_id: hirer.owner, amount: 12.5 }
      const mint = (by: Sent, more = {}) =>
        on.send('/v1/mint', { ...by, body: { ...order, ...more } })
      const expected = { status: 201, body: { ...order, balance: 112.5 } }
      assert.deepEqual(await mint({ token: on.operator }), expected)
      assert.deepEqual(await mint({ token: on.operator }), expected)
      const other = await mint({ token: on.operator }, { amount: 13 })
      assert.deepEqual(codeOf(other), [409, 'key_conflict'])
      const nobody = { transfer_id: randomUUID(), owner_id: 'nobody at all' }
      assert.equal((await mint({ token: on.operator }, nobody)).status, 404)
      assert.deepEqual(codeOf(await mint({ token: hirer.token })), [403, 'caller_forbidden'])
      assert.equal((await mint({ key: hirer.key })).status, 403)
      assert.equal((await mint({})).status, 401)
      const narrow = await on.narrower(on.operator, { scopes: ['read', 'money'] })
      assert.equal((await mint({ token: narrow.token })).status, 403)
      assert.equal(await on.balance(hirer), 112.5)
    })
  })

  describe('under load', { timeout: 60_000 }, () => {
    test('CH-9 200 holds at once on one account: exactly what is there', async () => {
      const { hirer, agent } = await on.newPair()
      const answers = await Promise.all(
        Array.from({ length: 200 }, () =>
          on.place({ token: hirer.token }, on.holdFor(agent, { amount: 3 })),
        ),
      )
      assert.equal(answers.filter(({ status }) => status === 201).length, 33)
      assert.equal(answers.filter(({ status }) => status === 402).length, 167)
      assert.equal(await on.balance(hirer), 1)
    })

    test('P-4 100 times at once: one hold, and one payment', async () => {
      const { hirer, agent } = await on.newPair()
      const wanted = on.holdFor(agent)
      const hundred = <T>(run: () => Promise<T>) => Promise.all(Array.from({ length: 100 }, run))
      const placed = await hundred(() => on.place({ token: hirer.token }, wanted))
      assert.equal(new Set(placed.map(idOf)).size, 1)
      const id = idOf(placed[0] as Answered)
      await on.confirm(agent, id)
      const success = on.success()
      const captured = await hundred(() => on.capture(agent, id, success))
      assert.ok(captured.every(({ status }) => status === 200))
      assert.deepEqual([await on.balance(hirer), await on.balance(agent)], [97.5, 102.5])
    })
  })

  test('A3 what was placed before a restart goes on after it', { timeout: 60_000 }, async () => {
    const { hirer, agent } = await on.newPair()
    const id = await on.placed(hirer, agent, 2.5)
    await hub.stop()
    hub = await engine.start({ auth: 'required', clock })
    const { send } = createAsker(hub, clock)
    const body = on.success()
    const captured = await send(`/v1/holds/${id}/capture`, { key: agent.key, body })
    assert.deepEqual([captured.status, stateOf(captured)], [200, 'captured'])
  })
}
