/**
 * Orders over HTTP, against real hubs that require authentication: given by operators, fetched and
 * verified by agents as an agent's own program would, obeyed, and acknowledged.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readControlOrder } from '@chimera/dialects/chimera'
import {
  applyObeyed,
  decideObey,
  type Obedience,
  openObedience,
  steeringOf,
} from '@chimera/domain/control'
import type { AgentId, OwnerId, PublicKey } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair, keyIdOf } from '@chimera/identity/keys'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Asker, createAsker, registration } from './asking.ts'
import { type Engine, onEmbedded } from './engines.ts'
import type { Answered, TestHub } from './running.ts'

const real = createClock()
let aheadMs = 0
const clock = { ...real, now: () => real.now() + aheadMs }
const HOUR_MS = 3_600_000
const PATIENCE = { timeout: 120_000 }

let engine: Engine
let hub: TestHub
let asker: Asker

type Order = Record<string, unknown>
const said = ({ status, body }: Answered) => [status, body.code].join(' ').trim()
const later = (ms: number) => new Date(clock.now() + ms).toISOString()
const give = (body: Order, token: string | undefined = asker.operator) =>
  asker.send('/v1/control', { ...(token !== '' && { token }), body })
const pause = (id: string, more: Order = {}): Order => ({
  to: 'agent',
  agent_id: id,
  action: 'pause',
  ...more,
})
const poll = (id: string, sent: object, query = '') => asker.send(`/v1/control/${id}${query}`, sent)
const ordersIn = ({ body }: Answered) => body.orders as Order[]
const idsIn = (answer: Answered) => ordersIn(answer).map(({ control_id }) => control_id)
const see = (id: unknown, sent: object) =>
  asker.send(`/v1/control/${String(id)}/seen`, { method: 'POST', ...sent })

/** An agent's side: one key of the hub in its settings, and nothing else to believe. */
function createObedient(agent: string, owner: string, hubKey: PublicKey) {
  const keyring = createKeyring()
  const pinned = keyIdOf(hubKey)
  let state: Obedience = openObedience({ agent: agent as AgentId, owner: owner as OwnerId })
  return {
    hear(message: object): string {
      const read = readControlOrder(message)
      if (!read.ok) return read.refusal
      const proven = verifyMessage(message, hubKey, keyring).ok
      const received = { order: read.value, signedBy: proven ? pinned : undefined }
      const decision = decideObey(state, received, { hubKey: pinned, now: clock.now() })
      if (!decision.ok) return decision.refusal
      state = decision.facts.reduce(applyObeyed, state)
      return decision.facts.length > 0 ? 'obeyed' : 'nothing new'
    },
    steering: () => steeringOf(state, clock.now()),
  }
}
const hubKey = async () => (await hub.get('/v1/keys/hub')).body.public_key as PublicKey

async function factsOf(running: TestHub, type: string, id: unknown): Promise<readonly object[]> {
  await running.hub.settle()
  const found: object[] = []
  for (let seq = 0; ; ) {
    const page = await running.hub.keep.trail.sealedAfter(seq)
    for (const { fact } of page) {
      const { order, ...rest } = fact as { type: string; id?: string; order?: { id: string } }
      if (rest.type === type && (order?.id ?? rest.id) === id) found.push(fact as object)
    }
    const last = page.at(-1)
    if (last === undefined) return found
    seq = last.seq
  }
}

