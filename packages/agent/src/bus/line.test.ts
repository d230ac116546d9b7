/** The line to the broker and what goes over it: opened late, logged once, another way if away. */
import assert from 'node:assert/strict'
import { openBus } from '@chimera/bus/bus'
import { createBroker } from '@chimera/bus/memory/broker'
import { refuse } from '@chimera/domain/decision'
import type { AgentId, InstanceId, OwnerId, ReservationId, TaskId } from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import { createLog } from '@chimera/host/log'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { describe, test } from 'vitest'
import type { Known, Network } from '../ports.ts'
import { createLine } from './line.ts'
import { KEPT_STREAMS, withBus } from './network.ts'
import type { BusOption } from './port.ts'
import { createProof } from './proof.ts'

const AGENT = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11' as AgentId
const PLANNER = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d12' as AgentId
const INSTANCE = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d13' as InstanceId
const TASK = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d14' as TaskId

function setUp(wrap: (open: () => BusOption) => BusOption = (open) => open()) {
  const clock = createVirtualClock()
  const chance = createSeededChance(3)
  const broker = createBroker({ clock })
  const logged: string[] = []
  const destination = {
    write: (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg),
  }
  const log = createLog({ clock, name: 'agent', destination })
  const { dial } = broker
  const hub = openBus({ dial, clock, chance, streams: [...KEPT_STREAMS] })
  const own = () => openBus({ dial, clock, chance, streams: [...KEPT_STREAMS] })
  const grant = async () => assert.fail('nobody asks')
  const needs = { name: 'agent', instance: INSTANCE, clock, chance, streams: KEPT_STREAMS, grant }
  const line = createLine({ bus: wrap(() => () => own()), needs, clock, log })
  return { clock, chance, broker, hub, line, logged, own }
}

const bytesOf = (message: unknown): Uint8Array => Buffer.from(JSON.stringify(message))

