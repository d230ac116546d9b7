/**
 * What hubs say at a real broker and what they take in from it beside presence: orders, results,
 * releases, rotations. Two hubs on one PostgreSQL, each with a key, and agents held to their own
 * subjects.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { Bus } from '@chimera/bus/port'
import type { AgentId, PublicKey } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import { signRotation } from '@chimera/identity/rotation'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { createAsker, registration } from './asking.ts'
import { type Cluster, openCluster, soon } from './cluster.ts'
import { follow } from './following.ts'
import type { Party } from './hiring.ts'
import { createHolding, type Holding, shown } from './holding.ts'
import type { TestHub } from './running.ts'

vi.setConfig({ testTimeout: 30_000 })

const clock = createClock()
let cluster: Cluster
let hubs: TestHub[] = []
let on: Holding
let bus: Bus
let gate: ReturnType<typeof createGate>
let agent: Party
let hirer: Party
/** Shown by the hub that made it, and good at all of them. */
let operator = ''

beforeAll(async () => {
  cluster = await openCluster({ auth: 'required', busHeld: true })
  hubs = [await cluster.start()]
  gate = createGate(cluster.broker.port)
  await gate.open()
  hubs.push(await cluster.start({ bus: [gate.address()] }))
  operator = first().firstOperatorToken ?? ''
  on = createHolding(first(), clock)
  bus = await cluster.speaker()
  ;[hirer, agent] = [await on.newParty(), await on.newParty()]
}, 120_000)
afterAll(async () => {
  await cluster.end()
  await gate.close()
}, 60_000)

const first = (): TestHub => hubs[0] ?? assert.fail('no hub')
const second = (): TestHub => hubs[1] ?? assert.fail('no second hub')
const bytesOf = (message: object): Uint8Array => Buffer.from(JSON.stringify(message))
const said = (subject: string, message: object) => bus.publish({ subject, bytes: bytesOf(message) })

/** What is heard there from now on. */
async function hear(pattern: string, by: Bus = bus) {
  const heard: { readonly subject: string; readonly message: Record<string, unknown> }[] = []
  const hearing = by.subscribe(pattern)
  await by.flush()
  void (async () => {
    for await (const { subject, bytes } of hearing) {
      heard.push({ subject, message: JSON.parse(Buffer.from(bytes).toString()) })
    }
  })()
  return { heard, subjects: () => heard.map(({ subject }) => subject).toSorted() }
}

async function refused(topic: string, reason: string): Promise<number> {
  const pages = await Promise.all(hubs.map(({ metrics }) => metrics.text()))
  const line = `^bus_messages_refused_total\\{topic="${topic}",reason="${reason}"\\} (\\d+)$`
  const found = [...pages.join('\n').matchAll(new RegExp(line, 'gm'))]
  return found.reduce((sum, [, count]) => sum + Number(count), 0)
}

describe('SF-11 an order', () => {
  const give = (body: object, at = first()) =>
    createAsker(at, clock).send('/v1/control', { token: operator, body })
  const pause = { action: 'pause', reason: 'It answers nobody.' }

  test('to one agent, to an owner and to all is said once to whom it is for', async () => {
    const { owner, token } = await on.newOwner()
    const two = [registration(owner), registration(owner)]
    for (const body of two) {
      assert.equal(
        (await on.send('/register', { token, key: generateKeyPair(), body })).status,
        201,
      )
    }
    const { heard, subjects } = await hear('chimera.control.*')
    const one = await give({ to: 'agent', agent_id: agent.id, ...pause })
    await soon(() => assert.deepEqual(subjects(), [`chimera.control.${agent.id}`]))
    const [order] = heard.splice(0)
    assert.deepEqual(order?.message, one.body, 'as it was signed')
    const { body } = await first().get('/v1/keys/hub')
    const hubKey = body.public_key as PublicKey
    assert.ok(verifyMessage(order?.message ?? {}, hubKey, createKeyring()).ok)
    const changed = { ...order?.message, action: 'resume' }
    assert.ok(!verifyMessage(changed, hubKey, createKeyring()).ok)

    // By the other hub: neither says what the other was asked for.
    const owners = await give({ to: 'owner', owner_id: owner, ...pause }, second())
    const all = await give({ to: 'all', ...pause }, second())
    const expected = two.map(({ agent_id }) => `chimera.control.${agent_id}`).toSorted()
    await soon(() => assert.deepEqual(subjects(), [...expected, 'chimera.control.all'].toSorted()))
    await Promise.all(hubs.map(({ hub }) => hub.settle()))
    await bus.flush()
    assert.equal(heard.length, 3)
    assert.deepEqual(
      heard.filter(({ subject }) => subject.endsWith('.all')).map(({ message }) => message),
      [all.body],
    )
    assert.deepEqual(heard.find(({ subject }) => subject === expected[0])?.message, owners.body)
  })

  test('waits for a broker that is away, and is said when it is back', async () => {
    const { heard } = await hear(`chimera.control.${agent.id}`)
    await gate.close()
    await soon(() => assert.equal(second().hub.share.broker().type, 'away'))
    const given = await give({ to: 'agent', agent_id: agent.id, action: 'resume' }, second())
    assert.equal(given.status, 201)
    await bus.flush()
    assert.equal(heard.length, 0)
    await gate.open()
    await soon(() => assert.equal(heard.length, 1), 15_000)
    assert.deepEqual(heard[0]?.message, given.body)
  })
})