export function controlContract(open: () => Engine): void {
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock })
    asker = createAsker(hub, clock)
  }, 120_000)
  afterAll(async () => {
    await hub?.stop()
    await engine?.end()
  }, 60_000)

  describe('an order', () => {
    test('SF-11 is signed by the hub, told, fetched as it was, obeyed, acknowledged', async () => {
      const { id, key, owner, token } = await asker.newAgent()
      const heard: object[] = []
      const listen = (each: object) => void heard.push(each)
      const ends = hub.hubs.map((each) => each.hub.heard.subscribe('control', listen))
      const asked = pause(id, { reason: 'It answers nobody.', expires_at: later(HOUR_MS) })
      const given = await give(asked)
      for (const end of ends) end()
      assert.equal(given.status, 201, JSON.stringify(given.body))
      const { issued_at, sequence, key_id, signature, control_id, ...rest } = given.body
      assert.deepEqual(rest, asked)
      assert.deepEqual(heard, [given.body])
      const publicKey = await hubKey()
      assert.equal(key_id, keyIdOf(publicKey))
      assert.ok(typeof issued_at === 'string' && Number(sequence) > 0)
      assert.ok(typeof signature === 'string' && typeof control_id === 'string')

      const polled = await poll(id, { key })
      assert.deepEqual([polled.status, ordersIn(polled)], [200, [given.body]])
      assert.deepEqual(ordersIn(await poll(id, { token })), [given.body], 'its owner')
      assert.deepEqual(ordersIn(await poll(id, { token: asker.operator })), [given.body])
      assert.deepEqual(ordersIn(await poll(id, { key }, `?after=${String(sequence)}`)), [])

      const agent = createObedient(id, owner, publicKey)
      assert.equal(agent.hear(ordersIn(polled)[0] ?? {}), 'obeyed')
      assert.deepEqual(agent.steering(), { running: 'pause' })
      assert.equal(agent.hear(given.body), 'nothing new', 'by the bus, again')

      assert.equal((await see(control_id, { key })).status, 204)
      assert.equal((await see(control_id, { key })).status, 204)
      const facts = await factsOf(hub, 'control_seen', control_id)
      assert.deepEqual(facts.length, 1)
      const issued = await factsOf(hub, 'control_issued', control_id)
      assert.equal(issued.length, 1)
      const who = await asker.send(`/v1/control/${control_id}/seen`, { token: asker.operator })
      assert.deepEqual(
        (who.body.seen as { agent_id: string }[]).map(({ agent_id }) => agent_id),
        [id],
      )
    })

    test('SF-11 that was forged or altered on its way is not obeyed', async () => {
      const { id, owner } = await asker.newAgent()
      const { body } = await give(pause(id))
      const agent = createObedient(id, owner, await hubKey())
      const thief = generateKeyPair()
      const { signature: _, ...unsigned } = body
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, message: object, answer: string][] = [
        ['another action',          { ...body, action: 'resume' },                              'signature_invalid'],
        ['a longer time',           { ...body, expires_at: later(80 * 24 * HOUR_MS) },          'signature_invalid'],
        ['another number',          { ...body, sequence: Number(body.sequence) + 1 },           'signature_invalid'],
        ['to all',                  { ...without(body, 'agent_id'), to: 'all' },                'signature_invalid'],
        ['a field more',            { ...body, ticket: 'A-17' },                                'signature_invalid'],
        ['unsigned',                unsigned,                                                   'message_malformed'],
        ['another signer',          signMessage(body, thief),                                   'signature_invalid'],
        ['another signer, by name', signMessage({ ...body, key_id: thief.id }, thief),          'signature_invalid'],
        ['as it was given',         body,                                                       'obeyed'],
      ]
      for (const [why, message, answer] of rows) assert.equal(agent.hear(message), answer, why)
    })

    test('SF-11 that comes late changes nothing, whichever way it came', async () => {
      const { id, key, owner } = await asker.newAgent()
      const agent = createObedient(id, owner, await hubKey())
      const first = (await give(pause(id))).body
      const second = (await give({ to: 'owner', owner_id: owner, action: 'drain' })).body
      const third = (await give({ to: 'owner', owner_id: owner, action: 'resume' })).body
      const heard = [third, first, second, third, first].map((each) => agent.hear(each))
      assert.deepEqual(heard, [
        'obeyed',
        'message_outdated',
        'message_outdated',
        'nothing new',
        'message_outdated',
      ])
      assert.deepEqual(agent.steering(), { running: 'resume' })
      assert.deepEqual(idsIn(await poll(id, { key })), [third.control_id])
    })

    test('SF-11, SF-13 publishing and the canary are levers of their own', async () => {
      const { id, key, owner } = await asker.newAgent()
      const agent = createObedient(id, owner, await hubKey())
      const own = { to: 'owner', owner_id: owner }
      await give({ ...own, action: 'publishing', enabled: true })
      const canary = (await give({ ...own, action: 'canary', share: 0.25 })).body
      const paused = (await give(pause(id))).body
      const off = (await give(pause(id, { action: 'publishing', enabled: false }))).body
      const polled = await poll(id, { key })
      const expected = [canary, paused, off].map(({ control_id }) => control_id)
      assert.deepEqual(idsIn(polled), expected)
      for (const each of ordersIn(polled)) assert.equal(agent.hear(each), 'obeyed')
      const all = { running: 'pause', publishing: false, canaryShare: 0.25 }
      assert.deepEqual(agent.steering(), all)
      const after = await poll(id, { key }, `?after=${String(paused.sequence)}`)
      assert.deepEqual(idsIn(after), [off.control_id])
    })

    test('holds until it expires, and what it replaced does not come back', async () => {
      const { id, key, owner } = await asker.newAgent()
      const agent = createObedient(id, owner, await hubKey())
      await give(pause(id))
      const brief = pause(id, { action: 'drain', expires_at: later(1_000) })
      const { body } = await give(brief)
      assert.equal(agent.hear(body), 'obeyed')
      aheadMs += 1_001
      assert.deepEqual(idsIn(await poll(id, { key })), [])
      assert.deepEqual(agent.steering(), {})
      assert.equal(createObedient(id, owner, await hubKey()).hear(body), 'message_expired')
      const listed = await asker.send('/v1/control', { token: asker.operator })
      const ours = (listed.body.orders as { order: Order }[]).filter(
        ({ order }) => order.agent_id === id,
      )
      assert.deepEqual(ours, [])
    })

    test('is given once for an id, however often and at the same time', async () => {
      const { id } = await asker.newAgent()
      const asked = pause(id, { control_id: randomUUID(), reason: 'one' })
      const answers = await Promise.all(Array.from({ length: 10 }, () => give(asked)))
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
      const signatures = new Set(answers.map(({ body }) => body.signature))
      assert.equal(signatures.size, 1)
      assert.equal((await factsOf(hub, 'control_issued', asked.control_id)).length, 1)
      assert.equal(said(await give({ ...asked, reason: 'two' })), '409 key_conflict')
      assert.equal(said(await give({ ...asked, action: 'resume' })), '409 key_conflict')
    })
  })

  describe('who may', () => {
    test('only an operator gives and lists orders, and only to somebody', async () => {
      const { id, key, token, owner } = await asker.newAgent()
      const reading = await asker.narrower(asker.operator, { scopes: ['read'] })
      const list = (sent: object) => asker.send('/v1/control', sent)
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, answer: Promise<Answered>, said: string][] = [
        ['nobody',                     give(pause(id), ''),                                    '401 caller_unknown'],
        ['its owner',                  give(pause(id), token),                                 '403 caller_forbidden'],
        ['the agent itself',           asker.send('/v1/control', { key, body: pause(id) }),    '403 caller_forbidden'],
        ['an operator without scope',  give(pause(id), reading.token),                         '403 caller_forbidden'],
        ['to nobody known',            give(pause(randomUUID())),                              '404 agent_unknown'],
        ['to an owner without agents', give({ to: 'owner', owner_id: `${owner}x`, action: 'pause' }), '404 agent_unknown'],
        ['for a time that is over',    give(pause(id, { expires_at: later(-1) })),             '422 deadline_too_soon'],
        ['for too long',               give(pause(id, { expires_at: later(91 * 24 * HOUR_MS) })), '400 expiry_too_far'],
        ['with a share of a pause',    give(pause(id, { share: 0.5 })),                        '400 message_malformed'],
        ['with a secret in it',        give(pause(id, { reason: `chm_owner_${'a1'.repeat(20)}` })), '400 message_malformed'],
        ['that names the inside',      give(pause(id, { reason: 'see 10.0.0.7:5432' })),       '400 message_malformed'],
        ['nobody lists',               list({}),                                               '401 caller_unknown'],
        ['an owner does not list',     list({ token }),                                        '403 caller_forbidden'],
        ['nor an agent',               list({ key }),                                          '403 caller_forbidden'],
      ]
      for (const [why, answer, expected] of rows) assert.equal(said(await answer), expected, why)
      assert.deepEqual(ordersIn(await poll(id, { key })), [], 'nothing was given')
    })

    test('an agent fetches and acknowledges its own, and nobody does that for it', async () => {
      const mine = await asker.newAgent()
      const other = await asker.newAgent()
      const { control_id: id } = (await give(pause(mine.id))).body
      const obeyed = (sent: object) => asker.send(`/v1/control/${String(id)}/seen`, sent)
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, answer: Promise<Answered>, said: string][] = [
        ['nobody fetches',             poll(mine.id, {}),                            '401 caller_unknown'],
        ['another agent',              poll(mine.id, { key: other.key }),            '403 caller_forbidden'],
        ['another owner',              poll(mine.id, { token: other.token }),        '403 caller_forbidden'],
        ['somebody for nobody',        poll(randomUUID(), { token: other.token }),   '403 caller_forbidden'],
        ['an operator for nobody',     poll(randomUUID(), { token: asker.operator }), '404 agent_unknown'],
        ['by another name than an id', poll('me', { key: mine.key }),                '404 agent_unknown'],
        ['after what is no number',    poll(mine.id, { key: mine.key }, '?after=x'), '400 message_malformed'],
        ['nobody acknowledges',        see(id, {}),                                  '401 caller_unknown'],
        ['its owner does not',         see(id, { token: mine.token }),               '403 caller_forbidden'],
        ['nor an operator',            see(id, { token: asker.operator }),           '403 caller_forbidden'],
        ['nor whom it is not for',     see(id, { key: other.key }),                  '404 order_unknown'],
        ['an order that is none',      see(randomUUID(), { key: mine.key }),         '404 order_unknown'],
        ['nor one without an id',      see('x', { key: mine.key }),                  '404 order_unknown'],
        ['an agent sees not who did',  obeyed({ key: mine.key }),                    '403 caller_forbidden'],
        ['nor of an order that is none', asker.send(`/v1/control/${randomUUID()}/seen`, { token: asker.operator }), '404 order_unknown'],
      ]
      for (const [why, answer, expected] of rows) assert.equal(said(await answer), expected, why)
      assert.deepEqual((await obeyed({ token: asker.operator })).body.seen, [])
      const session = await asker.send('/v1/tokens/session', { key: mine.key, body: {} })
      const short = String(session.body.token)
      assert.deepEqual(idsIn(await poll(mine.id, { token: short })), [id])
      assert.equal((await see(id, { token: short })).status, 204, 'by its session')
    })

    test('operators see what is in force, for how many, and how many have obeyed', async () => {
      const { id, key, owner, token } = await asker.newAgent()
      const second = registration(owner)
      const registered = { token, key: generateKeyPair(), body: second }
      assert.equal((await asker.send('/register', registered)).status, 201)
      const own = { to: 'owner', owner_id: owner }
      const old = (await give(pause(second.agent_id))).body
      const wide = (await give({ ...own, action: 'drain' })).body
      const narrow = (await give(pause(id))).body
      await see(wide.control_id, { key })
      const { body } = await asker.send('/v1/control', { token: asker.operator })
      type Listed = { order: Order; addressed: number; seen: number }
      const ids = [old, wide, narrow].map(({ control_id }) => control_id)
      const listed = (body.orders as Listed[]).filter(({ order }) => ids.includes(order.control_id))
      assert.deepEqual(
        listed.map(({ order, addressed, seen }) => [order, addressed, seen]),
        [
          [narrow, 1, 0],
          [wide, 2, 1],
        ],
      )
      const page = `/v1/control/${String(wide.control_id)}/seen?limit=1`
      await see(wide.control_id, { key: registered.key })
      const first = (await asker.send(page, { token: asker.operator })).body
      const next = `${page}&after=${String(first.next_after)}`
      const last = (await asker.send(next, { token: asker.operator })).body
      const who = [first, last].flatMap((each) => each.seen as { agent_id: string }[])
      assert.deepEqual(
        who.map(({ agent_id }) => agent_id),
        [id, second.agent_id].sort(),
      )
      assert.equal(last.next_after, undefined)
    })
  })

  describe('a hub', () => {
    test('that starts again stands by its orders, and its numbers rise on', PATIENCE, async () => {
      const started = { auth: 'required', clock } as const
      const one = await engine.start(started, 'again')
      const before = createAsker(one, clock)
      const { id, key, owner } = await before.newAgent()
      const order = (asked: Asker, token: string, body: Order) =>
        asked.send('/v1/control', { token, body })
      const given = (await order(before, before.operator, pause(id))).body
      const { public_key } = (await one.get('/v1/keys/hub')).body
      await one.stop()
      const two = await engine.start(started, 'again')
      try {
        const after = createAsker(two, clock)
        const fetched = await after.send(`/v1/control/${id}`, { key })
        assert.deepEqual(ordersIn(fetched), [given])
        const agent = createObedient(id, owner, public_key as PublicKey)
        assert.equal(agent.hear(ordersIn(fetched)[0] ?? {}), 'obeyed')
        const next = await order(after, before.operator, pause(id, { action: 'resume' }))
        assert.ok(Number(next.body.sequence) > Number(given.sequence))
        assert.equal(agent.hear(next.body), 'obeyed')
      } finally {
        await two.stop()
      }
    })

    // The embedded database is of one process.
    if (open !== onEmbedded)
      test('shares its orders with the others on its database', PATIENCE, async () => {
        const other = await engine.start({ auth: 'required', clock, seed: 2 })
        try {
          const there = createAsker(other, clock)
          const { id, key } = await asker.newAgent()
          const asked = pause(id, { control_id: randomUUID() })
          const [here, beyond] = await Promise.all([
            give(asked),
            there.send('/v1/control', { token: asker.operator, body: asked }),
          ])
          assert.deepEqual(here.body, beyond.body, 'one order, whichever hub was asked')
          const fetched = await there.send(`/v1/control/${id}`, { key })
          assert.deepEqual(ordersIn(fetched), [here.body])
          const path = `/v1/control/${String(asked.control_id)}/seen`
          const both = await Promise.all([
            there.send(path, { key, method: 'POST' }),
            asker.send(path, { key, method: 'POST' }),
          ])
          assert.deepEqual(both.map(said), ['204', '204'])
          assert.equal((await factsOf(hub, 'control_seen', asked.control_id)).length, 1)
        } finally {
          await other.stop()
        }
      })

    test('that is open signs nothing, and says so', PATIENCE, async () => {
      const running = await engine.start({ clock }, 'open')
      try {
        const body = { to: 'all', action: 'pause' }
        assert.equal(said(await running.post('/v1/control', body)), '404 hub_key_unknown')
        assert.equal(said(await running.get('/v1/control')), '404 hub_key_unknown')
        const id = randomUUID()
        assert.equal(said(await running.get(`/v1/control/${id}`)), '404 hub_key_unknown')
        assert.equal(said(await running.post(`/v1/control/${id}/seen`)), '404 hub_key_unknown')
      } finally {
        await running.stop()
      }
    })
  })
}

function without(message: Order, name: string): Order {
  return Object.fromEntries(Object.entries(message).filter(([each]) => each !== name))
}
