/**
 * Reserve offers at the hub (AV-8, P-1): an instance presents what a planner signed, and gets slot
 * and money, or neither. Run on both engines by the two test files beside this one.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { generateKeyPair } from '@chimera/identity/keys'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createAsker, type Sent } from './asking.ts'
import { type Engine, onEmbedded } from './engines.ts'
import { createHolding, createShiftedClock, type Holding, idOf, shown } from './holding.ts'
import type { Answered, TestHub } from './running.ts'

export function offersContract(open: () => Engine): void {
  const { clock, pass } = createShiftedClock()
  let engine: Engine
  let hub: TestHub
  let on: Holding
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock }, 'offers')
    on = createHolding(hub, clock)
  }, 120_000)
  afterAll(async () => {
    await hub.stop()
    await engine.end()
  })
  const codeOf = ({ status, body }: Answered) => [status, body.code]

  /** A planner, an agent, and an instance of it that has said that it is there. */
  async function staged(slots = 4) {
    const { hirer: planner, agent } = await on.newPair()
    const { instance, post } = on.instanceOf(agent, slots)
    assert.equal((await post()).status, 204)
    const offer = (more: Record<string, unknown> = {}) =>
      on.signed(on.offer(planner, instance, more), planner.key)
    const present = (message: object) => on.present({ key: agent.key }, message)
    return { planner, agent, instance, post, offer, present }
  }

  describe('a reserve offer', () => {
    test('AV-8 P-1 CH-15 takes slot and money, which go together to the end', async () => {
      const { planner, agent, instance, offer, present } = await staged()
      const answer = await present(offer())
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      const { hold, reservation } = shown(answer)
      assert.deepEqual(
        [hold?.state, hold?.amount, hold?.payer_id, hold?.hirer_id, hold?.agent_id],
        ['placed', 3, planner.owner, planner.id, agent.id],
      )
      assert.deepEqual(
        [reservation?.state, reservation?.slots, reservation?.instance_id],
        ['promised', 1, instance],
      )
      assert.equal(reservation?.expires_at, hold?.ends_at, 'both lapse together')
      const confirmed = shown(await on.confirm(agent, idOf(answer), 2.5))
      assert.equal(confirmed.reservation?.state, 'taken')
      const captured = shown(await on.capture(agent, idOf(answer)))
      assert.deepEqual(
        [captured.hold?.state, captured.reservation?.state, captured.reservation?.because],
        ['captured', 'ended', 'freed'],
      )
      assert.deepEqual([await on.balance(planner), await on.balance(agent)], [97.5, 102.5])
    })

    test('AV-8 again gets the same reservation', async () => {
      const { planner, offer, present } = await staged()
      const once = offer()
      const first = await present(once)
      assert.deepEqual(await present(once), first)
      const answers = await Promise.all(Array.from({ length: 20 }, () => present(once)))
      for (const each of answers) assert.deepEqual(each, first)
      assert.equal(await on.balance(planner), 97)
    })

    test('a withdrawn one stays withdrawn, however often it is shown', async () => {
      const { planner, offer, present } = await staged()
      const once = offer()
      const first = await present(once)
      await on.release({ key: planner.key }, idOf(first), 'withdrawn')
      const again = await present(once)
      const { hold, reservation } = shown(again)
      assert.deepEqual([hold?.hold_id, hold?.state], [idOf(first), 'released'])
      assert.deepEqual([reservation?.state, reservation?.because], ['ended', 'released'])
      assert.equal(await on.balance(planner), 100)
    })

    test('AV-8 for work that costs nothing takes the slot alone, and gives it back', async () => {
      const { agent, planner, instance, offer, present } = await staged(1)
      const { max_cost: _, ...free } = on.offer(planner, instance)
      const answer = await present(on.signed(free, planner.key))
      assert.deepEqual([answer.status, shown(answer).hold], [201, undefined])
      const id = String(shown(answer).reservation?.reservation_id)
      assert.deepEqual(codeOf(await present(offer({ max_cost: 0 }))), [503, 'slots_exhausted'])
      const thief = await on.newParty()
      assert.equal((await on.release({ key: thief.key }, id, 'refused')).status, 403)
      assert.equal((await on.release({ key: agent.key }, id, 'withdrawn')).status, 403)
      const given = await on.release({ key: planner.key }, id, 'withdrawn')
      assert.deepEqual([given.status, shown(given).reservation?.state], [200, 'ended'])
      assert.deepEqual(await on.release({ key: planner.key }, id, 'withdrawn'), given)
      assert.equal((await present(offer({ max_cost: 0 }))).status, 201)
    })

    test('P-1 a reservation that is not used frees slot and money at its instant', async () => {
      const { planner, post, offer, present } = await staged(1)
      const first = await present(offer())
      pass(29_000)
      await post()
      assert.deepEqual(codeOf(await present(offer())), [503, 'slots_exhausted'])
      pass(1_001)
      await post()
      const next = await present(offer())
      assert.equal(next.status, 201)
      const { hold, reservation } = shown(await on.show(idOf(first)))
      assert.deepEqual([hold?.state, reservation?.because], ['lapsed', 'lapsed'])
      await hub.hub.keep.money.endDue()
      assert.equal(await on.balance(planner), 97)
    })

    test('P-1 a refusal and a failure give both back', async () => {
      const { planner, agent, offer, present } = await staged(1)
      const refused = await present(offer())
      const given = shown(await on.release({ key: agent.key }, idOf(refused), 'refused'))
      assert.deepEqual([given.reservation?.state, given.hold?.state], ['ended', 'released'])
      const failed = await present(offer())
      await on.confirm(agent, idOf(failed))
      assert.deepEqual(codeOf(await present(offer())), [503, 'slots_exhausted'])
      await on.release({ key: agent.key }, idOf(failed), 'failed')
      assert.equal((await present(offer())).status, 201)
      assert.equal(await on.balance(planner), 97)
    })

    test('AV-5 OC-15 draining gives unused promises back and takes no new', async () => {
      const { planner, agent, post, offer, present } = await staged()
      const unused = await present(offer())
      const used = await present(offer())
      await on.confirm(agent, idOf(used), 3)
      await post({ availability: 'draining' })
      const { hold, reservation } = shown(await on.show(idOf(unused)))
      assert.deepEqual([hold?.state, hold?.because], ['released', 'refused'])
      assert.equal(reservation?.because, 'drained')
      assert.equal(shown(await on.show(idOf(used))).reservation?.state, 'taken')
      assert.deepEqual(codeOf(await present(offer())), [503, 'draining'])
      assert.equal((await on.capture(agent, idOf(used), on.success(3))).status, 200)
      assert.equal(await on.balance(planner), 97)
      await post({ availability: 'offline' })
      assert.deepEqual(codeOf(await present(offer())), [503, 'agent_offline'])
    })
  })

  describe('an offer that is refused', () => {
    type Stage = Awaited<ReturnType<typeof staged>>
    type Make = (on: Stage) => object
    // biome-ignore format: a table is read by its columns
    const rows: [what: string, make: Make, status: number, code: string][] = [
      ['too many slots',             (at) => at.offer({ requested_slots: 5 }),                    503, 'slots_exhausted'],
      ['too much',                   (at) => at.offer({ max_cost: 100.01 }),                      402, 'funds_short'],
      ['an unknown instance',        (at) => at.offer({ instance_id: randomUUID() }),             404, 'instance_unknown'],
      ['an unknown planner',         (at) => at.offer({ planner_id: randomUUID() }),              401, 'planner_unknown'],
      ['another planner’s name',     (at) => at.offer({ planner_id: at.agent.id }),               401, 'signature_invalid'],
      ['another key',                (at) => on.signed(at.offer(), generateKeyPair()),            401, 'signature_invalid'],
      ['changed after signing',      (at) => ({ ...at.offer(), max_cost: 99 }),                   401, 'signature_invalid'],
      ['an unsigned word added',     (at) => ({ ...at.offer(), note: 'and more' }),               401, 'signature_invalid'],
      ['past its expiry',            (at) => at.offer({ expires_at: on.at(-1) }),                 401, 'message_expired'],
      ['signed too long ago',        (at) => at.offer({ signed_at: on.at(-61_000) }),             401, 'message_expired'],
      ['of a time to come',          (at) => at.offer({ signed_at: on.at(60_000) }),              425, 'message_early'],
      ['past its deadline',          (at) => at.offer({ deadline: on.at(-1) }),                   422, 'deadline_too_soon'],
      ['not an offer',               () => ({ planner_id: 'me' }),                                400, 'message_malformed'],
    ]
    for (const [what, make, status, code] of rows) {
      test(`AV-8 ${what}: nothing is taken`, async () => {
        const stage = await staged()
        assert.deepEqual(codeOf(await stage.present(make(stage))), [status, code])
        assert.equal(await on.balance(stage.planner), 100)
        const { body } = await on.send('/v1/holds', { token: stage.planner.token })
        assert.deepEqual(body.holds, [])
      })
    }

    test('AV-8 it is presented by the instance’s own agent and by nobody else', async () => {
      const { planner, agent, offer } = await staged()
      const other = await on.newParty()
      const by = (sent: object) => on.present(sent, offer())
      assert.equal((await by({ key: planner.key })).status, 404, 'not its instance')
      assert.equal((await by({ key: other.key })).status, 404)
      assert.equal((await by({ token: agent.token })).status, 403)
      assert.equal((await by({ token: planner.token })).status, 403)
      assert.equal((await by({ token: on.operator })).status, 403)
      assert.equal((await by({})).status, 401)
      assert.equal(await on.balance(planner), 100)
      assert.equal((await by({ key: agent.key })).status, 201)
    })

    test('AV-8 one task sits at one instance, and has one hold', async () => {
      const { planner, agent, offer, present } = await staged()
      const task_id = randomUUID()
      await present(offer({ task_id }))
      const second = on.instanceOf(agent)
      await second.post()
      const elsewhere = on.signed(on.offer(planner, second.instance, { task_id }), planner.key)
      assert.deepEqual(codeOf(await present(elsewhere)), [409, 'task_conflict'])
      assert.deepEqual(codeOf(await present(offer({ task_id, max_cost: 4 }))), [
        409,
        'task_conflict',
      ])
      assert.equal(await on.balance(planner), 97)
    })
  })

  test('AV-8 200 offers at once for the last slots of an instance: exactly those that are free', {
    timeout: 60_000,
  }, async () => {
    const { planner, offer, present } = await staged(10)
    await present(offer({ requested_slots: 3, max_cost: 1 }))
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => present(offer({ max_cost: 1 }))),
    )
    assert.equal(answers.filter(({ status }) => status === 201).length, 7)
    const refused = answers.filter(({ body }) => body.code === 'slots_exhausted')
    assert.equal(refused.length, 193)
    assert.equal(await on.balance(planner), 92)
  })

  describe('offers that are shown together', () => {
    type Outcome = {
      readonly promised: boolean
      readonly hold?: Record<string, unknown>
      readonly reservation?: Record<string, unknown>
      readonly error?: { readonly code: string }
    }
    async function presentAll(by: Sent, offers: readonly unknown[]): Promise<readonly Outcome[]> {
      const answer = await on.send('/v1/offers', { ...by, body: { offers } })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body.outcomes as readonly Outcome[]
    }
    const wordOf = ({ promised, error }: Outcome) => (promised ? 'promised' : error?.code)

    test('AV-8 P-1 each gets what it would get alone, and the same offer the same', async () => {
      const { planner, agent, instance, offer, present } = await staged()
      const task_id = randomUUID()
      const [one, other, taken] = [offer({ task_id }), offer({ max_cost: 0 }), offer()]
      const outcomes = await presentAll({ key: agent.key }, [
        one,
        { ...other, max_cost: 90 },
        one,
        other,
        { planner_id: planner.id },
        offer({ task_id, max_cost: 4 }),
        offer({ instance_id: randomUUID() }),
        offer({ max_cost: 1_000 }),
        offer({ expires_at: on.at(-1_000) }),
        on.signed(on.offer(planner, instance), agent.key),
        taken,
      ])
      assert.deepEqual(outcomes.map(wordOf), [
        'promised',
        'signature_invalid',
        'promised',
        'promised',
        'message_malformed',
        'task_conflict',
        'instance_unknown',
        'funds_short',
        'message_expired',
        'signature_invalid',
        'promised',
      ])
      const [first, , again, free] = outcomes
      assert.deepEqual(again, first)
      assert.deepEqual([first?.hold?.state, first?.hold?.amount], ['placed', 3])
      assert.deepEqual([first?.reservation?.state, first?.reservation?.slots], ['promised', 1])
      assert.equal(free?.hold, undefined)
      assert.equal(await on.balance(planner), 94, 'two holds, and nothing for the others')
      // Shown again, alone or together, as after an answer that was lost.
      assert.deepEqual(shown(await present(one)), {
        hold: first?.hold,
        reservation: first?.reservation,
      })
      const repeated = await presentAll({ key: agent.key }, [taken, one])
      assert.deepEqual(repeated, [outcomes.at(-1), first])
      assert.equal(await on.balance(planner), 94)
    })

    test('AV-8 P-1 are promised no more slots and credits than there are', async () => {
      const { planner, agent, offer } = await staged(150)
      const halves = [0, 1].map(() =>
        presentAll(
          { key: agent.key },
          Array.from({ length: 100 }, () => offer({ max_cost: 1 })),
        ),
      )
      const words = (await Promise.all(halves)).flat().map(wordOf)
      assert.equal(words.filter((word) => word === 'promised').length, 100)
      assert.equal(words.filter((word) => word === 'funds_short').length, 100)
      assert.equal(await on.balance(planner), 0)
    })

    test('CH-15 are taken from the agent that they name, and from nobody else', async () => {
      const { planner, agent, offer } = await staged()
      const { agent: stranger } = await staged()
      const [denied] = await presentAll({ key: stranger.key }, [offer()])
      assert.notEqual(denied && wordOf(denied), 'promised')
      const nobody = await on.send('/v1/offers', { body: { offers: [offer()] } })
      assert.equal(nobody.status, 401)
      const { token } = agent
      const [byOwner] = await presentAll({ token }, [offer()])
      assert.equal(byOwner && wordOf(byOwner), 'caller_forbidden')
      assert.equal(await on.balance(planner), 100)
    })
  })

  // The embedded database has one hub.
  if (open !== onEmbedded)
    test('AV-8 at two hubs on one database as well', { timeout: 60_000 }, async () => {
      const { planner, agent, offer, post } = await staged(10)
      const other = await engine.start({ auth: 'required', clock, seed: 2 }, 'offers')
      await post({}, other)
      const hubs = [on.send, createAsker(other, clock).send]
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, at) =>
          on.present({ key: agent.key }, offer({ max_cost: 1 }), hubs[at % 2]),
        ),
      )
      assert.equal(answers.filter(({ status }) => status === 201).length, 10)
      assert.equal(answers.filter(({ body }) => body.code === 'slots_exhausted').length, 190)
      assert.equal(await on.balance(planner), 90)
      await other.stop()
    })
}