describe('the line', () => {
  test('is opened when it is told to, and hears what it was told to hear', async () => {
    const { clock, hub, line } = setUp()
    const heard: string[] = []
    const deal = async ({ bytes }: { bytes: Uint8Array }) => {
      heard.push(Buffer.from(bytes).toString())
      if (heard.length === 1) throw new Error('of the first')
    }
    line.hear({ topic: 'words', pattern: 'said.*', deal })
    assert.equal(line.bus(), undefined)
    await clock.advanceBy(0)
    await line.open()
    assert.ok(line.bus())
    hub.publish({ subject: 'said.one', bytes: bytesOf(1) })
    hub.publish({ subject: 'said.two', bytes: bytesOf(2) })
    await clock.advanceBy(0)
    assert.deepEqual(heard, ['1', '2'], 'what fails harms nothing after it')
    const closing = line.deafen()
    await clock.advanceBy(2_000)
    await closing
    hub.publish({ subject: 'said.three', bytes: bytesOf(3) })
    await line.close()
    assert.equal(heard.length, 2)
    assert.equal(line.bus(), undefined)
  })

  test('says once that the broker is away, when it lasts, and that it is back', async () => {
    const { clock, broker, line, logged } = setUp()
    await clock.advanceBy(0)
    await line.open()
    broker.stop()
    await clock.advanceBy(1_000)
    broker.start()
    await clock.advanceBy(10_000)
    assert.deepEqual(logged, [], 'a moment is nothing')
    broker.stop()
    await clock.advanceBy(120_000)
    assert.equal(line.bus(), undefined)
    broker.start()
    await clock.advanceBy(10_000)
    assert.deepEqual(logged, [
      'the broker is away: the hub is told over HTTP until it is back',
      'the broker is back',
    ])
    assert.ok(line.bus())
  })

  test('does not wait for ever for a broker that is not there at the start', async () => {
    const { clock, broker, line } = setUp()
    broker.stop()
    const opened = new AbortController()
    void line.open().finally(() => opened.abort())
    await clock.advanceBy(1_000)
    assert.equal(opened.signal.aborted, false)
    await clock.advanceBy(1_500)
    assert.equal(opened.signal.aborted, true)
    broker.start()
    await clock.advanceBy(10_000)
    assert.ok(line.bus())
  })

  test('a bus that cannot be opened is in the log, and the agent lives without it', async () => {
    const { line, logged } = setUp(() => () => assert.fail('no such address'))
    await line.open()
    assert.equal(line.bus(), undefined)
    assert.deepEqual(logged, ['the bus cannot be opened: the hub is told over HTTP'])
    await line.close()
  })

  test('one that was passed in stays open, and who falls behind listens again', async () => {
    const { clock, hub, line, logged, own } = setUp(() => () => assert.fail())
    const passed = own()
    const needs = { name: 'x', instance: INSTANCE, clock, chance: createSeededChance(1) }
    const grant = async () => assert.fail('nobody asks')
    const log = createLog({
      clock,
      name: 'agent',
      destination: { write: (text: string) => void logged.push((JSON.parse(text) as Msg).msg) },
    })
    const mine = createLine({ bus: passed, needs: { ...needs, streams: [], grant }, clock, log })
    const heard: string[] = []
    mine.hear({
      topic: 'flood',
      pattern: 'flood',
      pendingMessages: 2,
      deal: async ({ bytes }) => void heard.push(Buffer.from(bytes).toString()),
    })
    await clock.advanceBy(0)
    await mine.open()
    for (const each of [1, 2, 3, 4, 5]) hub.publish({ subject: 'flood', bytes: bytesOf(each) })
    await clock.advanceBy(2_000)
    assert.ok(heard.length < 5, heard.join())
    assert.deepEqual(logged, ['what is said on the bus was not all heard'])
    hub.publish({ subject: 'flood', bytes: bytesOf('after') })
    await clock.advanceBy(0)
    assert.equal(heard.at(-1), '"after"')
    const closing = mine.deafen()
    await clock.advanceBy(2_000)
    await closing
    await mine.close()
    assert.equal(passed.state().type, 'connected')
    await line.close()
  })
})
type Msg = { readonly msg: string }

describe('what work tells over it', () => {
  const pair = generateKeyPair()
  const self = { agent: AGENT, instance: INSTANCE, owner: 'acme' as OwnerId, key: () => pair }
  const result = signMessage(
    {
      collaboration_id: TASK,
      request_id: TASK,
      responder_agent_id: AGENT,
      requester_agent_id: PLANNER,
      result_status: 'completed',
      output_data: {},
    },
    pair,
  )
  const promised = {
    id: TASK as string as ReservationId,
    planner: PLANNER,
    task: TASK,
    slots: 1,
    lapsesAt: 0,
  }

  async function open() {
    const { clock, chance, broker, hub, line } = setUp()
    const told: string[] = []
    const note = (what: string) => async () => {
      told.push(what)
      return { ok: true } as const
    }
    const network = withBus(
      { report: note('report'), release: note('release') } as unknown as Network,
      { line, self, clock, chance },
    )
    await clock.advanceBy(0)
    await line.open()
    const kept: string[] = []
    for (const pattern of ['openclaw.>', 'moltbook.>']) {
      const hearing = hub.subscribe(pattern)
      void (async () => {
        for await (const { subject } of hearing) kept.push(subject)
      })()
    }
    await clock.advanceBy(0)
    return { clock, broker, network, told, kept }
  }

  test('OC-17 a result goes the way that its request came', async () => {
    const { network, told, kept, clock } = await open()
    assert.deepEqual(await network.report(result, { bus: true }), { ok: true })
    await clock.advanceBy(0)
    assert.deepEqual([told, kept], [[], [`openclaw.result.${AGENT}.${PLANNER}`]])
    await network.report(result)
    const { requester_agent_id: _, ...unnamed } = result
    await network.report(unnamed, { bus: true })
    assert.deepEqual([told, kept.length], [['report', 'report'], 1])
  })

  test('OC-15 a final answer and a notice have their subjects', async () => {
    const { network, told, kept, clock } = await open()
    assert.deepEqual(await network.respond?.(result, PLANNER), { ok: true })
    assert.deepEqual(await network.release(promised.id, promised), { ok: true })
    await clock.advanceBy(0)
    assert.deepEqual(kept.toSorted(), [
      `moltbook.release.${INSTANCE}.${PLANNER}`,
      `openclaw.response.${AGENT}.${PLANNER}`,
    ])
    assert.deepEqual(told, [])
  })

  test('P-3 without the broker the hub is told, and who waits is told later', async () => {
    const { network, told, kept, broker, clock } = await open()
    broker.stop()
    await clock.advanceBy(0)
    await network.report(result, { bus: true })
    await network.release(promised.id, promised)
    await network.release(promised.id)
    assert.deepEqual(told, ['report', 'release', 'release'])
    const answer = await network.respond?.(result, PLANNER)
    assert.deepEqual(answer, refuse('service_unavailable', { retryAt: clock.now() + 2_000 }))
    assert.deepEqual(kept, [])
  })
})

