/**
 * Every proof of who is asking, in every state that it can be in, over HTTPS (X-9, SF-6). Run on
 * both engines by the two test files beside this one.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { type Certified, createAuthority } from '@chimera/host/testing/certificates'
import { signDetached } from '@chimera/identity/detached-jws'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Asker, createAsker, type Sent } from './asking.ts'
import type { Engine } from './engines.ts'
import type { Answered, TestHub } from './running.ts'
import { createSecure } from './secure.ts'

type Shown = Sent & { readonly certificate?: Certified; readonly jws?: KeyPair }
type Agent = Awaited<ReturnType<Asker['newAgent']>>
type Proof = 'token' | 'signature' | 'certificate' | 'jws'

const CASES = [
  'right',
  'wrong',
  'expired',
  'replayed',
  'rotated, the old one',
  'rotated, the new one',
  'revoked',
  'out of scope',
  'over the cap',
] as const
type Case = (typeof CASES)[number]

/** A token may be used again; a certificate is used by a connection that cannot be played again. */
// biome-ignore format: a table is read by its columns
const EXPECTED: Record<Proof, Record<Case, number>> = {
  token:       { right: 200, wrong: 401, expired: 401, replayed: 200, 'rotated, the old one': 401, 'rotated, the new one': 200, revoked: 401, 'out of scope': 403, 'over the cap': 403 },
  signature:   { right: 200, wrong: 401, expired: 401, replayed: 409, 'rotated, the old one': 401, 'rotated, the new one': 200, revoked: 401, 'out of scope': 403, 'over the cap': 403 },
  certificate: { right: 200, wrong: 401, expired: 401, replayed: 200, 'rotated, the old one': 401, 'rotated, the new one': 200, revoked: 401, 'out of scope': 403, 'over the cap': 403 },
  // What the feed tells costs nothing, and a message that comes again moves nothing.
  jws:         { right: 202, wrong: 401, expired: 401, replayed: 202, 'rotated, the old one': 401, 'rotated, the new one': 202, revoked: 401, 'out of scope': 403, 'over the cap': 202 },
}
const FEED = '/ingest/chimera-status'

