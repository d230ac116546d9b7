/** The voices to the hub, under a clock that is moved by hand. */
import assert from 'node:assert/strict'
import { encodeControlOrder } from '@chimera/dialects/chimera'
import * as moltbook from '@chimera/dialects/moltbook'
import * as openclaw from '@chimera/dialects/openclaw'
import type { AgentId, ControlId, InstanceId } from '@chimera/domain/ids'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import { describe, test } from 'vitest'
import { refusedWith, SILENCE, setStage, skill, TAKEN, type Wire } from '../../test/voicing.ts'
import type { HubAnswer } from '../hub/client.ts'
import { keysInMemory } from '../self/keys.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const fault = { code: 'DISK_FULL', message: 'No room left', lasting: 'transient' } as const
const updateIn = (message: Wire) => message.status_update as Wire
const msOf = (text: unknown) => Date.parse(String(text))
const soon = () => AbortSignal.timeout(5_000)

describe('start', () => {
  test('OC-1 registers, then publishes identity, capabilities, presence and status', async () => {
    const { start, said, last, self, clock } = await setStage()
    assert.deepEqual(await start(), { is: 'registered' })
    await clock.advanceBy(0)
    assert.equal(said('/register').length, 1)
    for (const topic of ['identity', 'capability', 'presence', 'status']) {
      assert.equal(said(topic).length, 1, topic)
    }
    const identity = openclaw.readIdentity(last('identity'))
    assert.ok(identity.ok)
    assert.equal(identity.value.agent, self.agent)
    assert.deepEqual(
      identity.value.skills.map(({ name }) => name),
      ['word_count'],
    )
    assert.equal(updateIn(last('status')).previous_status, undefined)
  })

  test('SK-5 OC-1 AV-2 a deprecated skill leaves the offer at its end, by itself', async () => {
    const day = 24 * 60 * 60 * SECOND
    const stage = await setStage()
    const { clock, began, said, last, lifecycle, logged } = stage
    const until = (days: number) => ({ declaredAt: began, removedAt: began + days * day })
    const [early, late] = [
      { ...skill('early'), deprecation: until(31) },
      { ...skill('late'), deprecation: until(32) },
    ]
    const { offered } = stage.stage
    const current = () =>
      [early, late].filter(({ deprecation }) => clock.now() < deprecation.removedAt)
    Object.defineProperty(stage.stage, 'offered', {
      get: () => ({ ...offered, skills: current() }),
    })
    await stage.start()
    await clock.advanceBy(0)
    assert.deepEqual(last('capability').capabilities, ['early', 'late'])
    // Nothing but the one timer is of interest here.
    lifecycle.order({ type: 'pause' })
    await clock.advanceBy(31 * day)
    lifecycle.order({ type: 'resume' })
    await clock.advanceBy(5 * SECOND)
    assert.equal(said('/register').length, 2)
    assert.deepEqual(last('capability').capabilities, ['late'])
    assert.deepEqual(last('presence').capabilities, ['late'])
    const identity = openclaw.readIdentity(last('identity'))
    assert.deepEqual(identity.ok && identity.value.skills.map(({ name }) => name), ['late'])
    await clock.advanceBy(day)
    assert.equal(lifecycle.standing().condition.name, 'paused')
    assert.equal(last('presence').state, 'offline')
    assert.equal(said('/register').length, 2, 'nothing is no offer')
    assert.ok(logged.some(({ msg }) => String(msg).includes('nothing to offer')))
  })

  test('nothing is said of who is not registered; a hub that is away is tried again', async () => {
    const stage = await setStage()
    let away = true
    const none = { ok: false, kind: 'unanswered', code: 'network', detail: 'cut' } as const
    stage.stage.hubAnswer = () => (away ? none : { ok: true, status: 201, body: {} })
    assert.deepEqual(await stage.start(), { is: 'waiting' })
    stage.workload(1)
    await stage.clock.advanceBy(20 * SECOND)
    assert.equal(stage.said('presence').length, 0)
    assert.ok(stage.said('/register').length >= 3)
    away = false
    await stage.clock.advanceBy(40 * SECOND)
    assert.equal(stage.said('identity').length, 1)
    assert.equal(stage.last('status').agent_id, stage.self.agent)
  })

  test('a hub that says no is told of to whoever starts, and not asked again', async () => {
    const { start, stage, said, clock } = await setStage()
    const answer: HubAnswer = {
      ok: false,
      kind: 'refused',
      status: 409,
      code: 'key_mismatch',
      sentence: 'Another key speaks for it',
      retryable: false,
    }
    stage.hubAnswer = () => answer
    assert.deepEqual(await start(), { is: 'refused', answer })
    await clock.advanceBy(HOUR)
    assert.equal(said('/register').length, 1)
    assert.deepEqual(clock.pending(), [])
  })
})