describe('who sent a message', () => {
  const [pair, next] = [generateKeyPair(), generateKeyPair()]
  const now = Date.UTC(2026, 1, 6)
  const owner = 'acme' as OwnerId
  const signed = (at = now, by = pair) => ({ message: signMessage({ at }, by), signedAt: at })
  type Answer = Known | undefined | ReturnType<typeof refuse<'service_unavailable'>>

  // biome-ignore format: a table is read by its columns
  const rows: [why: string, answers: (fresh: boolean) => Answer, given: ReturnType<typeof signed>, verdict: string][] = [
    ['the key that the hub has',       () => ({ owner, publicKey: pair.publicKey }),                                  signed(),                'ok'],
    ['a key of a moment ago',          (fresh) => ({ owner, publicKey: (fresh ? next : pair).publicKey }),            signed(now, next),       'ok'],
    ['another key',                    () => ({ owner, publicKey: next.publicKey }),                                  signed(),                'signature_invalid'],
    ['an agent without a key',         () => ({ owner }),                                                             signed(),                'signature_invalid'],
    ['nobody that the hub knows',      () => undefined,                                                               signed(),                'signature_invalid'],
    ['a hub that does not answer',     () => refuse('service_unavailable'),                                           signed(),                'service_unavailable'],
    ['a minute and a second ago',      () => ({ owner, publicKey: pair.publicKey }),                                  signed(now - 61_000),    'message_expired'],
    ['half a minute ahead, and more',  () => ({ owner, publicKey: pair.publicKey }),                                  signed(now + 30_001),    'message_early'],
  ]
  for (const [why, answers, { message, signedAt }, verdict] of rows) {
    test(`${why}: ${verdict}`, async () => {
      const prove = createProof({ agent: async (_, fresh = false) => answers(fresh) }, () => now)
      const proven = await prove(message, { by: PLANNER, signedAt })
      assert.equal(proven.ok ? 'ok' : proven.refusal, verdict)
    })
  }

  test('X-9 once, and nobody when too many are remembered', async () => {
    const agent = async () => ({ owner, publicKey: pair.publicKey })
    const prove = createProof({ agent }, () => now, 2)
    const say = async ({ message, signedAt }: ReturnType<typeof signed>) => {
      const proven = await prove(message, { by: PLANNER, signedAt })
      return proven.ok ? 'ok' : proven.refusal
    }
    const said = [signed(), signed(), signed(now - 1), signed(now - 2)].map(say)
    assert.deepEqual(await Promise.all(said), [
      'ok',
      'message_replayed',
      'ok',
      'service_unavailable',
    ])
  })
})
