/** Profiles over HTTP: what they show, who may update them, and under which version. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { encodePresence } from '@chimera/dialects/moltbook'
import { readAgentProfile } from '@chimera/dialects/skills'
import type { AgentId, CorrelationId, InstanceId } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Asker, createAsker } from './asking.ts'
import type { Engine } from './engines.ts'
import type { Answered, TestHub } from './running.ts'

const clock = createClock()

let engine: Engine
let hub: TestHub
let asker: Asker

type By = { readonly token?: string; readonly key?: KeyPair }

const show = (id: string, by: By) => asker.send(`/v1/profiles/${id}`, by)
const update = (id: string, by: By, body: unknown) =>
  asker.send(`/v1/profiles/${id}`, { ...by, method: 'PATCH', body })
const said = ({ status, body }: Answered) => [status, body.code ?? body.new_version].join(' ')
const stateOf = ({ body }: Answered) => {
  const profile = (body.updated_profile ?? body) as Record<string, unknown>
  return [profile.status, profile.availability, `v${String(profile.version)}`].join(' ')
}

const profileFor = (id: string, more: Record<string, unknown> = {}) => ({
  agent_id: id,
  name: 'Trend watcher',
  type: 'judge',
  capabilities: ['trend_analysis', 'quality_control'],
  availability: 'active',
  status: 'error',
  pending_tasks: 7,
  reputation_score: 1,
  uptime_24h: 100,
  last_heartbeat: '2026-01-01T00:00:00Z',
  wallet_address: `0x${'a'.repeat(40)}`,
  pricing: { currency: 'USDC', rate_per_task: 0.5 },
  supported_platforms: ['news'],
  version: 9,
  ...more,
})
const put = (id: string, by: By, body: unknown) =>
  asker.send(`/v1/profiles/${id}`, { ...by, method: 'PUT', body })

const statusIn = ({ body }: Answered) =>
  (body.status_update as { current_status?: string } | undefined)?.current_status

const post = (id: string, key: KeyPair, slotsFree = 2, instance = randomUUID() as string) => {
  const now = clock.now()
  const announcement = {
    agent: id as AgentId,
    instance: instance as InstanceId,
    availability: 'available' as const,
    capabilities: ['x'],
    slotsTotal: 2,
    slotsFree,
    load: { cpu: 0, mem: 0 },
    signedAt: now,
    expiresAt: now + 30_000,
    correlation: 'trace' as CorrelationId,
  }
  return asker.send('/moltbook/v1/presence', {
    body: signMessage(encodePresence(announcement), key),
  })
}

export function profilesContract(open: () => Engine): void {
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock })
    asker = createAsker(hub, clock)
  }, 120_000)
  afterAll(async () => {
    await hub?.stop()
    await engine?.end()
  }, 60_000)

  describe('SK-11 a profile', () => {
    test('shows an agent as the hub knows it, in the published shape', async () => {
      const { id, key, token, agent } = await asker.newAgent()
      assert.equal((await post(id, key, 1)).status, 204)
      const answer = await show(id, { token })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      assert.ok(readAgentProfile(answer.body).ok, JSON.stringify(answer.body))
      const { uptime_24h, last_heartbeat, ...rest } = answer.body
      assert.deepEqual(rest, {
        agent_id: id,
        name: agent.agent_name,
        type: 'content_creator',
        capabilities: ['content_writing'],
        availability: 'busy',
        status: 'busy',
        pending_tasks: 1,
        max_concurrent_tasks: 2,
        reputation_score: 0.5,
        version: 1,
      })
      assert.ok(Number(uptime_24h) >= 0 && Number(uptime_24h) <= 100)
      assert.ok(Math.abs(Date.parse(String(last_heartbeat)) - clock.now()) < 30_000)
    })

    test('is for callers who may read, and of agents that are there', async () => {
      const { id } = await asker.newAgent()
      const other = await asker.newOwner()
      assert.equal((await show(id, {})).status, 401)
      assert.equal((await show(id, { token: other.token })).status, 200)
      const making = await asker.narrower(other.token, { scopes: ['tokens'] })
      assert.equal((await show(id, { token: making.token })).status, 403)
      assert.equal(said(await show(randomUUID(), other)), '404 agent_unknown')
      assert.equal(said(await show('nobody', other)), '404 agent_unknown')
    })
  })

  describe('SK-12 an update', () => {
    test('is by the agent or its owner, and rises the version', async () => {
      const { id, key, token } = await asker.newAgent()
      const paused = await update(id, { token }, { status: 'paused', expected_version: 1 })
      assert.deepEqual([said(paused), stateOf(paused)], ['200 2', 'paused unavailable v2'])
      const counted = await update(id, { key }, { pending_tasks: 3, wallet_balance: 1.5 })
      assert.equal(stateOf(counted), 'paused unavailable v3')
      const profile = (await show(id, { token })).body
      assert.deepEqual(
        [profile.version, profile.pending_tasks, profile.wallet_balance],
        [3, 3, 1.5],
      )
      const again = await update(id, { key }, { pending_tasks: 3 })
      assert.equal(said(again), '200 3', 'nothing changed')
    })

    test('keeps to the lifecycle, all of it or nothing', async () => {
      const { id, key, token } = await asker.newAgent()
      const instance = randomUUID()
      await post(id, key, 2, instance)
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, body: Record<string, unknown>, said: string][] = [
        ['busy without work',             { status: 'busy', pending_tasks: 9 },            '422 transition_illegal'],
        ['error without a reason',        { status: 'error' },                             '422 reason_missing'],
        ['a pause',                       { status: 'paused' },                            '200 2'],
        ['paused to error, no reason',    { status: 'error', pending_tasks: 9 },           '422 reason_missing'],
        ['paused to error, a blank one',  { status: 'error', reason: '  ' },               '422 reason_missing'],
        ['paused to error with a reason', { status: 'error', reason: 'the disk is full' }, '200 3'],
        ['another version',               { status: 'active', expected_version: 2 },       '409 state_changed'],
        ['recovered',                     { status: 'active', expected_version: 3 },       '200 4'],
      ]
      for (const [why, body, expected] of rows) {
        assert.equal(said(await update(id, { token }, body)), expected, why)
      }
      const shown = (await show(id, { token })).body
      assert.deepEqual([shown.version, shown.pending_tasks, shown.status], [4, 0, 'active'])
      const conflict = await update(id, { token }, { pending_tasks: 1, expected_version: 9 })
      assert.deepEqual(conflict.body.details, { version: 4 })
    })

    test('states the work of an agent that announces no slots', async () => {
      const { id, key } = await asker.newAgent()
      const busy = await update(id, { key }, { status: 'busy', pending_tasks: 2 })
      assert.equal(stateOf(busy), 'busy busy v2')
      assert.equal(said(await update(id, { key }, { status: 'active' })), '422 transition_illegal')
      assert.equal(stateOf(await update(id, { key }, { pending_tasks: 0 })), 'active active v3')
    })

    test('is refused to others, and what is malformed changes nothing', async () => {
      const { id, token } = await asker.newAgent()
      const other = await asker.newAgent()
      const reading = await asker.narrower(token, { scopes: ['read'] })
      const body = { status: 'paused' }
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, answer: Promise<Answered>, said: string][] = [
        ['nobody',                update(id, {}, body),                                          '401 caller_unknown'],
        ['another owner',         update(id, { token: other.token }, body),                      '403 caller_forbidden'],
        ['another agent',         update(id, { key: other.key }, body),                          '403 caller_forbidden'],
        ['an operator',           update(id, { token: asker.operator }, body),                   '403 caller_forbidden'],
        ['a token that reads',    update(id, { token: reading.token }, body),                    '403 caller_forbidden'],
        ['no such agent',         update(randomUUID(), { token }, body),                         '404 agent_unknown'],
        ['no id',                 update('nobody', { token }, body),                             '404 agent_unknown'],
        ['nothing to update',     update(id, { token }, { expected_version: 1 }),                '400 message_malformed'],
        ['a field of no name',    update(id, { token }, { state: 'paused' }),                    '400 message_malformed'],
        ['a score',               update(id, { token }, { reputation_score: 1 }),                '400 message_malformed'],
        ['a status of no word',   update(id, { token }, { status: 'asleep' }),                   '400 message_malformed'],
        ['a fraction of a task',  update(id, { token }, { pending_tasks: 0.5 }),                 '400 message_malformed'],
        ['version 0',             update(id, { token }, { ...body, expected_version: 0 }),       '400 message_malformed'],
        ['a secret as a reason',  update(id, { token }, { status: 'error', reason: `x ${token}` }), '400 message_malformed'],
      ]
      for (const [why, answer, expected] of rows) assert.equal(said(await answer), expected, why)
      assert.equal((await show(id, { token })).body.version, 1)
    })

    test('of many that expect one version, one wins', async () => {
      const { id, key, token } = await asker.newAgent()
      const tried = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          update(id, at % 2 ? { key } : { token }, { pending_tasks: at + 1, expected_version: 1 }),
        ),
      )
      assert.equal(tried.filter((each) => said(each) === '200 2').length, 1)
      assert.equal(tried.filter((each) => said(each) === '409 state_changed').length, 19)
      assert.equal((await show(id, { token })).body.version, 2)
    })

    test('is on the trail, and X-2 every dialect sees what was ordered', async () => {
      const { id, key, token, agent } = await asker.newAgent()
      const skill = agent.skills[0]?.skill_name ?? ''
      await post(id, key)
      const found = async () => {
        const { body } = await asker.send(`/discover?skill=${skill}`)
        return (body.agents as unknown[]).length
      }
      const status = async () => statusIn(await asker.send(`/openclaw/v1/status/${id}`))
      const listed = async () => {
        const { body } = await asker.send('/moltbook/v1/directory?limit=100')
        const all = body.instances as { agent_id: string; why: string[] }[]
        return all.find((each) => each.agent_id === id)?.why[0]
      }
      assert.deepEqual([await found(), await status()], [1, 'idle'])
      await update(id, { token }, { status: 'error', reason: 'out of paint' })
      assert.deepEqual([await found(), await status()], [0, 'error'])
      assert.match(String(await listed()), /its record says so/)
      await hub.hub.settle()
      const facts = (await hub.hub.keep.trail.sealedAfter(0)).map(
        ({ fact }) => fact as { type: string; record?: { agent: string; version: number } },
      )
      const own = facts.filter(({ record }) => record?.agent === id)
      assert.deepEqual(
        own.map(({ type, record }) => `${type} ${record?.version}`),
        ['record_updated 2'],
      )
      await update(id, { token }, { status: 'active' })
      assert.deepEqual([await found(), await status()], [1, 'idle'])
    })

    test('survives a restart', { timeout: 120_000 }, async () => {
      const first = await engine.start({ auth: 'required' }, 'restart')
      const ask = createAsker(first, clock)
      const { id, token, key } = await ask.newAgent()
      const body = { status: 'paused', pending_tasks: 4 }
      await ask.send(`/v1/profiles/${id}`, { token, method: 'PATCH', body })
      await first.stop()
      const second = await engine.start({ auth: 'required' }, 'restart')
      try {
        const again = createAsker(second, clock)
        assert.equal((await again.send('/heartbeat', { key, body: { agent_id: id } })).status, 200)
        const shown = await again.send(`/v1/profiles/${id}`, { token })
        assert.deepEqual([stateOf(shown), shown.body.pending_tasks], ['paused unavailable v2', 4])
        const openclaw = await again.send(`/openclaw/v1/status/${id}`)
        assert.equal(statusIn(openclaw), 'maintenance')
      } finally {
        await second.stop()
      }
    })
  })

  describe('SK-15 a profile that an agent signed', () => {
    test('registers it, and again updates it, with scores and state left to the hub', async () => {
      const { token, owner } = await asker.newOwner()
      const key = generateKeyPair()
      const id = randomUUID()
      const first = await put(id, { token, key }, signMessage(profileFor(id), key))
      assert.equal(first.status, 200, JSON.stringify(first.body))
      const { uptime_24h, last_heartbeat: _, ...shown } = first.body
      const { uptime_24h: __, last_heartbeat: ___, ...stated } = profileFor(id)
      const ours = { status: 'active', pending_tasks: 0, reputation_score: 0.5, version: 1 }
      assert.deepEqual([shown, uptime_24h], [{ ...stated, ...ours }, 0])
      const { wallet_address: ____, ...renamed } = profileFor(id, { name: 'Renamed' })
      const second = await put(id, { key }, signMessage(renamed, key))
      assert.deepEqual([second.status, second.body.name], [200, 'Renamed'])
      assert.equal(second.body.wallet_address, undefined)
      const entry = await asker.send(`/agents/${id}`)
      assert.deepEqual([entry.status, entry.body.owner_id], [200, owner])
      const identity = await asker.send(`/openclaw/v1/identities/${id}`)
      assert.equal(identity.status, 200)
      assert.match(String(identity.body.agent_name), /^chimera-renamed/)
    })

    test('leaves what a registered agent offers, and where, as they are', async () => {
      const { id, key, agent } = await asker.newAgent()
      const answer = await put(id, { key }, signMessage(profileFor(id), key))
      assert.deepEqual([answer.status, answer.body.capabilities], [200, ['content_writing']])
      const { body } = await asker.send(`/agents/${id}`)
      assert.equal(body.api_endpoint, agent.api_endpoint)
      assert.equal((body.skills as unknown[]).length, 1)
    })

    test('is refused unsigned, edited, or by another key, and changes nothing', async () => {
      const { id, key, token } = await asker.newAgent()
      const other = generateKeyPair()
      const good = signMessage(profileFor(id), key)
      const elsewhere = randomUUID()
      // biome-ignore format: a table is read by its columns
      const rows: [why: string, answer: Promise<Answered>, said: string][] = [
        ['unsigned',                put(id, { key }, profileFor(id)),                               '401 signature_invalid'],
        ['edited',                  put(id, { key }, { ...good, name: 'Somebody else' }),           '401 signature_invalid'],
        ['by another key',          put(id, { key }, signMessage(profileFor(id), other)),           '401 signature_invalid'],
        ['sent by another key',     put(id, { token, key: other }, good),                           '409 key_mismatch'],
        ['by nobody',               put(id, {}, good),                                              '401 caller_unknown'],
        ['of another agent',        put(elsewhere, { key }, good),                                  '400 message_malformed'],
        ['a name of two letters',   put(id, { key }, signMessage(profileFor(id, { name: 'ab' }), key)), '400 message_malformed'],
        ['a newcomer without owner', put(elsewhere, { key: other }, signMessage(profileFor(elsewhere), other)), '401 caller_unknown'],
      ]
      for (const [why, answer, expected] of rows) assert.equal(said(await answer), expected, why)
      assert.notEqual((await show(id, { token })).body.name, 'Trend watcher')
    })
  })
}