test('SF-11 orders come before the first word', async () => {
  const hubPair = generateKeyPair()
  const { start, clock, stage, self, said } = await setStage({
    hubKey: hubPair.publicKey,
    feedAnswers: () => ({ outcome: { type: 'answered', status: 202 } }),
  })
  const common = { issuedAt: clock.now(), expiresAt: clock.now() + HOUR, key: hubPair.id }
  const to = { kind: 'agent', agent: self.agent } as const
  const ids = ['7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11', '8d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11']
  const actions = [{ type: 'pause' }, { type: 'publishing', on: false }] as const
  const orders = actions.map((action, index) => {
    const id = ids[index] as ControlId
    const order = encodeControlOrder({ id, to, action, sequence: index + 1, ...common })
    return signMessage(order, hubPair)
  })
  stage.hubAnswer = () => ({ ok: true, status: 200, body: { orders } })
  await start()
  await clock.advanceBy(HOUR / 2)
  const states = new Set(said('presence').map(({ message }) => message.state))
  assert.deepEqual([[...states], said('feed').length], [['offline'], 0])
  await clock.advanceBy(HOUR / 2)
  assert.equal(said('presence').at(-1)?.message.state, 'available', 'a pause ends at its time')
  assert.equal(said('feed').length, 0, 'what was switched off stays off')
})

describe('the key', () => {
  test('one that is refused is read again, for another copy may have rotated it', async () => {
    const pairs = [generateKeyPair(), generateKeyPair()] as const
    // What the file holds, and what this copy has read of it.
    let [kept, known] = [0, 0]
    const keys = {
      ...keysInMemory(),
      pair: () => pairs[known] ?? pairs[0],
      reload: async () => {
        const news = known !== kept
        known = kept
        return news
      },
    }
    const agent = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11' as AgentId
    const instance = '8d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11' as InstanceId
    const { start, clock, stage, last } = await setStage({ self: { agent, instance, keys } })
    await start()
    await clock.advanceBy(5 * SECOND)
    assert.equal(last('capability').public_key, pairs[0].publicKey)
    kept = 1
    stage.answer = (topic) => (topic === 'presence' && known === 0 ? refusedWith(401) : TAKEN)
    await clock.advanceBy(10 * SECOND)
    assert.equal(last('capability').public_key, pairs[1].publicKey)
    assert.ok(verifyMessage(last('presence'), pairs[1].publicKey, createKeyring()).ok)
  })
})

