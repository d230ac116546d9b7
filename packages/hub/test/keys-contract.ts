/** Keys over HTTP, against real hubs that require authentication: rotated, recovered, shown. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodePresence } from '@chimera/dialects/moltbook'
import type { KeyHistory } from '@chimera/domain/agent/keys'
import type { AgentId, CorrelationId, InstanceId, KeyId, PublicKey } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { verifyByHistory } from '@chimera/identity/history'
import { rotateKeyFile } from '@chimera/identity/key-file'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { signRecovery } from '@chimera/identity/recovery'
import { signRotation } from '@chimera/identity/rotation'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { finishDueRecoveries } from '../src/act/keys.ts'
import { type Asker, createAsker } from './asking.ts'
import { type Engine, onEmbedded } from './engines.ts'
import { createPoster } from './posting.ts'
import type { Answered, TestHub } from './running.ts'

const real = createClock()
let aheadMs = 0
const clock = { ...real, now: () => real.now() + aheadMs }
const DAY_MS = 24 * 60 * 60 * 1_000

let engine: Engine
let hub: TestHub
let asker: Asker

type Shown = { key_id: string; public_key: string; from: string; until?: string }
const keysIn = ({ body }: Answered) => (body.keys as Shown[]).map(({ key_id }) => key_id)
const said = ({ status, body }: Answered) => [status, body.code].join(' ').trim()
const agentOf = (id: string) => id as AgentId

const rotation = (id: string, old: KeyPair, next: KeyPair) =>
  signRotation(agentOf(id), { old, next }, clock.now())
const rotate = (id: string, message: unknown, to = id) =>
  asker.send(`/v1/keys/${to}/rotate`, { body: message })
const recovery = (id: string, next: KeyPair, now = clock.now()) =>
  signRecovery(agentOf(id), next, now)
const recover = (id: string, token: string | undefined, message: unknown) =>
  asker.send(`/v1/keys/${id}/recover`, { ...(token !== undefined && { token }), body: message })
const finish = (id: string, token: string) =>
  asker.send(`/v1/keys/${id}/recover/finish`, { token, method: 'POST' })
const callOff = (id: string, sent: { key?: KeyPair; token?: string }) =>
  asker.send(`/v1/keys/${id}/recover/call-off`, { ...sent, method: 'POST' })
const history = (id: string) => asker.send(`/v1/keys/${id}`)

const presence = (id: string, key: KeyPair) => {
  const now = clock.now()
  const announcement = {
    agent: agentOf(id),
    instance: randomUUID() as string as InstanceId,
    availability: 'available' as const,
    capabilities: ['x'],
    slotsTotal: 1,
    slotsFree: 1,
    load: { cpu: 0, mem: 0 },
    signedAt: now,
    expiresAt: now + 30_000,
    correlation: 'trace' as CorrelationId,
  }
  return signMessage(encodePresence(announcement), key)
}
const post = (id: string, key: KeyPair) =>
  asker.send('/moltbook/v1/presence', { body: presence(id, key) })

export function keysContract(open: () => Engine): void {
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock })
    asker = createAsker(hub, clock)
  }, 120_000)
  afterAll(async () => {
    await hub?.stop()
    await engine?.end()
  }, 60_000)

  describe('AV-12 a rotation', () => {
    test('hands the agent over at once: presence, signatures and sessions follow', async () => {
      const { id, key: old } = await asker.newAgent()
      const next = generateKeyPair()
      const session = await asker.send('/v1/tokens/session', { key: old, body: {} })
      const short = String(session.body.token)
      assert.equal((await asker.send('/economy', { token: short })).status, 200)
      assert.equal((await post(id, old)).status, 204)

      const done = await rotate(id, rotation(id, old, next))
      assert.equal(done.status, 200, JSON.stringify(done.body))
      assert.deepEqual(keysIn(done), [old.id, next.id])

      assert.equal(said(await post(id, old)), '401 bad_signature')
      assert.equal((await post(id, next)).status, 204)
      assert.equal((await asker.send('/economy', { token: short })).status, 401)
      const beat = { agent_id: id }
      assert.equal((await asker.send('/heartbeat', { key: old, body: beat })).status, 401)
      assert.equal((await asker.send('/heartbeat', { key: next, body: beat })).status, 200)
    })

    test('that comes again is the same one, and an older one does not undo a newer', async () => {
      const { id, key: first } = await asker.newAgent()
      const [second, third] = [generateKeyPair(), generateKeyPair()]
      const one = rotation(id, first, second)
      const again = await Promise.all([rotate(id, one), rotate(id, one), rotate(id, one)])
      assert.deepEqual(again.map(said), ['200', '200', '200'])
      assert.deepEqual(keysIn(await history(id)), [first.id, second.id])
      assert.equal((await rotate(id, rotation(id, second, third))).status, 200)
      assert.equal(said(await rotate(id, one)), '409 key_mismatch')
      assert.deepEqual(keysIn(await history(id)), [first.id, second.id, third.id])
    })

    test('of two that start from one key, one holds', async () => {
      const { id, key } = await asker.newAgent()
      const tried = await Promise.all(
        Array.from({ length: 8 }, () => rotate(id, rotation(id, key, generateKeyPair()))),
      )
      assert.equal(tried.filter(({ status }) => status === 200).length, 1)
      assert.equal(keysIn(await history(id)).length, 2)
    })

    test('is refused, and changes nothing', async () => {
      const { id, key } = await asker.newAgent()
      const other = await asker.newAgent()
      const thief = generateKeyPair()
      const good = rotation(id, key, generateKeyPair())
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, answer: Promise<Answered>, said: string][] = [
        ['by a key that is not the agent\u2019s', rotate(id, rotation(id, thief, thief)),                         '409 key_mismatch'],
        ['to a key that somebody else has',      rotate(id, rotation(id, key, other.key)),                        '409 key_reused'],
        ['to its own key',                       rotate(id, rotation(id, key, key)),                              '409 key_reused'],
        ['without the new key\u2019s proof',     rotate(id, signMessage({ ...good, new_public_key: thief.publicKey }, key)), '401 signature_invalid'],
        ['altered after signing',                rotate(id, { ...good, signed_at: new Date(clock.now() - 1_000).toISOString() }), '401 signature_invalid'],
        ['of another agent than the path\u2019s', rotate(id, rotation(other.id, other.key, thief), id),           '400 message_malformed'],
        ['of an agent that nobody knows',        rotate(id, rotation(randomUUID(), key, thief), 'none'),          '404 agent_unknown'],
        ['of no shape',                          rotate(id, { ...good, new_signature: 5 }),                       '400 message_malformed'],
        ['of nothing',                           asker.send(`/v1/keys/${id}/rotate`, { method: 'POST' }),         '400 message_malformed'],
      ]
      for (const [why, answer, expected] of rows) assert.equal(said(await answer), expected, why)
      const late = rotation(id, key, generateKeyPair())
      aheadMs += 61_000
      assert.equal(said(await rotate(id, late)), '401 message_expired')
      assert.deepEqual(keysIn(await history(id)), [key.id])
    })
  })

  describe('P-15 what was signed', () => {
    test('verifies under the key of its time, for anybody, also when it has left', async () => {
      const { id, key: old, token } = await asker.newAgent()
      const next = generateKeyPair()
      const at = clock.now()
      const receipt = signMessage({ paid: 5, at }, old)
      aheadMs += 1_000
      await rotate(id, rotation(id, old, next))
      assert.equal((await asker.send(`/agents/${id}`, { method: 'DELETE', token })).status, 204)

      const { body, status } = await hub.get(`/v1/keys/${id}`)
      assert.equal(status, 200)
      const periods = (body.keys as Shown[]).map((each) => ({
        id: each.key_id as KeyId,
        publicKey: each.public_key as PublicKey,
        from: Date.parse(each.from),
        ...(each.until !== undefined && { until: Date.parse(each.until) }),
      }))
      const shown: KeyHistory = { periods }
      const check = (signedAt: number) =>
        verifyByHistory(receipt, { history: shown, signedAt }, createKeyring()).ok
      assert.equal(check(at), true)
      assert.equal(check(clock.now()), false, 'the old key no longer speaks')
      assert.equal(said(await hub.get(`/v1/keys/${randomUUID()}`)), '404 agent_unknown')
      assert.equal(said(await hub.get('/v1/keys/nobody')), '404 agent_unknown')
    })

    test('by the hub verifies after its key was rotated, and no old key comes back', {
      timeout: 120_000,
    }, async () => {
      const home = mkdtempSync(join(tmpdir(), 'chimera-hub-key-'))
      const keyFile = join(home, 'keys', 'hub.json')
      try {
        const first = await engine.start({ auth: 'required', keyFile }, 'hub-key')
        const before = (await first.get('/v1/keys/hub')).body
        const again = (before.keys as Shown[]).map(({ until }) => until)
        assert.deepEqual(again, [undefined])
        await first.stop()

        const { old, next, retired } = await rotateKeyFile(keyFile)
        assert.equal(before.key_id, old.id)
        const second = await engine.start({ auth: 'required', keyFile }, 'hub-key')
        const { body } = await second.get('/v1/keys/hub')
        assert.deepEqual([body.key_id, body.public_key], [next.id, next.publicKey])
        assert.deepEqual(keysIn({ status: 200, body }), [old.id, next.id])
        const [was, is] = body.keys as Shown[]
        assert.equal(was?.until, is?.from)
        await second.stop()

        const stale = engine.start({ auth: 'required', keyFile: retired }, 'hub-key')
        await assert.rejects(stale, { code: 'hub_key_replaced' })
      } finally {
        rmSync(home, { recursive: true, force: true })
      }
    })
  })

  describe('AV-12 a recovery', () => {
    test('takes effect after its delay, by itself, and the new key speaks', async () => {
      const { id, key: lost, token } = await asker.newAgent()
      const next = generateKeyPair()
      const begun = await recover(id, token, recovery(id, next))
      assert.equal(begun.status, 202, JSON.stringify(begun.body))
      const { key_id, takes_effect_at } = begun.body.recovery as Record<string, string>
      assert.equal(key_id, next.id)
      const waits = Date.parse(String(takes_effect_at)) - clock.now()
      assert.ok(waits > 2 * DAY_MS - 60_000 && waits <= 2 * DAY_MS, `${waits}`)
      assert.deepEqual(
        [keysIn(begun), (await history(id)).body.recovery],
        [[lost.id], begun.body.recovery],
      )
      const early = await finish(id, token)
      assert.equal(said(early), '422 recovery_pending')
      assert.ok(Number(early.body.retry_after_seconds) > 0)
      assert.deepEqual(await finishDueRecoveries(hub.hub), [])
      assert.equal((await post(id, next)).status, 401, 'until then the old key speaks')
      assert.equal((await post(id, lost)).status, 204)

      aheadMs += 2 * DAY_MS
      await finishDueRecoveries(hub.hub)
      const { body } = await history(id)
      assert.deepEqual(
        [keysIn({ status: 200, body }), body.recovery],
        [[lost.id, next.id], undefined],
      )
      assert.equal((await post(id, lost)).status, 401)
      assert.equal((await post(id, next)).status, 204)
      assert.equal(said(await finish(id, token)), '404 recovery_unknown')
    })

    test('is finished by the owner when its time has come, whoever asks first', async () => {
      const { id, token } = await asker.newAgent()
      const next = generateKeyPair()
      await recover(id, token, recovery(id, next))
      assert.equal(
        said(await recover(id, token, recovery(id, next))),
        '202',
        'again is nothing new',
      )
      aheadMs += 2 * DAY_MS
      const tried = await Promise.all([
        finish(id, token),
        finish(id, token),
        finishDueRecoveries(hub.hub),
      ])
      assert.equal(keysIn(await history(id)).at(-1), next.id)
      assert.equal(keysIn(await history(id)).length, 2, JSON.stringify(tried))
    })

    test('is called off by the present key, and by nobody else', async () => {
      const { id, key, token } = await asker.newAgent()
      const other = await asker.newAgent()
      const next = generateKeyPair()
      assert.equal(said(await callOff(id, { key })), '404 recovery_unknown')
      await recover(id, token, recovery(id, next))
      assert.equal(said(await callOff(id, { token })), '403 caller_forbidden')
      assert.equal(said(await callOff(id, { key: other.key })), '403 caller_forbidden')
      assert.equal(said(await callOff(id, { key: next })), '401 caller_unknown')
      assert.equal((await callOff(id, {})).status, 401)
      const done = await callOff(id, { key })
      assert.deepEqual([done.status, done.body.recovery], [200, undefined])
      aheadMs += 2 * DAY_MS
      assert.equal(said(await finish(id, token)), '404 recovery_unknown')
      assert.deepEqual(keysIn(await history(id)), [key.id])
    })

    test('is begun by the owner\u2019s own token alone, and changes nothing else', async () => {
      const { id, key, token } = await asker.newAgent()
      const other = await asker.newAgent()
      const next = generateKeyPair()
      const reading = await asker.narrower(token, { scopes: ['read'] })
      const session = await asker.send('/v1/tokens/session', { token, body: {} })
      const good = recovery(id, next)
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, answer: Promise<Answered>, said: string][] = [
        ['nobody',                        recover(id, undefined, good),                                     '401 caller_unknown'],
        ['another owner',                 recover(id, other.token, good),                                   '403 caller_forbidden'],
        ['an operator',                   recover(id, asker.operator, good),                                '403 caller_forbidden'],
        ['a token of another scope',      recover(id, reading.token, good),                                 '403 caller_forbidden'],
        ['a session',                     recover(id, String(session.body.token), good),                    '403 caller_forbidden'],
        ['the agent itself',              asker.send(`/v1/keys/${id}/recover`, { key, body: good }),        '403 caller_forbidden'],
        ['without the new key\u2019s proof', recover(id, token, signMessage(good, key)),                    '401 signature_invalid'],
        ['for another agent',             recover(id, token, recovery(other.id, next)),                     '400 message_malformed'],
        ['to a key of somebody else',     recover(id, token, recovery(id, other.key)),                      '409 key_reused'],
        ['to the key it has',             recover(id, token, recovery(id, key)),                            '409 key_reused'],
        ['signed long ago',               recover(id, token, recovery(id, next, clock.now() - 61_000)),     '401 message_expired'],
        ['with a field that nobody reads', recover(id, token, { ...good, delay: 0 }),                       '400 message_malformed'],
        ['for an agent that is not there', recover(randomUUID(), token, good),                              '400 message_malformed'],
      ]
      for (const [why, answer, expected] of rows) assert.equal(said(await answer), expected, why)
      const { body } = await history(id)
      assert.deepEqual([keysIn({ status: 200, body }), body.recovery], [[key.id], undefined])
      assert.equal(said(await finish(id, other.token)), '403 caller_forbidden')
    })

    test('X-10 takes its key: nobody else can bind it in the meantime', async () => {
      const { id, token, owner } = await asker.newAgent()
      const next = generateKeyPair()
      await recover(id, token, recovery(id, next))
      const registering = {
        agent_id: randomUUID(),
        agent_name: 'Other',
        owner_id: owner,
        api_endpoint: 'https://other.example.org/jobs',
        skills: [{ skill_name: 'x', cost_per_call: 0.05 }],
      }
      const taken = await asker.send('/register', { token, key: next, body: registering })
      assert.equal(taken.status, 409)
    })
  })

  describe('time alone', () => {
    test('AV-12 a recovery that nobody finishes takes effect within seconds of its time', {
      timeout: 120_000,
    }, async () => {
      const virtual = createVirtualClock()
      const delayMs = 60 * 1_000
      const wanted = { auth: 'required', clock: virtual, recoveryDelay: delayMs } as const
      const running = await engine.start(wanted, 'time')
      const ask = createAsker(running, virtual)
      try {
        const { id, token } = await ask.newAgent()
        const next = generateKeyPair()
        const body = signRecovery(agentOf(id), next, virtual.now())
        const begun = await ask.send(`/v1/keys/${id}/recover`, { token, body })
        assert.equal(begun.status, 202, JSON.stringify(begun.body))
        const present = async () => keysIn(await ask.send(`/v1/keys/${id}`)).at(-1)
        await virtual.advanceBy(delayMs - 1_000)
        assert.notEqual(await present(), next.id)
        for (let waited = 0; waited < 20 && (await present()) !== next.id; waited += 1) {
          await virtual.advanceBy(1_000)
        }
        assert.equal(await present(), next.id)
      } finally {
        await running.stop()
      }
    })
  })

  // The embedded database is of one process.
  if (open !== onEmbedded)
    describe('several hubs on one database', () => {
      test('AV-12 all follow a new key: at once by request, by the trail for presence', {
        timeout: 120_000,
      }, async () => {
        const { id, key: old } = await asker.newAgent()
        const other = await engine.start({ auth: 'required', clock, seed: 2 })
        try {
          const there = createAsker(other, clock)
          const next = generateKeyPair()
          const post = (by: KeyPair) =>
            there.send('/moltbook/v1/presence', { body: presence(id, by) })
          assert.equal((await post(old)).status, 204)
          assert.equal((await rotate(id, rotation(id, old, next))).status, 200)
          const beat = (key: KeyPair) => there.send('/heartbeat', { key, body: { agent_id: id } })
          assert.deepEqual([(await beat(old)).status, (await beat(next)).status], [401, 200])
          await other.hub.settle()
          assert.deepEqual([(await post(old)).status, (await post(next)).status], [401, 204])
        } finally {
          await other.stop()
        }
      })
    })

  describe('an open hub', () => {
    test('rotates what is signed, recovers nothing, and has no key of its own', {
      timeout: 60_000,
    }, async () => {
      const running = await engine.start({ clock }, 'open')
      try {
        const { id, key } = await createPoster(running, clock)
        const next = generateKeyPair()
        assert.equal(said(await running.get('/v1/keys/hub')), '404 hub_key_unknown')
        const what = { content_id: id, content_sha256: '0'.repeat(64), platform: 'twitter' }
        const approved = await running.post('/v1/approvals', what)
        assert.equal(said(approved), '404 hub_key_unknown', 'it vouches for nothing')
        const begun = await running.post(`/v1/keys/${id}/recover`, recovery(id, next))
        assert.equal(said(begun), '403 caller_forbidden')
        const off = await running.post(`/v1/keys/${id}/recover/call-off`)
        assert.equal(said(off), '401 caller_unknown')
        const done = await running.post(`/v1/keys/${id}/rotate`, rotation(id, key, next))
        assert.deepEqual(keysIn(done), [key.id, next.id])
      } finally {
        await running.stop()
      }
    })
  })
}
