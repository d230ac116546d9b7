/**
 * The three skills that speak to a hub, against a real one: each row of their errors, the cache and
 * its stale copy, the lock, and what is left when the network is down. Between them and the hub
 * stands a relay that can be cut.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { keepSecret } from '@chimera/host/settings/secret'
import { type Asker, createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import type { CallOutcome, RunnerEvent } from '@chimera/skill/calls'
import { createRunner } from '@chimera/skill/runner'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { getAgentProfile } from '../src/get-agent-profile.ts'
import { createHttpRegistry } from '../src/hub/http-registry.ts'
import { registerOpenclawProfile } from '../src/register-openclaw-profile.ts'
import { updateAgentState } from '../src/update-agent-state.ts'
import { agentProfile } from './profiles.ts'
import { type Relay, startRelay } from './relay.ts'

const clock = createClock()
let hub: TestHub
let relay: Relay
let asker: Asker
let closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  relay = await startRelay()
  hub = await runHub({ auth: 'required', clock, publicUrl: relay.address })
  relay.leadTo(hub.address)
  asker = createAsker({ ...hub, address: relay.address }, clock)
})
afterEach(async () => {
  relay.always('pass')
  await Promise.all(closing.map((close) => close()))
  closing = []
})
afterAll(async () => {
  await relay?.close()
  await hub?.stop()
})

type By = { readonly key?: KeyPair; readonly token?: string; readonly aheadMs?: () => number }

/** Waits between tries (1, 2, 4 s) are over at once, and so are two seconds of patience. */
function open({ key, token, aheadMs = () => 0 }: By, waits: 'none' | 'real' = 'none') {
  const registry = createHttpRegistry({
    address: relay.address,
    clock,
    chance: createChance(),
    ...(key && { key }),
    ...(token !== undefined && { token: keepSecret(token).secret }),
  })
  const events: RunnerEvent[] = []
  const runner = createRunner({
    skills: [
      getAgentProfile({ registry }),
      updateAgentState({ registry }),
      registerOpenclawProfile({ registry }),
    ],
    clock: {
      now: () => clock.now() + aheadMs(),
      after: (ms, run) => clock.after(waits === 'none' && ms <= 4_000 ? 0 : ms, run),
    },
    chance: { fraction: () => 0, uuid: randomUUID },
    watch: (event) => void events.push(event),
  })
  closing.push(async () => {
    await runner.close()
    await registry.close()
  })
  const get = (agent_id: string) => runner.run('get_agent_profile', { agent_id })
  const update = (agent_id: string, state_updates: object, expected_version?: number) =>
    runner.run('update_agent_state', {
      agent_id,
      state_updates,
      ...(expected_version !== undefined && { expected_version }),
    })
  const register = (agent_profile: object) =>
    runner.run('register_openclaw_profile', { agent_profile })
  return { get, update, register, events }
}

const outputOf = (outcome: CallOutcome): Record<string, unknown> => {
  assert.ok(outcome.ok, JSON.stringify(outcome))
  return Object(outcome.output)
}
const codeOf = (outcome: CallOutcome) => (outcome.ok ? outcome.recovered : outcome.error.code)
const profileOf = (outcome: CallOutcome) => Object(outputOf(outcome).updated_profile)

