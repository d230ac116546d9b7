/**
 * AV-12 short-lived tokens for publishing: what a grant allows at a real server, and what it does
 * not; and the other ways of showing who one is.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { openBus } from '../src/bus.ts'
import { createAuthority, encodeServerConfig, granterOf } from '../src/nats/authority.ts'
import type { Credentials } from '../src/nats/credentials.ts'
import { createNatsDial, type NatsOptions } from '../src/nats/dial.ts'
import { createConnectionKey, inboxOf, signGrant, signHubGrant } from '../src/nats/grants.ts'
import { createNatsKey } from '../src/nats/nkeys.ts'
import type { Bus } from '../src/port.ts'
import { planOf } from './contract-durable.ts'
import {
  away,
  bytesOf,
  connected,
  durable,
  eventOf,
  failing,
  iterate,
  realChance,
  realClock,
  say,
  take,
  textOf,
  texts,
} from './hands.ts'
import { type NatsServer, startNats } from './nats-server.ts'

const opened: Bus[] = []
const stream = planOf('results')
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()))
})

function open(server: NatsServer, options: Partial<NatsOptions> = {}): Bus {
  const given = { addresses: [server.address], clock: realClock, chance: realChance, ...options }
  const bus = openBus({
    dial: createNatsDial(given),
    clock: realClock,
    chance: realChance,
    streams: [stream],
    limits: { redialMs: 10, redialMostMs: 50, drainMs: 500 },
  })
  opened.push(bus)
  return bus
}

describe('AV-12 a grant', () => {
  const authority = createAuthority(realChance.bytes)
  const granter = granterOf(authority)
  let server: NatsServer

  beforeAll(async () => {
    const limits = { diskBytes: 100_000_000, memoryBytes: 10_000_000 }
    const config = encodeServerConfig(authority, { now: Date.now(), ...limits })
    server = await startNats({ config: () => config })
  })
  afterAll(() => server.stop())

  function hub(): Bus {
    const key = createConnectionKey(realChance.bytes)
    const credentials = (): Credentials => {
      const now = Date.now()
      const whole = { user: key.publicKey, name: 'hub', now, expiresAt: now + 600_000 }
      return { kind: 'grant', jwt: signHubGrant(granter, whole), seed: key.seed }
    }
    return open(server, { credentials })
  }

  function agent(name: string, liveMs = 600_000, use: Partial<typeof granter> = {}) {
    const key = createConnectionKey(realChance.bytes)
    let given = 0
    const credentials = (): Credentials => {
      given += 1
      const now = Date.now()
      const jwt = signGrant(
        { ...granter, ...use },
        {
          user: key.publicKey,
          name,
          publish: ['presence', `results.${name}`],
          subscribe: [`reserve.${name}`],
          now,
          expiresAt: now + liveMs,
        },
      )
      return { kind: 'grant', jwt, seed: key.seed }
    }
    const bus = open(server, { credentials, inbox: inboxOf(key.publicKey), makesPlanned: false })
    return { bus, key, given: () => given }
  }

  test('lets an agent post, be asked, and put its own results into a stream', async () => {
    const [network, { bus }] = [hub(), agent('a1')]
    await Promise.all([connected(network), connected(bus)])
    const posts = iterate(network.subscribe('presence'))
    const offers = bus.subscribe('reserve.a1')
    await Promise.all([network.flush(), bus.flush()])
    bus.publish(say('presence', 'here'))
    assert.deepEqual(await texts(posts, 1), ['here'])

    const asked = network.request(say('reserve.a1', 'offer'), { timeoutMs: 5_000 })
    const [offer] = await take(iterate(offers), 1)
    offer?.reply?.(bytesOf('ack'))
    assert.equal(textOf(await asked), 'ack')

    assert.equal((await bus.store(durable('results.a1', 'done'))).stream, 'results')
    const [kept] = await take(iterate(network.follow('results', { after: 'first' })), 1)
    assert.ok(kept?.type === 'message')
    assert.equal(textOf(kept.message), 'done')
  })

  test('does not let it speak for another, overhear, or touch the broker', async () => {
    const [network, { bus }, other] = [hub(), agent('a1'), agent('a2')]
    await Promise.all([connected(network), connected(bus), connected(other.bus)])
    const heard = network.subscribe('results.a2')
    await network.flush()
    const forbidden = eventOf(bus, 'forbidden')
    bus.publish(say('results.a2', 'forged'))
    assert.match((await forbidden).detail, /results\.a2/)
    await assert.rejects(bus.store(durable('results.a2', 'forged')), failing('subject_forbidden'))
    for (const pattern of ['reserve.a2', 'presence', '>', `${inboxOf(other.key.publicKey)}.>`]) {
      const subscription = iterate(bus.subscribe(pattern))
      await assert.rejects(subscription.next(), failing('subject_forbidden'), pattern)
    }
    const followed = iterate(bus.follow('results', { after: 'first' }))
    await assert.rejects(followed.next(), failing('subject_forbidden'))
    heard.close()
    for await (const received of heard) assert.fail(`heard ${textOf(received)}`)
  })

  test('ends by itself, and the next one is taken up without a word lost', async () => {
    const network = await connected(hub())
    // A grant ends at a full second, so this one lives for one to two.
    const { bus, given } = agent('a3', 2_000)
    await connected(bus)
    const results = iterate(network.follow('results', { after: 'last' }))
    const next = results.next()
    await away(bus)
    const stored = bus.store(durable('results.a3', 'over the end', `a3-${Date.now()}`))
    await stored
    assert.ok(given() >= 2)
    const { value } = await next
    assert.ok(value?.type === 'message')
    assert.equal(textOf(value.message), 'over the end')
  })

  test('is worth nothing without its key, from another authority, or changed', async () => {
    const elsewhere = granterOf(createAuthority(realChance.bytes))
    const forged = agent('a1', 600_000, { signingSeed: elsewhere.signingSeed })
    const [mine, stolen] = [createConnectionKey, createConnectionKey].map((make) =>
      make(realChance.bytes),
    )
    assert.ok(mine && stolen)
    const now = Date.now()
    const grant = { user: mine.publicKey, name: 'a1', publish: ['presence'], subscribe: [], now }
    const jwt = signGrant(granter, { ...grant, expiresAt: now + 60_000 })
    const [head, , signature] = jwt.split('.')
    const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
    claims.nats.pub.allow = ['>']
    const changed = [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature]
    const buses = [
      forged.bus,
      open(server, { credentials: () => ({ kind: 'grant', jwt, seed: stolen.seed }) }),
      open(server, {
        credentials: () => ({ kind: 'grant', jwt: changed.join('.'), seed: mine.seed }),
      }),
      open(server),
    ]
    const told = await Promise.all(buses.map((bus) => eventOf(bus, 'away')))
    for (const { reason } of told) assert.match(reason, /authorization/i)
  })

  test('its text is not in what the operator reads', async () => {
    const key = createConnectionKey(realChance.bytes)
    const broken: Credentials = { kind: 'creds', text: `half of ${key.seed}` }
    const bus = open(server, { credentials: () => broken })
    const event = await eventOf(bus, 'away')
    assert.match(event.reason, /^credentials_broken/)
    assert.ok(!event.reason.includes(key.seed))
  })
})

describe('credentials and TLS', () => {
  const nkey = createNatsKey('user', realChance.bytes)
  const users = `authorization { users: [
    { user: hub, password: "s3cret" }
    { nkey: ${nkey.publicKey} }
  ] }`

  test('a password or a key that the server lists lets in, a wrong one does not', async () => {
    const server = await startNats({ config: () => users })
    const right: Credentials[] = [
      { kind: 'password', user: 'hub', password: 's3cret' },
      { kind: 'nkey', seed: nkey.seed },
    ]
    for (const each of right) await connected(open(server, { credentials: () => each }))
    const wrong = open(server, {
      credentials: () => ({ kind: 'password', user: 'hub', password: 'guess' }),
    })
    assert.match((await eventOf(wrong, 'away')).reason, /authorization/i)
    await Promise.all(opened.splice(0).map((bus) => bus.close()))
    await server.stop()
  })

  test('a token that was wrong and is put right is taken up', async () => {
    const server = await startNats({ config: () => 'authorization { token: "right" }' })
    let token = 'wrong'
    const bus = open(server, { credentials: () => ({ kind: 'token', token }) })
    await eventOf(bus, 'away')
    token = 'right'
    await connected(bus)
    await bus.close()
    await server.stop()
  })

  test('TLS is spoken with who can show it, and insisted upon', async () => {
    const server = await startNats({
      config: (home) => {
        certify(home)
        return `tls { cert_file: "${home}/cert.pem", key_file: "${home}/key.pem" }`
      },
    })
    const ca = await readFile(join(server.home, 'cert.pem'), 'utf8')
    const addresses = [`tls://localhost:${server.port}`]
    await connected(open(server, { addresses, tls: { ca } }))
    const stranger = open(server, { addresses })
    assert.match((await eventOf(stranger, 'away')).reason, /self-signed|certificate/i)
    const plain = await startNats()
    const insisting = open(plain, { addresses: [`tls://localhost:${plain.port}`] })
    assert.match((await eventOf(insisting, 'away')).reason, /tls/i)
    await Promise.all(opened.splice(0).map((bus) => bus.close()))
    const numbered = { addresses: [`tls://127.0.0.1:${server.port}`] }
    assert.throws(() => open(server, numbered), failing('address_malformed'))
    await Promise.all([server.stop(), plain.stop()])
  })
})

/** A certificate for loopback that nobody but itself vouches for. */
function certify(home: string): void {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', join(home, 'key.pem'), '-out', join(home, 'cert.pem')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', ...kind, '-days', '1', ...subject, ...files], { stdio: 'pipe' })
}