describe('OC-17 OC-23 a result that an agent says on the bus', () => {
  const subject = (to: Party = hirer) => `openclaw.result.${agent.id}.${to.id}`
  const settled = async (task: string) =>
    soon(async () => assert.equal((await on.work(task, hirer)).body.state, 'settled'), 15_000)
  async function newWork(more: Record<string, unknown> = {}) {
    const { task } = await on.hold(hirer, agent)
    return { task, message: on.message(agent, task, { requester_agent_id: hirer.id, ...more }) }
  }

  test('settles its hold, once, however often and wherever it is said', async () => {
    const before = Number(await on.balance(agent))
    const { task, message } = await newWork()
    const signed = signMessage(message, agent.key)
    for (let times = 0; times < 5; times += 1) said(subject(), signed)
    await settled(task)
    const again = { ...message, timestamp: new Date(clock.now() + 1).toISOString() }
    said(subject(), signMessage(again, agent.key))
    assert.equal((await on.report(agent, message)).status, 204, 'over HTTP too')
    await Promise.all(hubs.map(({ hub }) => hub.settle()))
    assert.equal((await on.factsOf('result_recorded', task)).length, 1)
    assert.equal((await on.factsOf('hold_captured', task)).length, 1)
    assert.equal(Number(await on.balance(agent)), before + 2.5)
  })

  test('waits while no hub is there; P-15 the key counts that spoke when it was said', async () => {
    const rotating = await on.newParty()
    const [mine, theirs] = [await newWork(), await on.hold(hirer, rotating)]
    for (const { stop } of hubs.splice(0)) await stop()
    said(subject(), signMessage(mine.message, agent.key))
    const result = `openclaw.result.${rotating.id}.${hirer.id}`
    said(result, signMessage(on.message(rotating, theirs.task), rotating.key))
    await bus.flush()
    const apart = await cluster.start({ bus: [] })
    const next = generateKeyPair()
    const pairs = { old: rotating.key, next }
    const rotation = signRotation(rotating.id as string as AgentId, pairs, clock.now())
    assert.equal((await apart.post(`/v1/keys/${rotating.id}/rotate`, rotation)).status, 200)
    await apart.stop()

    hubs.push(await cluster.start(), await cluster.start())
    on = createHolding({ ...first(), firstOperatorToken: operator }, clock)
    await settled(mine.task)
    await settled(theirs.task)
    assert.equal((await on.factsOf('hold_captured', mine.task)).length, 1)
    const late = await on.hold(hirer, rotating)
    const before = await refused('result', 'signature_invalid')
    said(result, signMessage(on.message(rotating, late.task), rotating.key))
    await soon(async () => assert.equal(await refused('result', 'signature_invalid'), before + 1))
    said(result, signMessage(on.message(rotating, late.task), next))
    await settled(late.task)
  })

  test('is refused and counted when it is not proven, and changes nothing', async () => {
    const { task, message } = await newWork()
    const signed = signMessage(message, agent.key)
    const secret = `sk-${'a1B2c3D4e5F6g7H8'.repeat(2)}`
    // biome-ignore format: a table is read by its columns
    const rows: [why: string, subject: string, message: object, reason: string][] = [
      ['unsigned',               subject(),      message,                                              'signature_invalid'],
      ['by another key',         subject(),      signMessage(message, hirer.key),                      'signature_invalid'],
      ['changed on its way',     subject(),      { ...signed, output_data: { words: 8 } },             'signature_invalid'],
      ['under another\'s name',  `openclaw.result.${hirer.id}.${agent.id}`, signed,                    'caller_forbidden'],
      ['to somebody else',       subject(agent), signed,                                               'caller_forbidden'],
      ['no result',              subject(),      { nothing: 'at all' },                                'message_malformed'],
      ['with a secret',          subject(),      signMessage({ ...message, output_data: { words: 1, key: secret } }, agent.key), 'message_malformed'],
      ['of another version',     subject(),      signMessage({ ...message, protocol_version: '2.0.0' }, agent.key), 'version_unsupported'],
      ['with a wrong output',    subject(),      signMessage({ ...message, output_data: { words: -1 } }, agent.key), 'output_invalid'],
    ]
    for (const [why, where, what, reason] of rows) {
      const before = await refused('result', reason)
      said(where, what)
      await soon(async () => assert.equal(await refused('result', reason), before + 1, why))
    }
    assert.equal((await on.work(task, hirer)).body.state, 'accepted')
    said(subject(), signed)
    await settled(task)
    const before = await refused('result', 'work_ended')
    said(subject(), signMessage({ ...message, output_data: { words: 9 } }, agent.key))
    await soon(async () => assert.equal(await refused('result', 'work_ended'), before + 1))
  })

  test('is said to its hirer when it came over HTTP', async () => {
    const { heard } = await hear(`openclaw.result.${agent.id}.*`)
    const { task, message } = await newWork()
    for (const _ of [1, 2]) assert.equal((await on.report(agent, message)).status, 204)
    await soon(() => assert.equal(heard.length, 2, 'again when it is repeated'))
    assert.deepEqual(heard[0], { subject: subject(), message })
    // A hold knows who hired, where the result does not say.
    const placed = await on.place({ key: hirer.key }, on.holdFor(agent))
    const held = shown(placed).hold ?? {}
    assert.equal((await on.confirm(agent, String(held.hold_id))).status, 200)
    const unnamed = on.message(agent, String(held.task_id))
    assert.equal((await on.report(agent, unnamed)).status, 204)
    await soon(() => assert.equal(heard.length, 3))
    assert.deepEqual(heard[2], {
      subject: subject(),
      message: { ...unnamed, requester_agent_id: hirer.id },
    })
    assert.equal((await on.work(task, hirer)).body.state, 'settled')
  })
})

