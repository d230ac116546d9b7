/**
 * AV-12 short-lived tokens for publishing, from end to end: a real nats-server that knows nobody
 * but an authority, a hub that dials it over TLS with its own credentials, and agents that the hub
 * lets in for minutes.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBus } from '@chimera/bus/bus'
import { createAuthority, encodeServerConfig, granterOf } from '@chimera/bus/nats/authority'
import { createNatsDial } from '@chimera/bus/nats/dial'
import { createConnectionKey } from '@chimera/bus/nats/grants'
import { encodeHubCreds } from '@chimera/bus/nats/hub-creds'
import type { Bus } from '@chimera/bus/port'
import { type NatsServer, startNats } from '@chimera/bus/testing/nats-server'
import { encodePresence } from '@chimera/dialects/moltbook'
import type { AgentId, CorrelationId, InstanceId, MessageId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { presenceExpiry } from '@chimera/domain/presence/presence'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createAuthority as createCertifier } from '@chimera/host/testing/certificates'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { ANYBODY } from '../src/act/caller.ts'
import { giveGrant } from '../src/act/grants.ts'
import { openGranting } from '../src/compose.ts'
import { soon } from './cluster.ts'
import { createHiring, type Hiring, type Party } from './hiring.ts'
import { type Answered, runHub, type TestHub } from './running.ts'

vi.setConfig({ testTimeout: 30_000 })

const clock = createClock()
const chance = createChance()
const home = mkdtempSync(join(tmpdir(), 'chimera-grants-'))
const seeds = createAuthority(chance.bytes)
const certifier = createCertifier('broker authority')
const buses: Bus[] = []
let broker: NatsServer
let hub: TestHub
let on: Hiring
let agent: Party
let other: Party

function write(name: string, text: string, mode = 0o600): string {
  const path = join(home, name)
  writeFileSync(path, text, { mode })
  return path
}

beforeAll(async () => {
  const { cert, key } = certifier.certify('broker', ['localhost'])
  const limits = { now: clock.now(), diskBytes: 2 * 1024 ** 3, memoryBytes: 100_000_000 }
  const [certFile, keyFile] = [write('cert.pem', cert), write('key.pem', key)]
  const tls = `tls { cert_file: "${certFile}", key_file: "${keyFile}" }`
  broker = await startNats({ config: () => `${encodeServerConfig(seeds, limits)}\n${tls}` })
  const granter = granterOf(seeds)
  const { account, signingSeed } = granter
  hub = await runHub({
    auth: 'required',
    bus: [`tls://localhost:${broker.port}`],
    busCa: write('ca.pem', certifier.cert),
    busCreds: write('hub.creds', encodeHubCreds(granter, { draw: chance.bytes, now: clock.now() })),
    busGranter: write('granter.json', JSON.stringify({ account, signing_seed: signingSeed })),
    busHeld: true,
  })
  await soon(() => assert.equal(hub.hub.share.broker().type, 'connected'))
  on = createHiring(hub, clock)
  ;[agent, other] = [await on.newParty(), await on.newParty()]
}, 120_000)

afterAll(async () => {
  await Promise.all(buses.map((bus) => bus.close()))
  await hub?.stop()
  await broker?.stop()
  rmSync(home, { recursive: true, force: true })
}, 60_000)

const newKey = () => createConnectionKey(chance.bytes)
const ask = (body: object, as: object) => on.send('/v1/grants', { body, ...as })
const said = ({ status, body }: Answered) => [status, body.code].join(' ').trim()
const bytesOf = (message: object): Uint8Array => Buffer.from(JSON.stringify(message))

/** An agent's own program: it asks the hub whenever it dials. */
async function dialAs({ key }: Party, more: object = {}) {
  const connection = newKey()
  const wanted = { public_key: connection.publicKey, ...more }
  const first = await ask(wanted, { key })
  assert.equal(first.status, 201, JSON.stringify(first.body))
  let next: Answered | undefined = first
  let given = 0
  const credentials = async () => {
    const { body } = next ?? (await ask(wanted, { key }))
    next = undefined
    given += 1
    return { kind: 'grant', jwt: String(body.grant), seed: connection.seed } as const
  }
  const bus = openBus({
    clock,
    chance,
    dial: createNatsDial({
      clock,
      chance,
      addresses: first.body.addresses as string[],
      credentials,
      inbox: String(first.body.inbox),
      tls: { ca: certifier.cert },
      makesPlanned: false,
    }),
    streams: [
      {
        name: 'chimera-kept',
        subjects: ['openclaw.result.*.*'],
        keepMs: 60_000,
        keepMessages: 1,
        keepBytes: 1,
        dedupeMs: 60_000,
      },
    ],
    limits: { redialMs: 10, redialMostMs: 50 },
  })
  buses.push(bus)
  await soon(() => assert.equal(bus.state().type, 'connected'))
  return { bus, given: () => given, granted: first.body }
}