describe('SK-11 get_agent_profile', () => {
  test('is the hub’s own profile, cached for ten seconds, and then asked for anew', async () => {
    const { id, key, token } = await asker.newAgent()
    let aheadMs = 0
    const { get } = open({ key, aheadMs: () => aheadMs }, 'real')
    const first = outputOf(await get(id))
    const { body } = await asker.send(`/v1/profiles/${id}`, { token })
    assert.deepEqual([first.agent_id, first.version, first.name], [id, 1, body.name])
    const asked = relay.count()
    await asker.send(`/v1/profiles/${id}`, { token, method: 'PATCH', body: { status: 'paused' } })
    aheadMs = 9_000
    const cached = await get(id.toUpperCase())
    assert.deepEqual([cached.from, outputOf(cached).status], ['cache', 'active'])
    assert.equal(relay.count(), asked)
    aheadMs = 11_000
    assert.equal(outputOf(await get(id)).status, 'paused')
  })

  test('UNAVAILABLE: a stale copy that says so, or the error where there is none', async () => {
    const { id, key } = await asker.newAgent()
    let aheadMs = 0
    const { get } = open({ key, aheadMs: () => aheadMs }, 'real')
    outputOf(await get(id))
    for (const mode of [
      'cut',
      { status: 503, body: '<html>' },
      { status: 200, body: '{}' },
    ] as const) {
      relay.always(mode)
      aheadMs += 60_000
      const stale = await get(id)
      assert.deepEqual([outputOf(stale).stale, codeOf(stale)], [true, 'UNAVAILABLE'])
      assert.equal(codeOf(await get(randomUUID())), 'UNAVAILABLE')
    }
  })

  test('UNAVAILABLE also when nobody answers within its two seconds', async () => {
    const { key } = await asker.newAgent()
    const { get } = open({ key })
    relay.always('hang')
    assert.equal(codeOf(await get(randomUUID())), 'UNAVAILABLE')
  })

  test('AGENT_NOT_FOUND, INVALID_INPUT, and no profile for whoever may not read', async () => {
    const { id, key } = await asker.newAgent()
    assert.equal(codeOf(await open({ key }, 'real').get(randomUUID())), 'AGENT_NOT_FOUND')
    assert.equal(codeOf(await open({ key }).get('nobody')), 'INVALID_INPUT')
    assert.equal(codeOf(await open({}, 'real').get(id)), 'UNAUTHENTICATED')
    const secret = `chm_owner_${'s'.repeat(43)}`
    const wrong = open({ token: secret }, 'real')
    const refused = await wrong.get(id)
    assert.equal(codeOf(refused), 'UNAUTHENTICATED')
    assert.ok(!JSON.stringify([refused, wrong.events]).includes(secret), 'X-5')
  })
})

describe('SK-12 update_agent_state', () => {
  test('changes all of it under its version, and is on the trail', async () => {
    const { id, key } = await asker.newAgent()
    const { update } = open({ key })
    const done = await update(id, { status: 'paused', pending_tasks: 2, wallet_balance: 1.5 }, 1)
    const { success, new_version } = outputOf(done)
    const { status, pending_tasks, wallet_balance } = profileOf(done)
    assert.deepEqual(
      [success, new_version, status, pending_tasks, wallet_balance],
      [true, 2, 'paused', 2, 1.5],
    )
    await hub.hub.settle()
    const facts = (await hub.hub.keep.trail.sealedAfter(0)).map(({ fact }) => Object(fact))
    assert.ok(facts.some(({ type, record }) => type === 'record_updated' && record.agent === id))
  })

  test('each row of its errors, and nothing changed by any', async () => {
    const { id, key, token } = await asker.newAgent()
    const other = await asker.newAgent()
    const own = open({ key })
    outputOf(await own.update(id, { status: 'paused' }))
    // biome-ignore format: a table is read by its columns
    const rows: [why: string, outcome: Promise<CallOutcome>, code: string][] = [
      ['another version',            own.update(id, { pending_tasks: 9 }, 7),                       'CONCURRENCY_ERROR'],
      ['nobody',                     own.update(randomUUID(), { status: 'paused' }),                'AGENT_NOT_FOUND'],
      ['paused to error, no reason', own.update(id, { status: 'error', pending_tasks: 9 }),         'INVALID_STATE_TRANSITION'],
      ['busy without work',          own.update(id, { status: 'busy', wallet_balance: 9 }),         'INVALID_STATE_TRANSITION'],
      ['nothing to update',          own.update(id, { reason: 'why not' }),                         'INVALID_INPUT'],
      ['a secret as the reason',     own.update(id, { status: 'error', reason: `see ${token}` }),   'INVALID_INPUT'],
      ['another agent',              open({ key: other.key }).update(id, { pending_tasks: 9 }),     'FORBIDDEN'],
    ]
    for (const [why, outcome, code] of rows) assert.equal(codeOf(await outcome), code, why)
    const { body } = await asker.send(`/v1/profiles/${id}`, { token })
    assert.deepEqual([body.version, body.pending_tasks, body.wallet_balance], [2, 0, undefined])
    const failed = await own.update(id, { status: 'error', reason: 'the disk is full' }, 2)
    assert.equal(profileOf(failed).status, 'error')
  })

  test('of many that expect one version one wins; the rest must read anew', async () => {
    const { id, key } = await asker.newAgent()
    const { update } = open({ key })
    const tried = await Promise.all(
      Array.from({ length: 10 }, (_, at) => update(id, { pending_tasks: at + 1 }, 1)),
    )
    assert.equal(tried.filter(({ ok }) => ok).length, 1)
    const lost = tried.find(({ ok }) => !ok)
    assert.equal(lost && !lost.ok && lost.error.needs, 'fresh_version')
  })

  test('an answer that was lost is found again, and not done or refused twice', async () => {
    const { id, key } = await asker.newAgent()
    const { update } = open({ key })
    relay.next('lost')
    const done = await update(id, { status: 'paused', pending_tasks: 4 }, 1)
    assert.deepEqual([outputOf(done).new_version, done.retries], [2, 1])
    relay.always('cut')
    const away = await update(id, { pending_tasks: 5 }, 2)
    assert.deepEqual([codeOf(away), away.retries], ['NETWORK_ERROR', 3])
  })
})