export function proofContract(open: () => Engine): void {
  const secure = createSecure()
  const real = createClock()
  let aheadMs = 0
  const clock = { ...real, now: () => real.now() + aheadMs }
  let engine: Engine
  let hub: TestHub
  let asker: Asker
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock, ...secure.files })
    asker = createAsker(secure.speaking(hub), clock)
  }, 120_000)
  afterAll(async () => {
    await hub.stop()
    await engine.end()
    secure.end()
  })

  async function send(path: string, shown: Shown): Promise<Answered> {
    const { certificate, jws, ...sent } = shown
    const init = asker.requestOf(path, sent)
    const headers = { ...init.headers }
    if (jws !== undefined) {
      headers['x-signature'] = signDetached(Buffer.from(init.body ?? ''), jws)
    }
    return secure.call(hub.address + path, { ...init, headers, certificate })
  }
  const statusOf = async (path: string, shown: Shown) => (await send(path, shown)).status
  const beat = ({ id }: Agent, shown: Shown) =>
    statusOf('/heartbeat', { body: { agent_id: id }, ...shown })
  const feed = (agoMs = 0) => ({
    schema_version: 'openclaw-status.v1',
    message_id: randomUUID(),
    agent_id: `name ${randomUUID()}`,
    status: 'AVAILABLE',
    last_updated: new Date(clock.now() - agoMs).toISOString(),
  })
  async function rotate({ id, key }: Agent): Promise<KeyPair> {
    const next = generateKeyPair()
    const correlation = randomUUID() as string as CorrelationId
    const { decision } = await hub.hub.keep.agents.rotate(
      { id: id as string as AgentId, correlation },
      { key: { id: next.id, publicKey: next.publicKey }, signedBy: key.id },
    )
    assert.ok(decision.ok)
    return next
  }
  const remove = async ({ id, token }: Agent) =>
    assert.equal(await statusOf(`/agents/${id}`, { method: 'DELETE', token }), 204)
  /** Of the agent's owner, with half a credit to spend, of which nothing is left. */
  async function spentToken({ owner, token }: Agent): Promise<string> {
    const capped = await asker.narrower(token, { spending_cap: 0.5, scopes: ['money', 'agents'] })
    assert.equal(await pay(owner, { token: capped.token }), 200)
    return capped.token
  }
  async function pay(from: string, shown: Shown): Promise<number> {
    const [payee] = [await asker.newOwner()]
    for (const owner of [from, payee.owner]) {
      await asker.send('/accounts', {
        token: asker.operator,
        body: { owner_id: owner, initial_balance: 10 },
      })
    }
    const order = {
      transfer_id: randomUUID(),
      from_owner: from,
      to_owner: payee.owner,
      amount: 0.5,
    }
    return statusOf('/transfer', { body: order, ...shown })
  }

  /** How each proof is shown by an agent's key, where that is all that differs. */
  const byKey = {
    signature: (key: KeyPair): Shown => ({ key, offer: false }),
    certificate: (key: KeyPair): Shown => ({ certificate: secure.certificateOf(key) }),
    jws: (key: KeyPair): Shown => ({ jws: key }),
  }
  const aim = (agent: Agent, proof: Exclude<Proof, 'token'>, key: KeyPair, more: Shown = {}) =>
    proof === 'jws'
      ? statusOf(FEED, { body: feed(), ...byKey.jws(key), ...more })
      : beat(agent, { ...byKey[proof](key), ...more })

  const ofKey = (proof: Exclude<Proof, 'token'>) => ({
    right: async () => {
      const agent = await asker.newAgent()
      return aim(agent, proof, agent.key)
    },
    'rotated, the old one': async () => {
      const agent = await asker.newAgent()
      await rotate(agent)
      return aim(agent, proof, agent.key)
    },
    'rotated, the new one': async () => {
      const agent = await asker.newAgent()
      return aim(agent, proof, await rotate(agent))
    },
    revoked: async () => {
      const agent = await asker.newAgent()
      await remove(agent)
      return aim(agent, proof, agent.key)
    },
    'out of scope': async () => {
      const { key } = await asker.newAgent()
      return statusOf('/v1/tokens', byKey[proof](key))
    },
    'over the cap': async () => {
      const agent = await asker.newAgent()
      const token = await spentToken(agent)
      return pay(agent.owner, { ...byKey[proof](agent.key), token })
    },
  })

  const attempts: Record<Proof, Record<Case, () => Promise<number>>> = {
    token: {
      right: async () => {
        const agent = await asker.newAgent()
        return beat(agent, { token: agent.token })
      },
      wrong: async () => {
        const agent = await asker.newAgent()
        return beat(agent, { token: `${agent.token.slice(0, -4)}AAAA` })
      },
      expired: async () => {
        const agent = await asker.newAgent()
        const expiry = new Date(clock.now() + 60_000).toISOString()
        const short = await asker.narrower(agent.token, { expires_at: expiry })
        assert.equal(await beat(agent, { token: short.token }), 200)
        aheadMs += 61_000
        return beat(agent, { token: short.token })
      },
      replayed: async () => {
        const agent = await asker.newAgent()
        await beat(agent, { token: agent.token })
        return beat(agent, { token: agent.token })
      },
      'rotated, the old one': async () => {
        const agent = await asker.newAgent()
        const old = await asker.narrower(agent.token, {})
        await asker.narrower(old.token, {})
        await statusOf(`/v1/tokens/${old.id}`, { method: 'DELETE', token: old.token })
        return beat(agent, { token: old.token })
      },
      'rotated, the new one': async () => {
        const agent = await asker.newAgent()
        const old = await asker.narrower(agent.token, {})
        const next = await asker.narrower(old.token, {})
        await statusOf(`/v1/tokens/${old.id}`, { method: 'DELETE', token: next.token })
        return beat(agent, { token: next.token })
      },
      revoked: async () => {
        const agent = await asker.newAgent()
        const { token, id } = await asker.narrower(agent.token, {})
        const ended = { method: 'DELETE', token: asker.operator }
        assert.equal(await statusOf(`/v1/tokens/${id}`, ended), 204)
        return beat(agent, { token })
      },
      'out of scope': async () => {
        const agent = await asker.newAgent()
        const { token } = await asker.narrower(agent.token, { scopes: ['read'] })
        return beat(agent, { token })
      },
      'over the cap': async () => {
        const agent = await asker.newAgent()
        return pay(agent.owner, { token: await spentToken(agent) })
      },
    },
    signature: {
      ...ofKey('signature'),
      wrong: async () => {
        const agent = await asker.newAgent()
        return beat(agent, { key: agent.key, signed: { path: '/elsewhere' } })
      },
      expired: async () => {
        const agent = await asker.newAgent()
        return beat(agent, { key: agent.key, agoMs: 62_000 })
      },
      replayed: async () => {
        const { key, id } = await asker.newAgent()
        const init = asker.requestOf('/heartbeat', { key, body: { agent_id: id } })
        assert.equal((await secure.call(`${hub.address}/heartbeat`, init)).status, 200)
        return (await secure.call(`${hub.address}/heartbeat`, init)).status
      },
    },
    certificate: {
      ...ofKey('certificate'),
      wrong: async () => {
        const agent = await asker.newAgent()
        const other = createAuthority('caller authority')
        const certificate = other.certify('agent', [], { key: agent.key.privateKey })
        return beat(agent, { certificate })
      },
      expired: async () => {
        const agent = await asker.newAgent()
        const valid = ['20200101000000Z', '20210101000000Z'] as const
        return beat(agent, { certificate: secure.certificateOf(agent.key, valid) })
      },
      replayed: async () => {
        const agent = await asker.newAgent()
        const certificate = secure.certificateOf(agent.key)
        await beat(agent, { certificate })
        return beat(agent, { certificate })
      },
    },
    jws: {
      ...ofKey('jws'),
      wrong: async () => {
        const { key } = await asker.newAgent()
        const text = signDetached(Buffer.from(JSON.stringify(feed())), key)
        const init = asker.requestOf(FEED, { body: feed() })
        const headers = { ...init.headers, 'x-signature': text }
        return (await secure.call(hub.address + FEED, { ...init, headers })).status
      },
      expired: async () => {
        const { key } = await asker.newAgent()
        return statusOf(FEED, { body: feed(61_000), jws: key })
      },
      replayed: async () => {
        const { key } = await asker.newAgent()
        const body = feed()
        assert.equal((await send(FEED, { body, jws: key })).body.result, 'observed')
        const again = await send(FEED, { body, jws: key })
        assert.equal(again.body.result, 'duplicate')
        return again.status
      },
      'out of scope': async () => {
        const { key, token } = await asker.newAgent()
        assert.equal(await statusOf('/v1/tokens', { jws: key }), 401, 'on another path it is none')
        const { token: reading } = await asker.narrower(token, { scopes: ['read'] })
        return statusOf(FEED, { body: feed(), jws: key, token: reading })
      },
      'over the cap': async () => {
        const agent = await asker.newAgent()
        return statusOf(FEED, { body: feed(), jws: agent.key, token: await spentToken(agent) })
      },
    },
  }

  for (const proof of ['token', 'signature', 'certificate', 'jws'] as const) {
    describe(`X-9 SF-6 a ${proof}`, { timeout: 60_000 }, () => {
      for (const each of CASES) {
        test(`${each}: ${EXPECTED[proof][each]}`, async () => {
          assert.equal(await attempts[proof][each](), EXPECTED[proof][each])
        })
      }
    })
  }

  describe('SF-7 the feed takes every proof', () => {
    const rows: [proof: string, shown: (agent: Agent) => Shown][] = [
      ['mTLS', ({ key }) => ({ certificate: secure.certificateOf(key) })],
      ['a bearer token', ({ token }) => ({ token })],
      ['a JWS', ({ key }) => ({ jws: key })],
      ['a signed request', ({ key }) => ({ key, offer: false })],
    ]
    for (const [proof, shown] of rows) {
      test(`${proof}, and the name belongs to whoever showed it`, async () => {
        const [mine, other] = [await asker.newAgent(), await asker.newAgent()]
        const body = () => ({ ...feed(), agent_id: `name of ${mine.id}` })
        assert.equal(await statusOf(FEED, { body: body(), ...shown(mine) }), 202)
        assert.equal(await statusOf(FEED, { body: body(), ...shown(other) }), 409)
        assert.equal(await statusOf(FEED, { body: body() }), 401)
      })
    }
  })
}
