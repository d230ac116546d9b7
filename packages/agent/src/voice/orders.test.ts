/** Orders, told by a hub that the test plays: which are obeyed, when they end, who is told. */
import assert from 'node:assert/strict'
import { encodeControlOrder } from '@chimera/dialects/chimera'
import type { ControlAction, ControlOrder } from '@chimera/domain/control'
import type { AgentId, ControlId, OwnerId } from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import { createLog } from '@chimera/host/log'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { describe, test } from 'vitest'
import type { HubAnswer } from '../hub/client.ts'
import { createLifecycle } from './lifecycle.ts'
import { createOrders } from './orders.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const agent = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11' as AgentId
const other = '8d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11' as AgentId
const addressed = { agent, owner: 'acme' as OwnerId }
const hubPair = generateKeyPair()
const stranger = generateKeyPair()

function setUp() {
  const clock = createVirtualClock()
  const chance = createSeededChance(3)
  const log = createLog({ clock, name: 'agent', level: 'silent' })
  const lifecycle = createLifecycle({ clock, log, slots: 1 })
  lifecycle.order({ type: 'start' })
  const asked: string[] = []
  const steered: unknown[] = []
  const world: { orders: object[]; answer: HubAnswer | undefined } = {
    orders: [],
    answer: undefined,
  }
  let sequence = 0
  const hub = {
    get: async (path: string): Promise<HubAnswer> => {
      asked.push(path)
      return world.answer ?? { ok: true, status: 200, body: { orders: world.orders } }
    },
    post: async (path: string): Promise<HubAnswer> => {
      asked.push(path)
      return world.answer ?? { ok: true, status: 204, body: undefined }
    },
  }
  const orders = createOrders({
    hub,
    hubKey: hubPair.publicKey,
    addressed,
    lifecycle,
    clock,
    chance,
    log,
    steer: (...told) => void steered.push(told),
  })
  const give = (action: ControlAction, more: Partial<ControlOrder> = {}, by = hubPair) => {
    sequence += 1
    const order: ControlOrder = {
      id: chance.uuid() as ControlId,
      to: { kind: 'agent', agent },
      action,
      issuedAt: clock.now(),
      expiresAt: clock.now() + HOUR,
      sequence,
      key: by.id,
      ...more,
    }
    return signMessage(encodeControlOrder(order), by)
  }
  const condition = () => lifecycle.standing().condition.name
  return { clock, lifecycle, orders, world, asked, steered, give, condition }
}

describe('what is obeyed', () => {
  test('SF-11 only what the configured key has signed, for this agent, in its time', () => {
    const { orders, give, clock, condition } = setUp()
    const pause = { type: 'pause' } as const
    const good = give(pause)
    // biome-ignore format: a table is read by its columns
    const rows: [why: string, message: unknown, heard: string][] = [
      ['another key',            give(pause, {}, stranger),                                    'signature_invalid'],
      ['under the hub’s name',   give(pause, { key: hubPair.id }, stranger),                   'signature_invalid'],
      ['changed on the way',     { ...good, action: 'drain' },                                 'signature_invalid'],
      ['to another agent',       give(pause, { to: { kind: 'agent', agent: other } }),         'order_misaddressed'],
      ['to another owner',       give(pause, { to: { kind: 'owner', owner: 'b' as OwnerId } }), 'order_misaddressed'],
      ['of the future',          give(pause, { issuedAt: clock.now() + MINUTE }),              'message_early'],
      ['of the past',            give(pause, { expiresAt: clock.now() }),                      'message_expired'],
      ['no order at all',        { action: 'pause' },                                          'message_malformed'],
      ['not even an object',     'pause',                                                      'message_malformed'],
    ]
    for (const [why, message, heard] of rows) assert.equal(orders.hear(message), heard, why)
    assert.equal(condition(), 'idle')
    assert.equal(orders.hear(good), 'obeyed')
    assert.equal(orders.hear(good), 'nothing_new')
    assert.equal(condition(), 'paused')
  })

  test('the latest holds, in whatever order they arrive', () => {
    const { orders, give, condition } = setUp()
    const [pause, resume] = [give({ type: 'pause' }), give({ type: 'resume' })]
    assert.equal(orders.hear(resume), 'obeyed')
    assert.equal(orders.hear(pause), 'message_outdated')
    assert.equal(condition(), 'idle')
  })

  test('a pause that ends, ends at its time; what was switched off stays off', async () => {
    const { orders, give, condition, clock, steered } = setUp()
    orders.hear(give({ type: 'pause' }))
    orders.hear(give({ type: 'publishing', on: false }))
    assert.deepEqual(steered.at(-1), [{ running: 'pause', publishing: false }, 'switch_off'])
    await clock.advanceBy(HOUR - 1)
    assert.equal(condition(), 'paused')
    await clock.advanceBy(1)
    assert.equal(condition(), 'idle')
    assert.deepEqual(steered.at(-1), [{}, undefined], 'no command switches the roll-out on again')
    await orders.close()
    assert.deepEqual(clock.pending(), [])
  })
})

describe('asking', () => {
  test('every half minute or so; obeyed and acknowledged once', async () => {
    const { orders, give, world, asked, clock, condition } = setUp()
    world.orders = [give({ type: 'drain' })]
    await orders.open()
    assert.equal(condition(), 'draining')
    const [control, seen] = asked
    assert.equal(control, `/v1/control/${agent}`)
    assert.match(seen ?? '', /^\/v1\/control\/[0-9a-f-]{36}\/seen$/)
    await clock.advanceBy(10 * MINUTE)
    assert.ok(asked.length >= 21 && asked.length <= 27, `${asked.length}`)
    assert.equal(asked.filter((path) => path.endsWith('/seen')).length, 1)
    await orders.close()
    assert.deepEqual(clock.pending(), [])
  })

  test('what was not acknowledged is acknowledged later', async () => {
    const { orders, give, world, asked, clock } = setUp()
    world.answer = { ok: false, kind: 'unanswered', code: 'network', detail: 'cut' }
    orders.hear(give({ type: 'pause' }))
    await orders.open()
    await clock.advanceBy(MINUTE)
    const tried = asked.filter((path) => path.endsWith('/seen')).length
    assert.ok(tried >= 2)
    world.answer = undefined
    await clock.advanceBy(5 * MINUTE)
    assert.equal(asked.filter((path) => path.endsWith('/seen')).length, tried + 1)
    await orders.close()
  })

  test('a hub that answers nonsense changes nothing', async () => {
    const { orders, world, condition } = setUp()
    for (const body of [undefined, {}, { orders: 'all' }, { orders: [{ action: 'pause' }] }]) {
      world.answer = { ok: true, status: 200, body }
      await orders.ask()
    }
    assert.equal(condition(), 'idle')
  })
})