describe('OC-15 P-1 a reservation that is given back by a signed notice', () => {
  async function reserved() {
    const { instance, post } = on.instanceOf(agent)
    assert.equal((await post()).status, 204)
    const offer = on.offer(hirer, instance)
    const promised = await on.present({ key: agent.key }, on.signed(offer, hirer.key))
    assert.equal(promised.status, 201, JSON.stringify(promised.body))
    const { reservation_id } = shown(promised).reservation ?? {}
    const notice = (by: 'planner' | 'instance', more: object = {}) => ({
      reservation_id,
      instance_id: instance,
      planner_id: hirer.id,
      task_id: offer.task_id,
      released_by: by,
      trace_id: 'trace-release',
      signed_at: new Date(clock.now()).toISOString(),
      ...more,
    })
    const subject = `moltbook.release.${instance}.${hirer.id}`
    const state = async () => {
      const { hold, reservation } = shown(await on.show(String(shown(promised).hold?.hold_id)))
      return [hold?.state, reservation?.state, reservation?.because]
    }
    return { notice, subject, state }
  }

  test('by its planner, or by its instance, frees slot and money', async () => {
    for (const [by, party] of [
      ['planner', hirer],
      ['instance', agent],
    ] as const) {
      const before = Number(await on.balance(hirer))
      const { notice, subject, state } = await reserved()
      assert.equal(Number(await on.balance(hirer)), before - 3)
      said(subject, on.signed(notice(by), party.key))
      await soon(async () => assert.deepEqual(await state(), ['released', 'ended', 'released'], by))
      assert.equal(Number(await on.balance(hirer)), before)
    }
  })

  test('is not believed of anybody else', async () => {
    const { notice, subject, state } = await reserved()
    // biome-ignore format: a table is read by its columns
    const rows: [why: string, message: object, reason: string][] = [
      ['in the planner\'s name',  on.signed(notice('planner'), agent.key),                          'signature_invalid'],
      ['in the instance\'s name', on.signed(notice('instance'), hirer.key),                         'signature_invalid'],
      ['of long ago',             on.signed(notice('planner', { signed_at: on.at(-90_000) }), hirer.key), 'message_expired'],
      ['for another task',        on.signed(notice('planner', { task_id: randomUUID() }), hirer.key), 'reservation_unknown'],
      ['of no reservation',       on.signed(notice('planner', { reservation_id: randomUUID() }), hirer.key), 'reservation_unknown'],
    ]
    for (const [why, message, reason] of rows) {
      const before = await refused('release', reason)
      said(subject, message)
      await soon(async () => assert.equal(await refused('release', reason), before + 1, why))
    }
    assert.deepEqual((await state()).slice(0, 2), ['placed', 'promised'])
    said(subject, on.signed(notice('planner'), hirer.key))
    await soon(async () => assert.equal((await state())[0], 'released'))
  })
})