describe('OpenClaw status', () => {
  test('OC-4 idle and busy are repeated within 60 s', async () => {
    const { start, clock, times, forget, workload } = await setStage()
    await start()
    await clock.advanceBy(0)
    forget()
    await clock.advanceBy(170 * SECOND)
    assert.deepEqual(
      times('status'),
      [55, 110, 165].map((each) => each * SECOND),
    )
    workload(1)
    await clock.advanceBy(60 * SECOND)
    assert.deepEqual(times('status').slice(3), [170 * SECOND, 225 * SECOND])
  })

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, orders: readonly object[], words: readonly string[]][] = [
    ['OC-16 work moves idle to busy and back', [{ running: 1 }, { running: 0 }],                             ['idle→busy', 'busy→idle']],
    ['OC-5 leaving error is told',             [{ type: 'fail', fault }, { type: 'recover' }],               ['idle→error', 'error→idle']],
    ['OC-6 maintenance and its end',           [{ type: 'maintain', until: 1_900_000_000_000 }, { type: 'resume' }], ['idle→maintenance', 'maintenance→idle']],
    ['another fault is another status',        [{ type: 'fail', fault }, { type: 'fail', fault: { ...fault, code: 'NO_NET' } }], ['idle→error', 'error→error']],
    ['a second task is none',                  [{ running: 1 }, { running: 2 }],                             ['idle→busy']],
  ]
  for (const [rule, orders, words] of rows) {
    test(`OC-3 ${rule}, within 5 s, with what was told before`, async () => {
      const { start, clock, said, forget, workload, lifecycle } = await setStage()
      await start()
      await clock.advanceBy(10 * SECOND)
      forget()
      for (const each of orders) {
        if ('running' in each) workload(each.running as number)
        else assert.ok(lifecycle.order(each as { type: 'resume' }).ok)
        await clock.advanceBy(5 * SECOND)
      }
      const told = said('status').map(({ message }) => updateIn(message))
      assert.deepEqual(
        told.map(({ previous_status, current_status }) => `${previous_status}→${current_status}`),
        words,
      )
      for (const { message } of said('status')) assert.ok(openclaw.readStatusUpdate(message).ok)
    })
  }

  test('OC-6 maintenance is said at once, before whoever waits for that goes on', async () => {
    const { start, clock, voices, lifecycle, workload, last } = await setStage()
    await start()
    await clock.advanceBy(SECOND)
    workload(1)
    await clock.advanceBy(SECOND)
    lifecycle.order({ type: 'maintain', until: clock.now() + HOUR, reason: 'New disks' })
    const announced = voices.said(soon())
    await clock.advanceBy(0)
    assert.equal(await announced, true)
    const { current_status, status_details } = updateIn(last('status'))
    assert.equal(current_status, 'maintenance')
    assert.equal((status_details as Wire).maintenance_reason, 'New disks')
  })
})

describe('presence', () => {
  test('AV-1 is posted every 10 s, signed, for three cadences, with the real load', async () => {
    const { start, clock, said, times, self } = await setStage()
    await start()
    await clock.advanceBy(35 * SECOND)
    assert.deepEqual(
      times('presence'),
      [0, 10, 20, 30].map((each) => each * SECOND),
    )
    const keyring = createKeyring()
    const { publicKey } = self.keys.pair()
    for (const { message } of said('presence')) {
      assert.ok(verifyMessage(message, publicKey, keyring).ok)
      assert.ok(moltbook.readPresence(message).ok)
      assert.equal(msOf(message.expires_at) - msOf(message.signed_at), 30 * SECOND)
      assert.deepEqual(message.load, { cpu: 0.25, mem: 0.5 })
      assert.deepEqual(message.capabilities, ['word_count'])
    }
  })

  test('slots are told within a second, folded', async () => {
    const { start, clock, said, forget, workload, last } = await setStage()
    await start()
    await clock.advanceBy(2 * SECOND)
    forget()
    for (const running of [1, 2, 1, 2]) workload(running)
    await clock.advanceBy(SECOND)
    workload(1)
    await clock.advanceBy(SECOND)
    assert.equal(said('presence').length, 2)
    assert.deepEqual(last('presence').capacity, { slots_total: 2, slots_free: 1 })
  })

  test('AV-4 trouble of the network: the wait doubles, up to five minutes', async () => {
    const { start, clock, times, stage, forget } = await setStage()
    await start()
    await clock.advanceBy(0)
    forget()
    stage.answer = (topic) => (topic === 'presence' ? SILENCE : TAKEN)
    await clock.advanceBy(HOUR)
    const tries = times('presence')
    const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0))
    for (const [index, wait] of waits.entries()) {
      const full = Math.min(SECOND * 2 ** index, 300 * SECOND)
      assert.ok(wait <= full && wait >= full / 2, `wait ${index} is ${wait} of ${full}`)
    }
    assert.ok(waits.length >= 18)
    stage.answer = () => TAKEN
    await clock.advanceBy(300 * SECOND)
    forget()
    await clock.advanceBy(30 * SECOND)
    assert.equal(times('presence').length, 3, 'its cadence is back')
  })

  test('AV-5 draining: capabilities at once, a cadence of 30 s, 90 s to live', async () => {
    const { start, clock, lifecycle, workload, times, last, forget } = await setStage()
    await start()
    workload(1)
    await clock.advanceBy(10 * SECOND)
    forget()
    const from = clock.now()
    lifecycle.order({ type: 'drain' })
    await clock.advanceBy(0)
    const { state, signed_at, expires_at, capacity } = last('presence')
    assert.deepEqual([state, last('capability').state], ['draining', 'draining'])
    assert.equal(msOf(signed_at), from)
    assert.equal(msOf(expires_at) - msOf(signed_at), 90 * SECOND)
    assert.deepEqual(capacity, { slots_total: 2, slots_free: 0 })
    await clock.advanceBy(65 * SECOND)
    const cadence = times('presence').map((at) => at - (times('presence')[0] ?? 0))
    assert.deepEqual(cadence, [0, 30 * SECOND, 60 * SECOND])
  })

  test('AV-5 goodbye is said at once, also to a hub that did not answer, and once', async () => {
    const { start, clock, voices, stage, said, forget, last } = await setStage()
    await start()
    stage.answer = () => SILENCE
    await clock.advanceBy(40 * SECOND)
    forget()
    stage.answer = () => TAKEN
    await voices.stop(soon())
    assert.equal(last('presence').state, 'offline')
    assert.equal(updateIn(last('status')).current_status, 'maintenance')
    assert.deepEqual([said('presence').length, said('/register').length], [1, 0])
    assert.deepEqual(clock.pending(), [])
    await clock.advanceBy(HOUR)
    assert.equal(said('presence').length, 1)
  })

  test('a stop does not wait for a hub longer than its signal allows', async () => {
    const { voices, clock } = await setStage({
      outlet: {
        say: (_topic, _message, signal) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve(SILENCE))),
      },
    })
    const starting = voices.start()
    await clock.advanceBy(0)
    const stop = new AbortController()
    const stopped = voices.stop(stop.signal)
    stop.abort()
    await stopped
    assert.deepEqual(await starting, { is: 'registered' })
  })
})