function post({ id, key, agent: { skills } }: Party, instance: InstanceId): object {
  const signedAt = clock.now()
  return signMessage(
    encodePresence({
      agent: id as AgentId,
      instance,
      availability: 'available',
      capabilities: skills.map(({ skill_name }) => skill_name),
      slotsTotal: 4,
      slotsFree: 3,
      load: { cpu: 0.25, mem: 0.125 },
      signedAt,
      expiresAt: presenceExpiry('available', signedAt),
      correlation: 'trace-1' as CorrelationId,
    }),
    key,
  )
}

async function isListed(instance: InstanceId): Promise<void> {
  const { body } = await hub.get('/moltbook/v1/directory')
  const found = body.instances as { instance_id: string }[]
  assert.ok(found.some((each) => each.instance_id === instance))
}

describe('AV-12 an agent that the hub lets onto the broker', () => {
  test('posts its presence there over TLS, and is listed', async () => {
    const instance = randomUUID() as InstanceId
    const { bus, granted } = await dialAs(agent, { instance_ids: [instance] })
    assert.equal(granted.agent_id, agent.id)
    assert.ok((granted.publish as string[]).includes(`openclaw.result.${agent.id}.*`))
    assert.ok((granted.subscribe as string[]).includes(`moltbook.reserve.${instance}`))
    const lasts = Date.parse(String(granted.expires_at)) - clock.now()
    assert.ok(lasts > LIMITS.grantMs - 5_000 && lasts <= LIMITS.grantMs, `${lasts}`)
    bus.publish({ subject: 'moltbook.presence.openswarm', bytes: bytesOf(post(agent, instance)) })
    await soon(() => isListed(instance))
    const theft = { public_key: newKey().publicKey, instance_ids: [instance] }
    assert.equal(said(await ask(theft, { key: other.key })), '403 caller_forbidden')
  })

  test('says and hears nothing in the name of another', async () => {
    const { bus } = await dialAs(agent)
    const forbidden: string[] = []
    bus.watch((event) => {
      if (event.type === 'forbidden') forbidden.push(event.detail)
    })
    const forged = [
      `openclaw.status.${other.id}`,
      `openclaw.result.${other.id}.${agent.id}`,
      `chimera.control.${other.id}`,
      'chimera.hub.notice',
    ]
    for (const subject of forged) bus.publish({ subject, bytes: bytesOf({ forged: true }) })
    await soon(() => assert.equal(forbidden.length, forged.length, forbidden.join('\n')))
    for (const pattern of [`chimera.control.${other.id}`, 'chimera.hub.notice', '>']) {
      const hearing = bus.subscribe(pattern)[Symbol.asyncIterator]()
      await assert.rejects(hearing.next(), /may not|not let|forbid/i, pattern)
    }
  })

  test('is cut off when its grant ends, and goes on with the next one', async () => {
    const { bus, given } = await dialAs(agent, { ttl_seconds: 2 })
    const instance = randomUUID() as InstanceId
    await soon(() => assert.ok(given() >= 2, 'it had to ask again'), 15_000)
    await soon(() => assert.equal(bus.state().type, 'connected'))
    bus.publish({ subject: 'moltbook.presence.openswarm', bytes: bytesOf(post(agent, instance)) })
    await soon(() => isListed(instance))
    await bus.close()
  })

  test('OC-17 OC-23 hands over a signed result, which is paid; its hirer hears it', async () => {
    const [worker, hirer] = await Promise.all([dialAs(agent), dialAs(other)])
    const hearing = hirer.bus.subscribe(`openclaw.result.*.${other.id}`)[Symbol.asyncIterator]()
    await hirer.bus.flush()
    const { task } = await on.hold(other, agent)
    const result = on.message(agent, task, { requester_agent_id: other.id })
    const message = signMessage(result, agent.key)
    const stored = await worker.bus.store({
      subject: `openclaw.result.${agent.id}.${other.id}`,
      bytes: bytesOf(message),
      headers: { id: randomUUID() as string as MessageId },
    })
    assert.equal(stored.stream, 'chimera-kept')
    const { value } = await hearing.next()
    assert.deepEqual(JSON.parse(Buffer.from(value?.bytes ?? []).toString()), message)
    await soon(async () => assert.equal((await on.work(task, other)).body.state, 'settled'))
  })

  test('SF-11 hears an order to it', async () => {
    const { bus } = await dialAs(agent)
    const hearing = bus.subscribe(`chimera.control.${agent.id}`)[Symbol.asyncIterator]()
    await bus.flush()
    const order = { to: 'agent', agent_id: agent.id, action: 'resume' }
    const given = await on.send('/v1/control', { token: on.operator, body: order })
    const { value } = await hearing.next()
    assert.deepEqual(JSON.parse(Buffer.from(value?.bytes ?? []).toString()), given.body)
  })
})

