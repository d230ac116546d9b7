/** The thread that a town lives in; started by town.ts. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import type { Agent } from '@chimera/domain/agent/agent'
import { NO_KEYS } from '@chimera/domain/agent/keys'
import type { AgentId, CorrelationId, InstanceId, OwnerId } from '@chimera/domain/ids'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { defaultsOf } from '@chimera/host/settings/declare'
import { createStop } from '@chimera/host/stop'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { startHub } from '@chimera/hub/start'
import type { FastifyInstance } from 'fastify'
import { COMMON, SKILLS, skillNamed, type TownOpened, type TownWanted } from './town.ts'

type Hub = Awaited<ReturnType<typeof startHub>>['hub']

const POST_MS = 10_000
const BEAT_MS = 30_000
const WAIT_MS = 3_600_000
// Often enough that what is due at once is soon done.
const TICK_MS = 5

/** Numbers from 0 up to but not including `most`, the same ones in every run. */
function createDice(): (most: number) => number {
  let state = 1
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
  return getHeapStatistics().used_heap_size
}

function* agentsOf(count: number, roll: (most: number) => number): Iterable<Agent> {
  for (let number = 0; number < count; number += 1) {
    const digits = String(number).padStart(12, '0')
    const first = roll(SKILLS)
    const offered = [COMMON, skillNamed(first)]
    for (const step of [7, 31]) offered.push(skillNamed((first + step) % SKILLS))
    yield {
      id: `550e8400-e29b-41d4-a716-${digits}` as AgentId,
      owner: `owner-${number % 5_000}` as OwnerId,
      name: `Agent ${number}`,
      endpoint: `https://agent-${number}.example.org/jobs`,
      skills: offered.map((name) => ({
        name,
        version: { major: 1, minor: 0 },
        description: 'Does what its name says, in about a second',
        priceCents: 1 + roll(100),
      })),
      keys: NO_KEYS,
      aliases: [],
      registeredAt: 0,
    }
  }
}

/** The trail that gives an agent its score. */
function work(hub: Hub, { id, owner }: Agent, roll: (most: number) => number): void {
  const count = roll(2) === 0 ? 0 : 1 + roll(12)
  for (let piece = 0; piece < count; piece += 1) {
    const hold = `${id}/${piece}`
    // Each hirer hires it once, so that all of it counts.
    const payer = `hirer-${piece}`
    const terms = { id: hold, payer, payee: owner, agent: id, task: hold, at: 0 }
    const end =
      roll(8) === 0
        ? { type: 'hold_released', hold, because: 'failed', at: 0 }
        : { type: 'hold_captured', hold, payment: { amountCents: 5 }, at: 0 }
    for (const fact of [{ type: 'credits_held', hold: terms, at: 0 }, end]) {
      const seq = hub.scores.seq() + 1
      const correlation = hold as CorrelationId
      hub.scores.follow([
        { fact, recordedAt: 0, correlation, seq, prev: '' as never, hash: '' as never },
      ])
    }
  }
}

function post(hub: Hub, agent: AgentId, roll: (most: number) => number): void {
  const now = hub.now()
  const slotsFree = roll(5)
  const announcement = {
    agent,
    instance: `6${agent.slice(1)}` as InstanceId,
    availability: slotsFree === 0 ? 'busy' : 'available',
    capabilities: [COMMON],
    slotsTotal: 4,
    slotsFree,
    load: { cpu: roll(100) / 100, mem: roll(100) / 100 },
    signedAt: now,
    expiresAt: now + 3 * POST_MS,
    correlation: 't' as CorrelationId,
  } as const
  hub.presence.announce(announcement, now)
}

/** Each in its turn, as many in a tick as the time that has passed since asks for. */
function live<Item>(
  items: readonly Item[],
  everyMs: number,
  act: (item: Item) => void,
): () => void {
  const startedAt = performance.now()
  let done = 0
  return () => {
    const wanted = ((performance.now() - startedAt) / everyMs) * items.length
    for (; done < wanted; done += 1) {
      const item = items[done % items.length]
      if (item !== undefined) act(item)
    }
  }
}

async function open({ agents: count, paths = [] }: TownWanted): Promise<TownOpened> {
  const clock = createClock()
  const log = createLog({ clock, name: 'hub', level: 'silent' })
  const answers: Buffer[] = []
  let app: FastifyInstance | undefined
  const { hub, address } = await startHub({
    settings: {
      ...defaultsOf(HUB_SETTINGS),
      listen: { host: '127.0.0.1', port: 0 },
      data: ':memory:',
      logLevel: 'silent',
      requestsPerMinute: 0,
      strangersPerMinute: 0,
      maxDelay: 0,
      // While one side is measured, the connections of the other wait.
      requestTimeout: WAIT_MS,
      idleTimeout: WAIT_MS,
    },
    clock,
    chance: createChance(),
    log,
    stop: createStop({ clock }),
    extend(extended) {
      app = extended
      const config = { public: true }
      extended.get<{ Params: { number: string } }>('/same/:number', { config }, (request, reply) =>
        reply.type('application/json; charset=utf-8').send(answers[Number(request.params.number)]),
      )
    },
  })
  const roll = createDice()
  const before = heapBytes()
  const startedAt = performance.now()
  const ids: AgentId[] = []
  for (const agent of agentsOf(count, roll)) {
    work(hub, agent, roll)
    hub.directory.enter(agent, hub.now())
    ids.push(agent.id)
    if (ids.length % 10 === 0) post(hub, agent.id, roll)
  }
  const enteredMs = performance.now() - startedAt
  const bytesPerAgent = (heapBytes() - before) / count

  const posting = ids.filter((_, at) => at % 10 === 9)
  const beating = ids.filter((_, at) => at % 10 !== 9)
  const posts = live(posting, POST_MS, (id) => post(hub, id, roll))
  const beats = live(beating, BEAT_MS, (id) => hub.directory.beat(id, hub.now()))
  setInterval(() => {
    posts()
    beats()
  }, TICK_MS)
  for (const path of paths) {
    const answer = await app?.inject(path)
    if (answer?.statusCode !== 200) throw new Error(`${path}: ${answer?.body}`)
    answers.push(answer.rawPayload)
  }
  return { port: Number(new URL(address).port), bytesPerAgent, enteredMs }
}

const opened = await open(workerData.given as TownWanted)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(opened)