describe('what is offered changes', () => {
  test('OC-1 AV-2 it is registered, then identity and capabilities are published', async () => {
    const { start, clock, voices, stage, said, last, forget } = await setStage()
    await start()
    await clock.advanceBy(20 * SECOND)
    forget()
    stage.offered = { ...stage.offered, skills: [skill('word_count'), skill('summarise', 2)] }
    voices.changed()
    await clock.advanceBy(5 * SECOND)
    assert.equal(said('/register').length, 1)
    const names = ['word_count', 'summarise@v1.2']
    assert.deepEqual(last('capability').capabilities, names)
    assert.ok(moltbook.readCapability(last('capability')).ok)
    assert.deepEqual(last('presence').capabilities, names)
    const read = openclaw.readIdentity(last('identity'))
    assert.deepEqual(read.ok && read.value.skills.length, 2)
    forget()
    voices.changed()
    await clock.advanceBy(5 * SECOND)
    assert.deepEqual([said('/register').length, said('capability').length], [0, 0])
  })

  test('what was refused is not advertised, and is tried again', async () => {
    const { start, clock, voices, stage, said, last } = await setStage()
    await start()
    await clock.advanceBy(20 * SECOND)
    const no = { kind: 'refused', status: 409, code: 'no', sentence: '', retryable: false } as const
    stage.hubAnswer = () => ({ ok: false, ...no })
    stage.offered = { ...stage.offered, skills: [skill('other')] }
    voices.changed()
    await clock.advanceBy(20 * SECOND)
    assert.deepEqual(last('presence').capabilities, ['word_count'])
    assert.ok(said('/register').length > 2)
    stage.hubAnswer = () => ({ ok: true, status: 201, body: {} })
    await clock.advanceBy(60 * SECOND)
    assert.deepEqual(last('presence').capabilities, ['other'])
  })

  test('a hub that has lost the agent is told everything again', async () => {
    const { start, clock, stage, said, forget } = await setStage()
    await start()
    await clock.advanceBy(15 * SECOND)
    forget()
    let lost = true
    stage.answer = () => (lost ? refusedWith(404) : TAKEN)
    stage.hubAnswer = () => {
      lost = false
      return { ok: true, status: 201, body: {} }
    }
    await clock.advanceBy(15 * SECOND)
    assert.equal(said('/register').length, 1)
    for (const topic of ['identity', 'capability', 'status']) assert.ok(said(topic).length > 0)
  })
})