test('AV-12 a key is handed over by a rotation on the bus', async () => {
  const next = generateKeyPair()
  const { id, key } = await on.newParty()
  const pairs = { old: key, next }
  const thief = generateKeyPair()
  const forged = { old: thief, next: thief }
  for (const each of [forged, pairs]) {
    said(`moltbook.rotation.${id}`, signRotation(id as string as AgentId, each, clock.now()))
  }
  await soon(async () => {
    const { body } = await second().get(`/v1/keys/${id}`)
    const ids = (body.keys as { key_id: string }[]).map(({ key_id }) => key_id)
    assert.deepEqual(ids, [key.id, next.id])
  })
  await soon(async () => assert.equal(await refused('rotation', 'key_mismatch'), 1))
})

test('P-7 a post from the bus is told to whoever follows the live feed', async () => {
  const token = operator
  const reading = await follow(first(), `?topics=presence&agent_id=${agent.id}`, { token })
  assert.equal(reading.status, 200, reading.text())
  const { instance, post } = on.instanceOf(agent)
  // Signed as a post over HTTP is, and said on the bus instead.
  let message: unknown
  const to = {
    ...first(),
    post: async (_: string, body?: unknown) => {
      message = body
      return { status: 0, body: {} }
    },
  }
  await post({}, to)
  const nudges = hubs.map(({ hub }) => vi.spyOn(hub.live, 'nudge'))
  said('moltbook.presence.openswarm', message as object)
  const told = await reading.until(({ data }) => JSON.stringify(data).includes(instance))
  assert.equal(told.at(-1)?.event, 'presence')
  // Whoever took it in, and whoever was told of it: nobody waits for the next look.
  await soon(() => assert.ok(nudges.every(({ mock }) => mock.calls.length > 0)))
  reading.leave()
})

/** A way to the broker that can be shut for one, while others are there. */
function createGate(to: number) {
  const sockets = new Set<Socket>()
  let server: Server | undefined
  let port = 0
  return {
    address: () => `nats://127.0.0.1:${port}`,
    async open() {
      server = createServer((near) => {
        const far = connect(to, '127.0.0.1')
        for (const each of [near, far]) {
          sockets.add(each)
          each.on('error', () => undefined).on('close', () => sockets.delete(each))
        }
        near.pipe(far).pipe(near)
      })
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
    },
    async close() {
      const closing = server
      server = undefined
      for (const each of sockets) each.destroy()
      if (closing !== undefined) await new Promise((resolve) => closing.close(resolve))
    },
  }
}