describe('SK-15 register_openclaw_profile', () => {
  test('signs and registers; again is an update of the same entry', async () => {
    const { owner, token } = await asker.newOwner()
    const key = generateKeyPair()
    const { register, get } = open({ key, token }, 'real')
    const profile = agentProfile({ agent_id: randomUUID() })
    const first = outputOf(await register(profile))
    assert.equal(first.registered, true)
    assert.equal(first.directory_id, profile.agent_id)
    const page = await fetch(String(first.profile_url))
    assert.equal(page.status, 200)
    assert.equal(Object(await page.json()).agent_id, profile.agent_id)
    outputOf(await register({ ...profile, name: 'Another name' }))
    assert.equal(outputOf(await get(profile.agent_id)).name, 'Another name')
    const { body } = await asker.send(`/agents/${profile.agent_id}`)
    assert.equal(body.owner_id, owner)
  })

  test('NETWORK_ERROR and REGISTRATION_FAILED: three retries, then on with a warning', async () => {
    const { token } = await asker.newOwner()
    const by = { key: generateKeyPair(), token }
    const profile = agentProfile({ agent_id: randomUUID() })
    for (const [mode, code] of [
      ['cut', 'NETWORK_ERROR'],
      [{ status: 502, body: 'Bad gateway' }, 'REGISTRATION_FAILED'],
    ] as const) {
      relay.always(mode)
      const before = relay.count()
      const outcome = await open(by).register(profile)
      const { registered, warning } = outputOf(outcome)
      assert.deepEqual([registered, codeOf(outcome), outcome.retries], [false, code, 3])
      assert.match(String(warning), /not registered/)
      assert.equal(relay.count() - before, 4)
    }
    relay.always('pass')
    relay.next('cut', 'cut')
    assert.equal(outputOf(await open(by).register(profile)).registered, true)
  })

  test('INVALID_PROFILE names the field; who may not is refused, not warned', async () => {
    const { id, token } = await asker.newAgent()
    const key = generateKeyPair()
    const { name: _, ...nameless } = agentProfile({ agent_id: id })
    const invalid = await open({ key, token }).register(nameless)
    assert.ok(!invalid.ok)
    assert.equal(invalid.error.code, 'INVALID_PROFILE')
    assert.equal(invalid.error.issues[0]?.path, '/agent_profile/name')
    const taken = agentProfile({ agent_id: id })
    assert.equal(codeOf(await open({ key, token }).register(taken)), 'UNAUTHENTICATED')
    assert.equal(codeOf(await open({ token }).register(taken)), 'UNAUTHENTICATED')
  })
})