describe('AV-12 a grant', () => {
  test('is also given to the owner, by its token, and ends with it', async () => {
    const { token } = await on.narrower(agent.token, {
      scopes: ['agents'],
      expires_at: new Date(clock.now() + 60_000).toISOString(),
    })
    const wanted = { agent_id: agent.id, public_key: newKey().publicKey }
    const given = await ask(wanted, { token })
    assert.equal(given.status, 201, JSON.stringify(given.body))
    assert.ok(Date.parse(String(given.body.expires_at)) <= clock.now() + 60_000)
    assert.equal(
      said(await ask({ public_key: wanted.public_key }, { token })),
      '400 message_malformed',
    )
  })

  test('is refused to whoever is not the agent nor its owner', async () => {
    const wanted = { agent_id: agent.id, public_key: newKey().publicKey }
    const session = await on.send('/v1/tokens/session', { key: agent.key, body: {} })
    const reader = await on.narrower(agent.token, { scopes: ['read'] })
    const revoked = await on.narrower(agent.token, { scopes: ['agents'] })
    const ended = { method: 'DELETE', token: agent.token }
    assert.equal((await on.send(`/v1/tokens/${revoked.id}`, ended)).status, 204)
    // biome-ignore format: a table is read by its columns
    const rows: [who: string, as: object, answer: string][] = [
      ['a stranger',             {},                                  '401 caller_unknown'],
      ['an unknown key',         { key: generateKeyPair() },          '401 caller_unknown'],
      ['another agent',          { key: other.key },                  '403 caller_forbidden'],
      ['another owner',          { token: other.token },              '403 caller_forbidden'],
      ['an operator',            { token: on.operator },              '403 caller_forbidden'],
      ['a short-lived token',    { token: String(session.body.token) }, '403 caller_forbidden'],
      ['a token that only reads', { token: reader.token },            '403 caller_forbidden'],
      ['a revoked token',        { token: revoked.token },            '401 token_invalid'],
    ]
    for (const [who, as, answer] of rows) assert.equal(said(await ask(wanted, as)), answer, who)
  })

  test('is for an agent that is there', async () => {
    const gone = await on.newParty()
    const left = await on.send(`/agents/${gone.id}`, { method: 'DELETE', token: gone.token })
    assert.ok(left.status < 300, JSON.stringify(left.body))
    const wanted = { agent_id: gone.id, public_key: newKey().publicKey }
    assert.equal(said(await ask(wanted, { token: gone.token })), '404 agent_unknown')
    assert.notEqual((await ask(wanted, { key: gone.key })).status, 201)
    const nobody = { ...wanted, agent_id: randomUUID() }
    assert.equal(said(await ask(nobody, { token: gone.token })), '404 agent_unknown')
  })

  test('is for the key of a connection', async () => {
    const { publicKey } = newKey()
    const mistyped = `${publicKey.slice(0, -1)}${publicKey.endsWith('A') ? 'B' : 'A'}`
    const answer = await ask({ public_key: mistyped }, { key: agent.key })
    assert.equal(said(answer), '400 message_malformed')
    assert.match(JSON.stringify(answer.body.details), /\/public_key/)
  })

  test('is one of so many', async () => {
    const wanted = { agent: other.id as AgentId, connection: newKey().publicKey, instances: [] }
    const answers: string[] = []
    for (let at = 0; at <= LIMITS.grantsPerAgent; at += 1) {
      const outcome = await giveGrant(hub.hub, ANYBODY, wanted)
      answers.push(outcome.ok ? 'given' : outcome.refusal)
    }
    assert.equal(answers.at(-1), 'rate_exceeded')
    assert.ok(answers.filter((each) => each === 'given').length > LIMITS.grantsPerAgent - 10)
  })

  test('is nothing that a hub without authority can give', async () => {
    const { granting: _, ...without } = hub.hub
    const wanted = { connection: newKey().publicKey, instances: [] }
    const refused = await giveGrant(without, ANYBODY, wanted)
    assert.ok(!refused.ok)
    assert.equal(refused.refusal, 'broker_unknown')
  })
})

describe('a hub that cannot be given its authority says why', () => {
  const broken: [why: string, file: () => string, said: RegExp][] = [
    ['others can read it', () => write('open.json', '{}', 0o644), /mode 0600/],
    ['it is something else', () => write('else.json', '{"account": 1}'), /broker init/],
    ['its seed is none', () => write('seed.json', '{"account":"A","signing_seed":"S"}'), /key/],
  ]
  test('there is no broker', async () => {
    const settings = { bus: [], busPublic: [], busGranter: join(home, 'granter.json') }
    await assert.rejects(openGranting({ settings }), /--bus/)
  })

  test('agents are told where they find the broker, without what the hub shows there', async () => {
    const busGranter = join(home, 'granter.json')
    const told = async (bus: string[], busPublic: string[]) =>
      (await openGranting({ settings: { bus, busPublic, busGranter } }))?.addresses
    const inside = ['nats://hub:secret@10.0.0.7:4222']
    assert.deepEqual(await told(inside, []), ['nats://10.0.0.7:4222'])
    const outside = ['tls://broker.example.org']
    assert.deepEqual(await told(inside, outside), ['tls://broker.example.org:4222'])
  })

  for (const [why, file, expected] of broken) {
    test(why, async () => {
      const settings = { bus: ['nats://127.0.0.1:1'], busPublic: [], busGranter: file() }
      await assert.rejects(openGranting({ settings }), expected)
    })
  }
})
