/**
 * Who may do what, against a real hub that requires authentication. Run on both engines by the two
 * test files beside this one.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createClock } from '@chimera/host/clock'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Asker, createAsker, registration, type Sent } from './asking.ts'
import type { Engine } from './engines.ts'
import { counted, type TestHub } from './running.ts'

export function authContract(open: () => Engine): void {
  const real = createClock()
  let aheadMs = 0
  const clock = { ...real, now: () => real.now() + aheadMs }

  let engine: Engine
  let hub: TestHub
  let asker: Asker
  let operator = ''
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock })
    asker = createAsker(hub, clock)
    operator = asker.operator
  }, 120_000)
  afterAll(async () => {
    await hub.stop()
    await engine.end()
  })

  const send: Asker['send'] = (path, sent) => asker.send(path, sent)
  const newOwner: Asker['newOwner'] = (terms) => asker.newOwner(terms)
  const newAgent: Asker['newAgent'] = () => asker.newAgent()
  const narrower: Asker['narrower'] = (token, terms) => asker.narrower(token, terms)
  const requestOf: Asker['requestOf'] = (path, sent) => asker.requestOf(path, sent)

  const payment = (from: string, to: string, amount = 0.1, more: Record<string, unknown> = {}) => ({
    transfer_id: randomUUID(),
    from_owner: from,
    to_owner: to,
    amount,
    ...more,
  })
  async function newAccount() {
    const made = await newOwner()
    await send('/accounts', { token: made.token, body: { owner_id: made.owner } })
    return made
  }
  const balance = async (owner: string) =>
    (await send(`/accounts/${owner}`, { token: operator })).body.balance

  describe('an address', () => {
    test('an open hub refuses to be heard from other machines; a closed one does not', {
      timeout: 60_000,
    }, async () => {
      await assert.rejects(engine.start({ host: '0.0.0.0' }, 'heard'), { code: 'open_address' })
      await assert.rejects(engine.start({ host: '::' }, 'heard'), { code: 'open_address' })
      const heard = await engine.start({ host: '0.0.0.0', auth: 'required' }, 'heard')
      await heard.stop()
    })
  })

  describe('without proof', () => {
    // biome-ignore format: a table is read by its columns
    const rows: [method: string, path: string, status: number][] = [
    ['GET',    '/health',                  200],
    ['GET',    '/ready',                   200],
    ['GET',    '/skills',                  200],
    ['GET',    '/discover?skill=x',        200],
    ['GET',    '/nowhere',                 404],
    ['GET',    '/metrics',                 401],
    ['GET',    '/accounts/somebody',       401],
    ['GET',    '/audit',                   401],
    ['GET',    '/economy',                 401],
    ['POST',   '/register',                401],
    ['POST',   '/heartbeat',               401],
    ['POST',   '/transfer',                401],
    ['POST',   '/accounts',                401],
    ['DELETE', `/agents/${randomUUID()}`,  401],
    ['POST',   '/v1/owners',               401],
    ['POST',   '/v1/tokens',               401],
    ['GET',    '/v1/tokens',               401],
    ['POST',   '/v1/tokens/session',       401],
  ]
    for (const [method, path, status] of rows) {
      test(`${method} ${path.replace(/[0-9a-f-]{36}/, ':id')} is ${status}`, async () => {
        assert.equal((await send(path, { method })).status, status)
      })
    }
  })

  describe('a token', () => {
    test('opens what its owner may do', async () => {
      const { owner, token } = await newOwner()
      const opened = await send('/accounts', { token, body: { owner_id: owner } })
      assert.deepEqual(opened, { status: 201, body: { owner_id: owner, balance: 100 } })
      assert.equal((await send(`/accounts/${owner}`, { token })).status, 200)
    })

    test('that is wrong is 401', async () => {
      const { token } = await newOwner()
      for (const wrong of ['nonsense', `${token.slice(0, -4)}AAAA`, 'chm_operator_x', 'a.b.c']) {
        const answer = await send('/economy', { token: wrong })
        assert.deepEqual([answer.status, answer.body.code], [401, 'UNAUTHENTICATED'], wrong)
      }
      const basic = await hub.call('/economy', { headers: { authorization: 'Basic YTpi' } })
      assert.equal(basic.status, 401)
    })

    test('ends at its expiry, and what was made of it does not outlive it', async () => {
      const expiry = new Date(clock.now() + 60_000).toISOString()
      const { token } = await newOwner({ expires_at: expiry })
      const later = new Date(clock.now() + 90_000).toISOString()
      assert.equal((await narrower(token, { expires_at: later })).status, 403)
      const child = await narrower(token, { scopes: ['read'] })
      assert.equal((await send('/economy', { token: child.token })).status, 200)
      aheadMs += 61_000
      for (const each of [token, child.token]) {
        assert.equal((await send('/economy', { token: each })).status, 401)
      }
    })

    test('that was revoked is 401, and so is a session that was given for it', async () => {
      const { token, id } = await newOwner()
      const session = await send('/v1/tokens/session', { token, body: {} })
      const short = String(session.body.token)
      assert.equal((await send('/economy', { token: short })).status, 200)
      assert.equal((await send(`/v1/tokens/${id}`, { token, method: 'DELETE' })).status, 204)
      assert.equal((await send('/economy', { token })).status, 401)
      assert.equal((await send('/economy', { token: short })).status, 401)
    })

    test('allows what its scopes name and no more', async () => {
      const { owner, token } = await newAccount()
      const other = await newAccount()
      const reading = await narrower(token, { scopes: ['read'] })
      assert.equal((await send('/economy', { token: reading.token })).status, 200)
      const paid = await send('/transfer', {
        token: reading.token,
        body: payment(owner, other.owner),
      })
      assert.deepEqual([paid.status, paid.body.code], [403, 'FORBIDDEN'])
      assert.equal((await narrower(reading.token, {})).status, 403, 'it makes no tokens')
      assert.equal((await narrower(token, { scopes: ['operate'] })).status, 403)
    })

    test('spends up to its cap, in however many calls at once', async () => {
      const { owner, token } = await newAccount()
      const other = await newAccount()
      const capped = await narrower(token, { spending_cap: 0.5, scopes: ['money', 'tokens'] })
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          send('/transfer', { token: capped.token, body: payment(owner, other.owner) }),
        ),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 5)
      assert.equal(answers.filter(({ status }) => status === 403).length, 15)
      assert.equal(await balance(owner), 99.5)
      const fresh = await narrower(capped.token, { scopes: ['money'] })
      assert.equal(fresh.status, 403, 'a new one would have a new cap')
      const session = await send('/v1/tokens/session', { token: capped.token, body: {} })
      const again = await send('/transfer', {
        token: String(session.body.token),
        body: payment(owner, other.owner),
      })
      assert.equal(again.status, 403, 'a session spends from the same cap')
    })

    test('is shown when it is made and never again', async () => {
      const { token, id } = await newOwner()
      const { body } = await send('/v1/tokens', { token })
      const [listed] = body.tokens as Record<string, unknown>[]
      assert.equal(listed?.id, id)
      assert.doesNotMatch(JSON.stringify(body), /chm_|digest/)
    })

    test('of another owner is neither seen nor revoked', async () => {
      const [mine, theirs] = [await newOwner(), await newOwner()]
      const seen = await send(`/v1/tokens?owner_id=${theirs.owner}`, { token: mine.token })
      assert.equal(seen.status, 403)
      const path = `/v1/tokens/${theirs.id}`
      assert.equal((await send(path, { token: mine.token, method: 'DELETE' })).status, 403)
      assert.equal((await send('/economy', { token: theirs.token })).status, 200)
      assert.equal((await send(path, { token: operator, method: 'DELETE' })).status, 204)
      assert.equal((await send('/economy', { token: theirs.token })).status, 401)
    })

    test('of an owner makes no owners', async () => {
      const { token } = await newOwner()
      const made = await send('/v1/owners', { token, body: { owner_id: 'somebody' } })
      assert.deepEqual([made.status, made.body.code], [403, 'caller_forbidden'])
    })
  })

  describe('a signature', () => {
    test('X-9 of a registered agent is enough, without a token', async () => {
      const { key, id, owner } = await newAgent()
      const beat = await send('/heartbeat', { key, offer: false, body: { agent_id: id } })
      assert.equal(beat.status, 200)
      assert.equal((await send(`/accounts/${owner}`, { key, offer: false })).status, 200)
    })

    test('X-9 counts for the bytes, path, hub and minute that it was made for', async () => {
      const { key, id } = await newAgent()
      const body = { agent_id: id }
      const status = async (sent: Sent) => (await send('/heartbeat', { key, body, ...sent })).status
      assert.equal(await status({}), 200)
      assert.equal(await status({ signed: { body: { agent_id: randomUUID() } } }), 401)
      assert.equal(await status({ signed: { body: undefined } }), 401)
      assert.equal(await status({ signed: { path: '/register' } }), 401)
      assert.equal(await status({ signed: { path: '/heartbeat?x=1' } }), 401)
      assert.equal(await status({ signed: { origin: 'http://other.example.org' } }), 401)
      assert.equal(await status({ agoMs: 62_000 }), 401)
      assert.equal(await status({ agoMs: -40_000 }), 425)
    })

    test('X-9 made for another hub does not count here by naming that hub', async () => {
      const { key, id } = await newAgent()
      const origin = 'http://other.example.org'
      const init = requestOf('/heartbeat', { key, body: { agent_id: id }, signed: { origin } })
      const headers = { ...init.headers, host: 'other.example.org' }
      assert.equal(await statusWithHost('/heartbeat', headers, String(init.body)), 401)
    })

    test('X-9 counts once', async () => {
      const { key, id } = await newAgent()
      const init = requestOf('/heartbeat', { key, body: { agent_id: id } })
      assert.equal((await hub.call('/heartbeat', init)).status, 200)
      const again = await hub.call('/heartbeat', init)
      assert.deepEqual([again.status, again.body.code], [409, 'REPLAYED'])
    })

    test('of a key that nobody knows is 401, also when the key is shown', async () => {
      const { id } = await newAgent()
      const key = generateKeyPair()
      for (const offer of [true, false]) {
        const answer = await send('/heartbeat', { key, offer, body: { agent_id: id } })
        assert.equal(answer.status, 401)
      }
    })

    test('beside the token of another owner is refused', async () => {
      const [mine, other] = [await newAgent(), await newAgent()]
      const sent = { key: mine.key, body: { agent_id: mine.id } }
      assert.equal((await send('/heartbeat', { ...sent, token: other.token })).status, 403)
      assert.equal((await send('/heartbeat', { ...sent, token: 'nonsense' })).status, 401)
      assert.equal((await send('/heartbeat', { ...sent, token: mine.token })).status, 200)
    })

    test('of an agent opens a session that is that agent', async () => {
      const { key, id } = await newAgent()
      const given = await send('/v1/tokens/session', { key, body: { ttl_seconds: 60 } })
      assert.equal(given.status, 201)
      const token = String(given.body.token)
      const body = { agent_id: id }
      assert.equal((await send('/heartbeat', { token, body })).status, 200)
      assert.equal((await send('/v1/tokens/session', { token, body: {} })).status, 403)
      assert.equal((await narrower(token, {})).status, 403)
      const other = await newAgent()
      assert.equal((await send('/heartbeat', { token, body: { agent_id: other.id } })).status, 403)
      aheadMs += 61_000
      assert.equal((await send('/heartbeat', { token, body })).status, 401)
    })
  })

  /** `fetch` writes the host itself, so this one is sent by hand. */
  async function statusWithHost(path: string, headers: Record<string, string>, body: string) {
    const { request } = await import('node:http')
    return new Promise<number>((resolve, reject) => {
      const asked = request(hub.address + path, { method: 'POST', headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
      asked.on('error', reject)
      asked.end(body)
    })
  }

  describe('registering', () => {
    test('X-10 needs a signature and the token of the owner that is named', async () => {
      const [mine, theirs] = [await newOwner(), await newOwner()]
      const key = generateKeyPair()
      const body = registration(mine.owner)
      const status = async (sent: Sent) => (await send('/register', { body, ...sent })).status
      assert.equal(await status({ token: mine.token }), 401, 'unsigned')
      assert.equal(await status({ key }), 401, 'nobody')
      assert.equal(await status({ key, token: theirs.token }), 403, 'another owner')
      assert.equal(await status({ key, token: operator }), 403, 'an operator owns nothing')
      assert.equal(await status({ key, token: mine.token, offer: false }), 401, 'no key shown')
      assert.equal(await status({ key, token: mine.token }), 201)
    })

    test('X-10 an id cannot be taken by another key, not even of the same owner', async () => {
      const { token, key, agent, owner } = await newAgent()
      const thief = generateKeyPair()
      const taken = await send('/register', { token, key: thief, body: agent })
      assert.deepEqual([taken.status, taken.body.code], [409, 'CONFLICT'])
      const again = { ...agent, agent_name: 'Better Counter' }
      assert.equal((await send('/register', { key, body: again })).status, 201, 'its own key may')
      const second = await send('/register', { key, token, body: registration(owner) })
      assert.deepEqual([second.status, second.body.code], [409, 'CONFLICT'], 'a key has one agent')
    })

    test('an agent speaks for itself alone, its owner for all of its agents', async () => {
      const { owner, token, id } = await newAgent()
      const key = generateKeyPair()
      await send('/register', { token, key, body: registration(owner) })
      const status = async (sent: Sent) =>
        (await send('/heartbeat', { body: { agent_id: id }, ...sent })).status
      assert.equal(await status({ key }), 403)
      assert.equal(await status({ token }), 200)
    })

    test('CH-14 an agent is removed by its owner or itself; it returns by its key', async () => {
      const { token, key, agent, id } = await newAgent()
      const other = await newAgent()
      const status = async (sent: Sent) =>
        (await send(`/agents/${id}`, { method: 'DELETE', ...sent })).status
      assert.equal(await status({ token: other.token }), 403)
      assert.equal(await status({ key: other.key }), 403)
      assert.equal(await status({ token: operator }), 403)
      assert.equal(await status({ key }), 204)
      assert.equal(
        (await send('/register', { key, body: agent })).status,
        401,
        'it needs its owner',
      )
      const stranger = generateKeyPair()
      assert.equal((await send('/register', { token, key: stranger, body: agent })).status, 409)
      assert.equal((await send('/register', { token, key, body: agent })).status, 201)
      assert.equal(await status({ token }), 204)
    })
  })

  describe('money', () => {
    test('CH-8 only the paying owner can order a transfer, by token or by its agent', async () => {
      const [payer, payee] = [await newAgent(), await newAgent()]
      const body = () => payment(payer.owner, payee.owner)
      for (const sent of [{ token: payee.token }, { key: payee.key }, { token: operator }]) {
        const answer = await send('/transfer', { ...sent, body: body() })
        assert.deepEqual([answer.status, answer.body.code], [403, 'FORBIDDEN'])
      }
      assert.equal(await balance(payer.owner), 100)
      assert.equal((await send('/transfer', { token: payer.token, body: body() })).status, 200)
      assert.equal((await send('/transfer', { key: payer.key, body: body() })).status, 200)
      assert.deepEqual([await balance(payer.owner), await balance(payee.owner)], [99.8, 100.2])
    })

    test('CH-14 a balance to begin with, and the balances of all, are for operators', async () => {
      const [mine, theirs] = [await newAccount(), await newAccount()]
      const gift = (owner: string, token: string) =>
        send('/accounts', { token, body: { owner_id: owner, initial_balance: 500 } })
      const fresh = await newOwner()
      assert.equal((await gift(fresh.owner, fresh.token)).status, 403)
      assert.deepEqual((await gift(fresh.owner, operator)).body.balance, 500)
      const opened = await send('/accounts', { token: mine.token, body: { owner_id: 'another' } })
      assert.equal(opened.status, 403)
      const economy = async (token: string) => (await send('/economy', { token })).body
      assert.equal('all_balances' in (await economy(mine.token)), false)
      assert.equal('all_balances' in (await economy(operator)), true)
      assert.equal((await send(`/accounts/${theirs.owner}`, { token: mine.token })).status, 403)
    })

    test('payments are shown to those who made or got them, and to operators', async () => {
      const [mine, theirs, third] = [await newAccount(), await newAccount(), await newAccount()]
      await send('/transfer', { token: mine.token, body: payment(mine.owner, theirs.owner) })
      const total = async (token: string, query = '') =>
        (await send(`/audit${query}`, { token })).body.total
      assert.deepEqual([await total(mine.token), await total(theirs.token)], [1, 1])
      assert.equal(await total(third.token), 0)
      assert.equal(await total(operator, `?owner_id=${mine.owner}`), 1)
      const peek = await send(`/audit?owner_id=${mine.owner}`, { token: third.token })
      assert.equal(peek.status, 403)
    })

    test('CH-14 a job is reported by whoever paid for it, and by nobody else', async () => {
      const agent = await newAgent()
      const hirer = await newAccount()
      const job = randomUUID()
      const body = payment(hirer.owner, agent.owner, 0.05, { job_id: job })
      await send('/transfer', { token: hirer.token, body })
      const report = (sent: Sent) =>
        send(`/reputation/${agent.id}/success?job_id=${job}`, { method: 'POST', ...sent })
      assert.equal((await report({ key: agent.key })).status, 403)
      assert.equal((await report({ token: operator })).status, 403)
      assert.equal((await report({})).status, 401)
      assert.equal((await report({ token: hirer.token })).body.reputation_score, 51)
    })
  })

  describe('denials', () => {
    test('are counted, and are one fact per caller and minute', async () => {
      const { token, id } = await newOwner({ scopes: ['read'] })
      const denied = await Promise.all(
        Array.from({ length: 30 }, () => send('/metrics', { token })).concat(
          Array.from({ length: 30 }, () => send('/metrics')),
        ),
      )
      assert.ok(denied.every(({ status }) => status === 401 || status === 403))
      await hub.hub.settle()
      const facts = (await sealedFacts()).filter((each) => each.type === 'access_denied')
      const minutes = facts.map(({ by, at }) => `${String(by)} ${Math.floor(Number(at) / 60_000)}`)
      assert.ok(minutes.length <= new Set(minutes).size * hub.hubs.length, 'one at each hub')
      assert.ok(facts.some(({ by, how }) => by === `token:${id}` && how === 'forbidden'))
      assert.ok(facts.some(({ by, how }) => by === 'stranger' && how === 'unproven'))
      const page = await fetch(`${hub.address}/metrics`, {
        headers: { authorization: `Bearer ${operator}` },
      })
      assert.match(await page.text(), /^authorization_denied_total\{/m)
      assert.ok((await counted(hub, 'authorization_denied_total{reason="forbidden"}')) >= 30)
    })
  })

  async function sealedFacts() {
    const facts: Record<string, unknown>[] = []
    for (let seq = 0; ; ) {
      const sealed = await hub.hub.keep.trail.sealedAfter(seq)
      if (sealed.length === 0) return facts
      facts.push(...sealed.map(({ fact }) => fact as Record<string, unknown>))
      seq = sealed.at(-1)?.seq ?? seq
    }
  }

  describe('an operator', () => {
    test('has a token that is made once, on the first start, and a key that stays', {
      timeout: 120_000,
    }, async () => {
      const place = 'operator'
      const first = await engine.start({ auth: 'required', seed: 1 }, place)
      assert.match(first.firstOperatorToken ?? '', /^chm_operator_/)
      await first.stop()
      const second = await engine.start({ auth: 'required', seed: 2 }, place)
      assert.equal(second.firstOperatorToken, undefined)
      assert.equal(second.hub.key?.id, first.hub.key?.id)
      const headers = { authorization: `Bearer ${first.firstOperatorToken}` }
      assert.equal((await second.call('/economy', { headers })).status, 200)
      await second.stop()
    })

    test('whose token is lost is given another by whoever starts the hub', {
      timeout: 120_000,
    }, async () => {
      const place = 'lost'
      const first = await engine.start({ auth: 'required', seed: 1 }, place)
      const lost = first.firstOperatorToken ?? ''
      await first.stop()
      const second = await engine.start({ auth: 'required', seed: 2, newOperator: true }, place)
      const fresh = second.firstOperatorToken ?? ''
      assert.match(fresh, /^chm_operator_/)
      assert.notEqual(fresh, lost)
      const made = await second.call('/v1/owners', {
        method: 'POST',
        headers: { authorization: `Bearer ${fresh}`, 'content-type': 'application/json' },
        body: JSON.stringify({ owner_id: 'somebody' }),
      })
      assert.equal(made.status, 201)
      await second.stop()
    })
  })

  describe('an open hub', () => {
    test('makes no tokens, and checks the signatures that it is shown', {
      timeout: 60_000,
    }, async () => {
      const anybody = await engine.start({ clock }, 'open')
      for (const path of ['/v1/owners', '/v1/tokens', '/v1/tokens/session']) {
        const body = path === '/v1/owners' ? { owner_id: 'somebody' } : {}
        assert.equal((await anybody.post(path, body)).status, 403, path)
      }
      const key = generateKeyPair()
      const agent = registration('bolt')
      const origin = anybody.address
      const register = (signer: KeyPair | undefined, signed: Sent['signed']) =>
        anybody.call(
          '/register',
          requestOf('/register', { body: agent, ...(signer && { key: signer }), signed }),
        )
      assert.equal((await register(key, { origin, path: '/elsewhere' })).status, 401)
      assert.equal((await register(key, { origin })).status, 201)
      assert.equal((await register(undefined, undefined)).status, 409, 'bound to its key by now')
      assert.equal((await register(key, { origin })).status, 201)
      await anybody.stop()
    })
  })
}
