/**
 * An agent on a real NATS and a PostgreSQL, at a hub on both: announced, found, reserved, asked,
 * paid and steered over the bus, while broker and hub come and go.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { onNats } from '@chimera/bus/nats/for-agents'
import { generateKeyPair } from '@chimera/identity/keys'
import { openAgentStore } from '@chimera/store/agents'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Agent } from '../src/create.ts'
import { connect } from '../src/hire/connect.ts'
import { type BusHirer, type BusTown, isSignedBy, openBusTown, type Said } from './bus-town.ts'
import { type Body, createSlow, startAgent, until, wordCount } from './serving.ts'

let town: BusTown
let agent: Agent
let owner: string
let instance: string
let publicKey: string
let hirer: BusHirer
let everything: readonly Said[]
const slow = createSlow()
const skills = [wordCount, slow.skill]

beforeAll(async () => {
  town = await openBusTown()
  everything = await town.overhear('moltbook.>', 'openclaw.>', 'chimera.reputation.*')
  const { owner: payee, token } = await town.on.newOwner()
  owner = payee
  const { body } = await town.hub().get('/v1/keys/hub')
  const hubKey = String(body.public_key)
  const hub = town.hub().address
  const store = await openAgentStore({ database: town.database })
  const options = { hub, owner, token, skills, slots: 2, hubKey, ...store }
  agent = await startAgent({ ...options, bus: onNats() })
  hirer = await town.newHirer()
})
afterAll(async () => {
  await agent?.stop()
  await town?.end()
})

const saidOn = (subject: string) => everything.filter((each) => each.subject === subject)
const listed = async (): Promise<Body | undefined> => {
  const { body } = await town.hub().get(`/moltbook/v1/directory?agent_id=${agent.id()}`)
  return (body.instances as Body[])[0]
}
const balance = async (name: string): Promise<number> => {
  const { body } = await town.on.send(`/accounts/${name}`, { token: town.on.operator })
  return Math.round(Number(body.balance) * 100)
}
const stateOf = async (task: unknown): Promise<unknown> => {
  const { token } = hirer.party
  return (await town.on.send(`/v1/work/${String(task)}`, { token })).body.state
}
const echo = (more: Body = {}) =>
  hirer.request({ capability_id: 'slow_echo', input_data: { text: 'x' }, ...more })

test('AV-1 AV-2 OC-1 OC-3 announces itself on the topics, and is found', async () => {
  await until(async () => (await listed())?.state === 'available')
  instance = String((await listed())?.instance_id)
  const id = agent.id()
  const topics = [
    'moltbook.presence.openswarm',
    'moltbook.capability.chimera',
    `openclaw.identity.${id}`,
    `openclaw.status.${id}`,
  ]
  for (const each of topics) await until(async () => saidOn(each).length > 0)
  const [presence, capability, identity, status] = topics.map((each) => saidOn(each)[0])
  publicKey = String(capability?.message.public_key)
  for (const each of [presence, capability]) assert.ok(isSignedBy(each?.message ?? {}, publicKey))
  assert.equal(identity?.message.agent_id, id)
  assert.equal(status?.message.agent_id, id)
  // On a machine that is slow the first one may have gone to the hub.
  await until(async () => saidOn(topics[0] ?? '').some(({ byHub }) => !byHub), 1_200)
  const offers = await town.hub().get('/discover?skill=word_count')
  const found = (offers.body.agents as Body[]).map(({ agent_id }) => agent_id)
  assert.deepEqual(found, [id])
  assert.equal((await town.hub().get(`/openclaw/v1/identities/${id}`)).status, 200)
})

test('AV-8 OC-9 OC-11 OC-17 CH-9 is reserved, asked and paid, by the bus alone', async () => {
  const before = await balance(owner)
  const { heard } = await hirer.hear(`openclaw.result.*.${hirer.party.id}`)
  const offer = town.on.offer(hirer.party, instance, { max_cost: 0.05 })
  const ack = await hirer.offer(instance, hirer.sign(offer))
  assert.equal(ack.accepted, true, JSON.stringify(ack))
  assert.ok(isSignedBy(ack, publicKey))
  const { task_id: request_id } = offer
  const answer = await hirer.askFor(agent.id(), hirer.sign(hirer.request({ request_id })))
  assert.equal(answer.response_status, 'accepted', JSON.stringify(answer))
  assert.ok(isSignedBy(answer, publicKey))
  await until(async () => heard.length > 0)
  assert.deepEqual(heard[0]?.message.output_data, { words: 3 })
  assert.equal(heard[0]?.byHub, false)
  assert.ok(isSignedBy(heard[0]?.message ?? {}, publicKey))
  await until(async () => (await stateOf(request_id)) === 'settled')
  assert.equal(await balance(owner), before + 5)
  // OC-9: it is the hub that counts, and tells what it has counted, by the task that was paid.
  await until(async () => saidOn(`chimera.reputation.${agent.id()}`).length > 0)
  const [told] = saidOn(`chimera.reputation.${agent.id()}`)
  const update = told?.message.reputation_update as Body
  assert.deepEqual(
    [update.update_type, update.collaboration_id, told?.byHub],
    ['collaboration_completed', request_id, true],
  )
})

describe('OC-23 a request on the bus', () => {
  const ask = (message: Body) => hirer.askFor(agent.id(), message)
  const other = generateKeyPair()
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, message: () => Body, code: string][] = [
    ['unsigned',                 () => echo(),                                                              'unauthenticated'],
    ['signed by somebody else',  () => hirer.sign(echo(), other),                                           'unauthenticated'],
    ['changed on its way',       () => ({ ...hirer.sign(echo()), priority: 1 }),                            'unauthenticated'],
    ['of another agent',         () => hirer.sign(echo({ requester_agent_id: randomUUID() })),              'forbidden'],
    ['of a minute ago',          () => hirer.sign(echo({ timestamp: hirer.time(-61_000) })),                'expired'],
    ['of the future',            () => hirer.sign(echo({ timestamp: hirer.time(35_000) })),                 'not_yet_valid'],
    ['that is none',             () => hirer.sign({ nothing: 'at all' }),                                   'validation_error'],
    ['of another version',       () => hirer.sign(echo({ protocol_version: '2.0.0' })),                     'version_unsupported'],
  ]
  for (const [why, message, code] of rows) {
    test(`${why} is refused: ${code}`, async () => {
      const sent = message()
      const answer = await ask(sent)
      assert.equal(answer.code, code, JSON.stringify(answer))
      if (sent.correlation_id) assert.equal(answer.correlation_id, sent.correlation_id)
    })
  }

  test('OC-10 OC-13 is checked as over HTTP, and rejected with a signed answer', async () => {
    // biome-ignore format: a table is read by its columns
    const wrong: [more: Body, code: string][] = [
      [{ input_data: { text: 7 } },                        'invalid_input'],
      [{ capability_id: 'nothing_like_it' },               'capability_not_available'],
      [{ capability_id: 'word_count', input_data: { text: 'unpaid' } }, 'policy_violation'],
    ]
    for (const [more, code] of wrong) {
      const answer = await ask(hirer.sign(echo(more)))
      assert.equal((answer.rejection_reason as Body).code, code)
      assert.ok(isSignedBy(answer, publicKey))
    }
  })

  test('OC-12 counts once: the same bytes are a replay, signed anew the same ask', async () => {
    const sent = echo()
    const signed = hirer.sign(sent)
    const first = await ask(signed)
    assert.equal(first.response_status, 'accepted', JSON.stringify(first))
    assert.equal((await ask(signed)).code, 'replayed')
    const again = await ask(hirer.sign({ ...sent, timestamp: hirer.time() }))
    assert.equal(again.collaboration_id, first.collaboration_id)
    const changed = { ...sent, timestamp: hirer.time(), input_data: { text: 'y' } }
    const conflict = await ask(hirer.sign(changed))
    assert.equal((conflict.rejection_reason as Body).code, 'policy_violation')
    await slow.letGo()
  })

  test('OC-18 is taken back by its requester alone', async () => {
    const sent = echo({ input_data: { text: 'taken back' } })
    assert.equal((await ask(hirer.sign(sent))).response_status, 'accepted')
    const thief = await town.newHirer()
    const theirs = thief.sign(thief.cancel(sent.request_id))
    assert.equal((await thief.takeBack(agent.id(), theirs)).code, 'not_found')
    const unsigned = await hirer.takeBack(agent.id(), hirer.cancel(sent.request_id))
    assert.equal(unsigned.code, 'validation_error')
    const forged = hirer.sign(hirer.cancel(sent.request_id), other)
    assert.equal((await hirer.takeBack(agent.id(), forged)).code, 'unauthenticated')
    assert.deepEqual(slow.stopped, [])
    const result = await hirer.takeBack(agent.id(), hirer.sign(hirer.cancel(sent.request_id)))
    assert.equal(result.result_status, 'cancelled', JSON.stringify(result))
    assert.ok(isSignedBy(result, publicKey))
    assert.deepEqual(slow.stopped, ['taken back'])
    const over = await hirer.takeBack(agent.id(), hirer.sign(hirer.cancel(sent.request_id)))
    assert.ok(over.code === 'conflict' || over.result_status === 'cancelled', JSON.stringify(over))
  })

  test('OC-15 that was deferred hears the final answer there', async () => {
    const { heard } = await hirer.hear(`openclaw.response.${agent.id()}.${hirer.party.id}`)
    const [one, two, three] = [echo(), echo(), echo()]
    for (const each of [one, two]) {
      assert.equal((await ask(hirer.sign(each))).response_status, 'accepted')
    }
    assert.equal((await ask(hirer.sign(three))).response_status, 'deferred')
    await slow.letGo()
    await until(async () => heard.length > 0)
    const [{ message } = { message: {} as Body }] = heard
    assert.deepEqual([message.request_id, message.response_status], [three.request_id, 'accepted'])
    assert.ok(isSignedBy(message, publicKey))
    for (const _ of [two, three]) await slow.letGo()
    await until(async () => (await agent.work().list()).length === 0)
  })

  test('whose sender does not wait is answered all the same', async () => {
    const { heard } = await hirer.hear(`openclaw.response.${agent.id()}.${hirer.party.id}`)
    const sent = hirer.request({ capability_id: 'unheard_of' })
    hirer.say(`openclaw.request.${hirer.party.id}.${agent.id()}`, hirer.sign(sent))
    await until(async () => heard.length > 0)
    assert.equal(heard[0]?.message.response_status, 'rejected')
  })
})

describe('AV-8 an offer in the instance’s queue', () => {
  test('is declined with its reason, as over HTTP', async () => {
    const offer = town.on.offer(hirer.party, instance, { max_cost: 0.05 })
    const forged = await hirer.offer(instance, hirer.sign(offer, generateKeyPair()))
    assert.deepEqual([forged.accepted, forged.reason], [false, 'bad_signature'])
    const many = await hirer.offer(instance, hirer.sign({ ...offer, requested_slots: 3 }))
    assert.deepEqual([many.accepted, many.reason], [false, 'no_slot'])
    assert.equal((await hirer.offer(instance, { no: 'offer' })).accepted, undefined)
  })

  test('P-1 is given back by its planner: slot and money are free at once', async () => {
    const before = await balance(hirer.party.owner)
    const offer = town.on.offer(hirer.party, instance, { max_cost: 0.05, requested_slots: 2 })
    const ack = await hirer.offer(instance, hirer.sign(offer))
    assert.equal(ack.accepted, true, JSON.stringify(ack))
    const full = town.on.offer(hirer.party, instance)
    assert.equal((await hirer.offer(instance, hirer.sign(full))).reason, 'no_slot')
    const notice = (given: Body, task_id: string) => ({
      reservation_id: given.reservation_id,
      instance_id: instance,
      planner_id: hirer.party.id,
      task_id,
      released_by: 'planner',
      trace_id: 'trace-release',
      signed_at: hirer.time(),
    })
    const where = `moltbook.release.${instance}.${hirer.party.id}`
    hirer.say(where, hirer.sign(notice(ack, offer.task_id), generateKeyPair()))
    assert.equal((await hirer.offer(instance, hirer.sign(full))).reason, 'no_slot')
    hirer.say(where, hirer.sign(notice(ack, offer.task_id)))
    await until(async () => (await balance(hirer.party.owner)) === before)
    const next = town.on.offer(hirer.party, instance, { max_cost: 0.05 })
    const free = await hirer.offer(instance, hirer.sign(next))
    assert.equal(free.accepted, true, JSON.stringify(free))
    hirer.say(where, hirer.sign(notice(free, next.task_id)))
    await until(async () => (await balance(hirer.party.owner)) === before)
  })
})

test('SF-11 an order reaches it over the bus at once, and is acknowledged', async () => {
  const give = (body: Body) => town.on.send('/v1/control', { token: town.on.operator, body })
  const toIt = { to: 'agent', agent_id: agent.id() }
  const { body: order } = await give({ ...toIt, action: 'pause' })
  await until(async () => agent.lifecycle().standing().condition.name === 'paused')
  await until(async () => {
    const seen = await town.on.send(`/v1/control/${String(order.control_id)}/seen`, {
      token: town.on.operator,
    })
    return (seen.body.seen as Body[]).length === 1
  })
  const paused = await hirer.askFor(agent.id(), hirer.sign(echo()))
  assert.equal((paused.rejection_reason as Body).retryable, true)
  await give({ to: 'all', action: 'resume' })
  await give({ ...toIt, action: 'resume' })
  await until(async () => agent.lifecycle().standing().condition.name === 'idle')
})

test('the broker is away: the hub hears over HTTP, and the bus is taken up again', async () => {
  await until(async () => (await listed())?.state === 'available')
  await town.broker.kill()
  agent.lifecycle().order({ type: 'pause' })
  await until(async () => (await listed()) === undefined)
  await town.broker.start()
  await until(async () => town.hub().hub.share.broker().type === 'connected')
  await until(async () => hirer.bus.state().type === 'connected')
  const before = saidOn('moltbook.presence.openswarm').length
  agent.lifecycle().order({ type: 'resume' })
  await until(async () => (await listed())?.state === 'available')
  const answered = async () => {
    const answer = await hirer.askFor(agent.id(), hirer.sign(echo())).catch(() => undefined)
    return answer?.response_status === 'accepted'
  }
  await until(answered)
  await slow.letGo()
  await until(async () => saidOn('moltbook.presence.openswarm').length > before)
}, 60_000)

test('P-3 the hub is away: the stream keeps the result, and it is paid later', async () => {
  const priced = createSlow()
  const { owner: payee, token } = await town.on.newOwner()
  const skill = { ...priced.skill, priceCents: 5 }
  const hub = town.hub().address
  const other = await startAgent({ hub, owner: payee, token, skills: [skill], bus: onNats() })
  const sent = echo()
  const terms = { agent_id: other.id(), task_id: sent.request_id, amount: 0.05 }
  const placed = await town.on.place(
    { token: hirer.party.token },
    { ...terms, expires_at: hirer.time(60_000) },
  )
  assert.equal(placed.status, 201)
  const { heard } = await hirer.hear(`openclaw.result.${other.id()}.${hirer.party.id}`)
  assert.equal((await hirer.askFor(other.id(), hirer.sign(sent))).response_status, 'accepted')
  await town.stopHub()
  await priced.letGo()
  await until(async () => heard.length > 0)
  await town.restartHub()
  await until(async () => (await stateOf(sent.request_id)) === 'settled')
  assert.equal(heard.length, 1)
  await other.stop()
}, 60_000)

test('one call hires it over the bus, where nobody can reach it otherwise', async () => {
  const { owner: payee, token } = await town.on.newOwner()
  const count = { ...wordCount, name: 'count_unseen', id: 'count_unseen@v1.0' }
  const other = await startAgent({
    hub: town.hub().address,
    owner: payee,
    token,
    skills: [count],
    publicUrl: 'http://127.0.0.1:1',
    bus: onNats(),
  })
  const { id, key } = hirer.party
  const as = { agent: id, key }
  const network = connect({ hub: town.hub().address, as, bus: hirer.bus })
  const { output, cost } = await network.hire(
    'count_unseen',
    { text: 'one two three four' },
    { budget: 0.1, deadline: '30s' },
  )
  assert.deepEqual([output, cost], [{ words: 4 }, 0.05])
  await network.close()
  await other.stop()
}, 60_000)

test('OC-18 of several instances one has the request, and a cancel finds it', async () => {
  const { owner: payee, token } = await town.on.newOwner()
  const [id, key] = [randomUUID(), generateKeyPair()]
  const own = [createSlow(), createSlow()]
  const shared = { hub: town.hub().address, owner: payee, token, id, key, slots: 4 }
  const twins = await Promise.all(
    own.map(async ({ skill }) =>
      startAgent({
        ...shared,
        skills: [skill],
        ...(await openAgentStore({ database: town.database })),
        bus: onNats(),
      }),
    ),
  )
  const { heard } = await hirer.hear(`openclaw.result.${id}.${hirer.party.id}`)
  const asks = Array.from({ length: 4 }, (_, place) => echo({ input_data: { text: `${place}` } }))
  const answers = await Promise.all(asks.map((each) => hirer.askFor(id, hirer.sign(each))))
  for (const each of answers) assert.equal(each.response_status, 'accepted', JSON.stringify(each))
  const [first] = asks
  const taken = await hirer.takeBack(id, hirer.sign(hirer.cancel(first?.request_id)))
  assert.equal(taken.result_status, 'cancelled', JSON.stringify(taken))
  for (const { endAll } of own) endAll()
  await until(async () => heard.length >= 4)
  const ended = heard.map(({ message }) => [message.request_id, message.result_status].join(' '))
  const expected = asks.map(
    (each, place) => `${String(each.request_id)} ${place === 0 ? 'cancelled' : 'completed'}`,
  )
  assert.deepEqual(ended.toSorted(), expected.toSorted())
  assert.deepEqual(
    own.flatMap(({ stopped }) => stopped),
    ['0'],
  )
  await Promise.all(twins.map((each) => each.stop()))
  assert.equal(heard.length, 4)
}, 60_000)

test('AV-5 OC-15 draining is told first, and unused promises are given back', async () => {
  const subject = 'moltbook.presence.openswarm'
  const { heard: notices } = await hirer.hear(`moltbook.release.*.${hirer.party.id}`)
  const offer = town.on.offer(hirer.party, instance, { max_cost: 0.05 })
  assert.equal((await hirer.offer(instance, hirer.sign(offer))).accepted, true)
  const before = await balance(hirer.party.owner)
  const running = await hirer.askFor(agent.id(), hirer.sign(echo()))
  assert.equal(running.response_status, 'accepted')
  const drained = agent.drain()
  await until(async () => notices.length > 0)
  assert.equal(notices[0]?.message.released_by, 'instance')
  assert.ok(isSignedBy(notices[0]?.message ?? {}, publicKey))
  await until(async () => (await balance(hirer.party.owner)) > before)
  const states = saidOn(subject).filter(({ message }) => message.instance_id === instance)
  const drains = states.find(({ message }) => message.state === 'draining')
  const given = everything.find(({ message }) => message.released_by === 'instance')
  const placeOf = (said?: Said) => (said === undefined ? -1 : everything.indexOf(said))
  assert.ok(placeOf(drains) >= 0 && placeOf(drains) < placeOf(given), 'told before it is done')
  const late = await hirer.askFor(agent.id(), hirer.sign(echo()))
  assert.equal((late.rejection_reason as Body).code, 'capability_not_available')
  await slow.letGo()
  await drained
  await agent.stop()
  const words = () => saidOn(subject).filter(({ message }) => message.instance_id === instance)
  await until(async () => words().at(-1)?.message.state === 'offline')
})
