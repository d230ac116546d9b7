/** The handshake on a virtual clock, with a hub that is slow, away or says no (AV-8). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { encodeReserveOffer, readReserveAck } from '@chimera/dialects/moltbook'
import { refuse } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  InstanceId,
  OwnerId,
  ReservationId,
  TaskId,
} from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import { describe, test } from 'vitest'
import { createHubStub } from '../../test/working.ts'
import type { Network } from '../ports.ts'
import { createDesk } from './desk.ts'
import { createReserving } from './reserving.ts'

function createStage(present?: Network['present']) {
  const clock = createVirtualClock()
  const [planner, own] = [generateKeyPair(), generateKeyPair()]
  const instance = randomUUID() as InstanceId
  const desk = createDesk({ instance, slots: 2 })
  const stub = createHubStub().network
  let asked = 0
  const network: Network = {
    ...stub,
    agent: async () => ({ owner: 'ann' as OwnerId, publicKey: planner.publicKey }),
    present: async (offer, signal) => {
      asked += 1
      return (present ?? stub.present)(offer, signal)
    },
  }
  const condition = { accepting: true }
  const reserving = createReserving({
    self: { agent: randomUUID() as AgentId, instance, owner: 'acme' as OwnerId, key: () => own },
    network,
    desk,
    clock,
    chance: createSeededChance(3),
    accepting: () => condition.accepting,
    changed: () => undefined,
  })
  const offer = (slots = 1) =>
    signMessage(
      encodeReserveOffer({
        type: 'reserve_slots',
        planner: randomUUID() as AgentId,
        task: randomUUID() as TaskId,
        instance,
        slots,
        deadline: clock.now() + 600_000,
        maxCostCents: 5,
        correlation: 'trace' as CorrelationId,
        signedAt: clock.now(),
        expiresAt: clock.now() + 30_000,
      }),
      planner,
    )
  async function ackOf(message: object) {
    const acked = await reserving.offer(message)
    assert.ok(acked.ok)
    assert.ok(verifyMessage(acked.ack, own.publicKey, createKeyring()).ok, 'signed by the agent')
    const read = readReserveAck(acked.ack)
    assert.ok(read.ok)
    return read.value
  }
  const free = () => desk.workload(clock.now()).slotsFree
  return { clock, desk, offer, ackOf, reserving, free, condition, asked: () => asked }
}

describe('AV-8 an offer', () => {
  test('takes its slots, and frees them when nobody comes', async () => {
    const stage = createStage()
    const ack = await stage.ackOf(stage.offer(2))
    assert.ok(ack.accepted)
    assert.equal(ack.lapsesAt, stage.clock.now() + 30_000)
    assert.equal(stage.free(), 0)
    await stage.clock.advanceBy(30_000)
    assert.equal(stage.free(), 2)
  })

  test('gets the same ack again, and the hub is asked once', async () => {
    const stage = createStage()
    const message = stage.offer()
    const [one, other] = await Promise.all([
      stage.reserving.offer(message),
      stage.reserving.offer(message),
    ])
    assert.deepEqual(one, other)
    assert.deepEqual(await stage.reserving.offer(message), one)
    assert.deepEqual([stage.asked(), stage.free()], [1, 1])
  })

  test('is declined when there is no room, and the hub is not troubled', async () => {
    const stage = createStage()
    await stage.ackOf(stage.offer(2))
    const ack = await stage.ackOf(stage.offer())
    assert.ok(!ack.accepted && ack.refusal === 'slots_exhausted')
    assert.equal(stage.asked(), 1)
  })

  test('P-1 without credits takes no slot either', async () => {
    const stage = createStage(async () => refuse('funds_short'))
    const ack = await stage.ackOf(stage.offer())
    assert.ok(!ack.accepted && ack.refusal === 'funds_short')
    assert.equal(stage.free(), 2)
  })

  test('is answered within 3 s though the hub is silent', async () => {
    const silent: Network['present'] = (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(refuse('service_unavailable')))
      })
    const stage = createStage(silent)
    const acking = stage.ackOf(stage.offer())
    await stage.clock.advanceBy(2_999)
    const ack = await acking
    assert.ok(!ack.accepted)
    assert.equal(stage.free(), 2)
  })

  test('is declined by an agent that takes no work', async () => {
    const stage = createStage()
    stage.condition.accepting = false
    const ack = await stage.ackOf(stage.offer())
    assert.ok(!ack.accepted && ack.refusal === 'draining')
  })

  test('that is none is refused without an ack', async () => {
    const { reserving, offer } = createStage()
    const { task_id: _, ...rest } = offer() as Record<string, unknown>
    const refused = await reserving.offer(rest)
    assert.ok(!refused.ok && refused.refusal === 'message_malformed')
  })

  test('P-1 several at once are promised no more than there is', async () => {
    const stage = createStage(async () => ({
      ok: true,
      reservation: randomUUID() as ReservationId,
      lapsesAt: Number.MAX_SAFE_INTEGER,
    }))
    const acks = await Promise.all(Array.from({ length: 10 }, () => stage.ackOf(stage.offer())))
    assert.equal(acks.filter(({ accepted }) => accepted).length, 2)
  })
})
