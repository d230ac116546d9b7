/** A hirer's door on the bus: what the agent has signed counts, all else is asked over HTTP. */
import assert from 'node:assert/strict'
import { openBus } from '@chimera/bus/bus'
import { createBroker } from '@chimera/bus/memory/broker'
import type {
  AgentId,
  CorrelationId,
  IdempotencyKey,
  InstanceId,
  TaskId,
} from '@chimera/domain/ids'
import type { WorkAsked } from '@chimera/domain/work/work'
import { createSeededChance } from '@chimera/host/chance'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import { describe, test } from 'vitest'
import type { Door } from '../hire/door.ts'
import { doorOnBus } from './hiring.ts'

const SELF = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11' as AgentId
const AGENT = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d12' as AgentId
const INSTANCE = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d13' as InstanceId
const TASK = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d14' as TaskId
const place = { id: AGENT, endpoint: 'http://127.0.0.1:1' }
const [mine, theirs, others] = [generateKeyPair(), generateKeyPair(), generateKeyPair()]
const LIMITS = { timeoutMs: 10_000 }
const asked: WorkAsked = {
  type: 'ask_work',
  task: TASK,
  claimedRequester: SELF,
  skill: 'word_count',
  input: { text: 'x' },
  key: TASK as string as IdempotencyKey,
  correlation: TASK as string as CorrelationId,
  priority: 5,
}
const names = {
  protocol_version: '1.0.0',
  request_id: TASK,
  responder_agent_id: AGENT,
  correlation_id: TASK,
  timestamp: '2026-02-06T16:30:00Z',
}
const accepted = { ...names, response_status: 'accepted', collaboration_id: TASK }
const ended = { ...names, collaboration_id: TASK, result_status: 'cancelled' }

async function open() {
  const clock = createVirtualClock()
  const broker = createBroker({ clock })
  const chance = createSeededChance(1)
  const [bus, agent] = [broker, broker].map(({ dial }) => openBus({ dial, clock, chance }))
  assert.ok(bus && agent)
  const overHttp: string[] = []
  const http = {
    look: { kind: 'accepted' } as Awaited<ReturnType<Door['look']>>,
  }
  const note = (name: string) => async () => {
    overHttp.push(name)
    return http.look
  }
  const door = doorOnBus(
    {
      ask: note('ask'),
      look: note('look'),
      cancel: note('cancel'),
      offer: note('offer'),
      close: async () => {},
    } as unknown as Door,
    {
      bus,
      agent: SELF,
      key: () => mine,
      isSigned: async (_, message) => verifyMessage(message, theirs.publicKey, createKeyring()).ok,
      clock,
    },
  )
  /** An agent that answers each of these in this way. */
  const answers = (subject: string, answer: object, by = theirs): object[] => {
    const heard: object[] = []
    const hearing = agent.subscribe(subject)
    void (async () => {
      for await (const { bytes, reply } of hearing) {
        heard.push(JSON.parse(Buffer.from(bytes).toString()) as object)
        reply?.(Buffer.from(JSON.stringify(signMessage(answer, by))))
      }
    })()
    return heard
  }
  const say = (message: object): void => {
    const subject = `openclaw.result.${AGENT}.${SELF}`
    agent.publish({ subject, bytes: Buffer.from(JSON.stringify(message)) })
  }
  await clock.advanceBy(0)
  return { clock, broker, door, http, overHttp, answers, say }
}

const REQUEST = `openclaw.request.${SELF}.${AGENT}`

describe('an ask', () => {
  test('that the agent answers is signed, of now, and goes nowhere else', async () => {
    const { door, answers, overHttp, clock } = await open()
    const heard = answers(REQUEST, accepted)
    await clock.advanceBy(5_000)
    assert.deepEqual(await door.ask(place, asked, LIMITS), { kind: 'accepted' })
    const [message] = heard as { timestamp: string }[]
    assert.ok(verifyMessage(message ?? {}, mine.publicKey, createKeyring()).ok)
    assert.equal(Date.parse(message?.timestamp ?? ''), clock.now())
    assert.deepEqual(overHttp, [])
  })

  // biome-ignore format: a table is read by its columns
  const rows: [why: string, prepare: (town: Awaited<ReturnType<typeof open>>) => unknown][] = [
    ['nobody hears',                () => undefined],
    ['somebody else answers',       ({ answers }) => answers(REQUEST, accepted, others)],
    ['is answered with no answer',  ({ answers }) => answers(REQUEST, { code: 'unauthenticated' })],
    ['finds no broker',             ({ broker }) => broker.stop()],
  ]
  for (const [why, prepare] of rows) {
    test(`that ${why} is asked over HTTP`, async () => {
      const town = await open()
      prepare(town)
      await town.clock.advanceBy(0)
      assert.deepEqual(await town.door.ask(place, asked, LIMITS), { kind: 'accepted' })
      assert.deepEqual(town.overHttp, ['ask'])
    })
  }

  test('of who takes jobs alone is asked over HTTP', async () => {
    const { door, answers, overHttp } = await open()
    answers(REQUEST, accepted)
    await door.ask({ ...place, byJobs: true }, asked, LIMITS)
    assert.deepEqual(overHttp, ['ask'])
  })
})

describe('a look', () => {
  test('hears a result that was said before, or is said while it waits', async () => {
    const { door, say, overHttp, clock } = await open()
    say(ended)
    await clock.advanceBy(0)
    assert.equal((await door.look(place, asked, LIMITS)).kind, 'ended')
    assert.deepEqual(overHttp, [])
    const later = { ...asked, task: INSTANCE as string as TaskId }
    const other = await open()
    other.http.look = { kind: 'silent', code: 'network', detail: 'cut' }
    const looking = other.door.look(place, later, LIMITS)
    await other.clock.advanceBy(3_000)
    other.say({ ...ended, request_id: INSTANCE })
    await other.clock.advanceBy(0)
    assert.equal((await looking).kind, 'ended')
  })

  test('says what HTTP says, where the bus says nothing or of somebody else', async () => {
    const { door, say, http, clock } = await open()
    say({ ...ended, responder_agent_id: SELF })
    await clock.advanceBy(0)
    assert.deepEqual(await door.look(place, asked, LIMITS), { kind: 'accepted' })
    http.look = { kind: 'silent', code: 'network', detail: 'cut' }
    const looking = door.look(place, { ...asked, task: INSTANCE as string as TaskId }, LIMITS)
    await clock.advanceBy(5_000)
    assert.equal((await looking).kind, 'silent')
  })
})

test('OC-18 a cancel and AV-8 an offer go to the agent, and over HTTP without it', async () => {
  const { door, answers, overHttp } = await open()
  const to = { agent: AGENT, instance: INSTANCE, callback: 'http://127.0.0.1:1' }
  await door.cancel(place, asked, LIMITS)
  await door.offer(to, {}, LIMITS)
  assert.deepEqual(overHttp, ['cancel', 'offer'])
  answers(`openclaw.cancel.${SELF}.${AGENT}`, ended)
  answers(`moltbook.reserve.${INSTANCE}`, { accepted: true })
  assert.equal((await door.cancel(place, asked, LIMITS)).kind, 'ended')
  const ack = await door.offer(to, {}, LIMITS)
  assert.equal(ack.ok, true)
  assert.equal(overHttp.length, 2)
})
