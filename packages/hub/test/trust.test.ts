/** Trust against a real hub: told with its reasons, on request, after each outcome and daily. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReputationUpdate, type ScoreObserved } from '@chimera/dialects/openclaw'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  OwnerId,
  TaskId,
  TransferId,
} from '@chimera/domain/ids'
import type { MoneyCommand } from '@chimera/domain/money/money'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { runHub, type TestHub } from './running.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const START = Date.UTC(2027, 0, 1)

type Change = {
  readonly seq: number
  readonly work_id: string
  readonly hirer_owner_id: string
  readonly ended: string
  readonly window: Moved
  readonly running: Moved
}
type Moved = { counted: boolean; before: number; after: number; reasons: string[] }
type Trust = {
  readonly window: Record<string, number>
  readonly running: Record<string, number>
  readonly through_seq: number
  readonly changes: readonly Change[]
  readonly next_before?: number
}

async function register(hub: TestHub, owner: string): Promise<AgentId> {
  const agent_id = randomUUID()
  const { status } = await hub.post('/register', {
    agent_id,
    agent_name: 'Counter',
    owner_id: owner,
    api_endpoint: 'https://counter.example.org/jobs',
    skills: [{ skill_name: `skill_${agent_id.slice(0, 8)}`, cost_per_call: 0.05 }],
  })
  assert.equal(status, 201)
  return agent_id as string as AgentId
}

/** Paid without a hold, and reported by who paid (CH-14). */
async function work(hub: TestHub, agent: AgentId, { from, to }: { from: string; to: string }) {
  const job_id = randomUUID()
  await hub.post('/accounts', { owner_id: from })
  const paid = await hub.post('/transfer', {
    transfer_id: randomUUID(),
    from_owner: from,
    to_owner: to,
    amount: 0.05,
    job_id,
    timestamp_utc: new Date(START).toISOString(),
  })
  assert.equal(paid.status, 200)
  const reported = await hub.post(`/reputation/${agent}/success?job_id=${job_id}`)
  assert.equal(reported.status, 200)
  return job_id
}

type Hire = {
  readonly agent: AgentId
  readonly payee: string
  readonly payer: string
  readonly hirer?: AgentId
  readonly fails?: boolean
}

/** Held, accepted, and ended by the agent: in a payment, or in its failure. */
async function hire({ hub }: TestHub, { agent, payee, payer, hirer, fails }: Hire) {
  const hold = randomUUID() as string as HoldId
  const owner = payer as OwnerId
  const parties = { hold, payer: owner, payee: payee as OwnerId, agent, by: owner }
  const task = randomUUID() as string as TaskId
  const asked = { ...parties, task, amountCents: 10, lapsesAt: hub.now() + HOUR_MS }
  const transfer = randomUUID() as string as TransferId
  const steps: readonly MoneyCommand[] = [
    { type: 'hold_credits', ...asked, ...(hirer && { hirer }) },
    { type: 'confirm_hold', hold, agent, priceCents: 10 },
    fails
      ? { type: 'release_hold', hold, agent, because: 'failed' }
      : { type: 'capture_hold', hold, agent, transfer, amountCents: 10 },
  ]
  for (const step of steps) {
    const decision = await hub.keep.money.submit(step, task as string as CorrelationId)
    assert.ok(decision.ok, JSON.stringify([step, decision]))
  }
  await hub.settle()
  return task
}

const trustOf = async (hub: TestHub, agent: string, query = ''): Promise<Trust> => {
  const { status, body } = await hub.get(`/v1/trust/${agent}${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body as unknown as Trust
}

function listen(hub: TestHub) {
  const heard: ScoreObserved[] = []
  hub.hub.heard.subscribe('reputation', (message) => {
    const read = readReputationUpdate(message)
    assert.ok(read.ok, JSON.stringify(read))
    heard.push(read.value)
  })
  return { heard, of: (agent: AgentId) => heard.filter((each) => each.agent === agent) }
}

const clock = createVirtualClock({ startAt: START })
let hub: TestHub
beforeAll(async () => {
  hub = await runHub({ clock })
}, 60_000)
afterAll(() => hub.stop())

describe('P-6 scores with their reasons', () => {
  test('a newcomer has both scores, no rates and no changes', async () => {
    const agent = await register(hub, 'ann')
    const { window, running, changes, next_before } = await trustOf(hub, agent)
    assert.deepEqual(window, { score: 0.5, outcomes: 0, completed: 0, failed: 0 })
    assert.deepEqual(running, { score: 50, successes: 0, failures: 0 })
    assert.deepEqual([changes, next_before], [[], undefined])
  })

  test('CH-10 CH-12 each outcome is there with its work, its hirer, and its reasons', async () => {
    const agent = await register(hub, 'carl')
    const first = await work(hub, agent, { from: 'dora', to: 'carl' })
    const { window, running, changes } = await trustOf(hub, agent)
    assert.deepEqual([running.score, running.successes, window.score], [51, 1, 1])
    assert.equal(changes.length, 1)
    const { seq: _, at, ...change } = changes[0] as Change & { at: string }
    assert.equal(Date.parse(at) >= START, true)
    assert.deepEqual(change, {
      work_id: first,
      hirer_owner_id: 'dora',
      ended: 'done',
      window: { counted: true, before: 0.5, after: 1, reasons: ['done'] },
      running: { counted: true, before: 50, after: 51, reasons: ['done', 'hirer_unregistered'] },
    })
  })

  test('CH-12 the eleventh success of a pair moves one score; the other says why not', async () => {
    const agent = await register(hub, 'emil')
    for (let times = 0; times < 11; times += 1) await work(hub, agent, { from: 'fay', to: 'emil' })
    const { running, window, changes } = await trustOf(hub, agent)
    assert.deepEqual([running.successes, window.completed], [10, 11])
    const [last] = changes
    assert.deepEqual([last?.running.counted, last?.running.reasons], [false, ['pair_limit']])
    assert.equal(last?.running.before, last?.running.after)
    assert.equal(last?.window.counted, true)
  })

  test('CH-10 a hirer that is an agent counts with its score before the settlement', async () => {
    const hirer = await register(hub, 'gus')
    await work(hub, hirer, { from: 'hal', to: 'gus' })
    const agent = await register(hub, 'ida')
    await hire(hub, { agent, payee: 'ida', payer: 'gus', hirer })
    const { running, changes } = await trustOf(hub, agent)
    // 50 + 2 × 51 / 100, while the hirer's own score stays where it was.
    assert.equal(running.score, 51.02)
    assert.deepEqual(changes[0]?.running.reasons, ['done'])
    assert.equal((changes[0] as { hirer_agent_id?: string }).hirer_agent_id, hirer)
    assert.equal((await trustOf(hub, hirer)).running.score, 51)
  })

  test('a failure costs points, and says whose word it is by', async () => {
    const { of } = listen(hub)
    const agent = await register(hub, 'vera')
    await register(hub, 'wim')
    const task = await hire(hub, { agent, payee: 'vera', payer: 'wim', fails: true })
    const { running, window, changes } = await trustOf(hub, agent)
    assert.deepEqual([running.score, running.failures, window.failed], [45.5, 1, 1])
    assert.equal(changes[0]?.ended, 'failed')
    assert.deepEqual(changes[0]?.running.reasons, ['failed_agent'])
    assert.deepEqual(
      of(agent).map(({ update, work, correlation }) => [update, work, correlation]),
      [['failed', task, task]],
    )
  })

  test('work within one owner moves the window alone', async () => {
    const agent = await register(hub, 'xena')
    const other = await register(hub, 'xena')
    await hire(hub, { agent, payee: 'xena', payer: 'xena', hirer: other, fails: true })
    const { running, window, changes } = await trustOf(hub, agent)
    assert.deepEqual([running.score, window.failed], [50, 1])
    assert.deepEqual(changes[0]?.running.reasons, ['same_owner'])
  })

  test('page by page, the latest first, and never twice', async () => {
    const agent = await register(hub, 'jo')
    const done: string[] = []
    for (let times = 0; times < 5; times += 1) {
      done.push(await work(hub, agent, { from: `payer-${times}`, to: 'jo' }))
    }
    const read: string[] = []
    let query = '?limit=2'
    for (;;) {
      const { changes, next_before } = await trustOf(hub, agent, query)
      read.push(...changes.map(({ work_id }) => work_id))
      if (next_before === undefined) break
      query = `?limit=2&before=${next_before}`
    }
    assert.deepEqual(read, done.reverse())
  })

  // biome-ignore format: a table is read by its columns
  const refused: [what: string, path: string, status: number, code: string][] = [
    ['an unknown agent',  `/v1/trust/${randomUUID()}`,         404, 'agent_unknown'],
    ['no uuid',           '/v1/trust/somebody',                404, 'agent_unknown'],
    ['a page too large',  `/v1/trust/${randomUUID()}?limit=51`, 400, 'message_malformed'],
    ['a misspelt word',   `/v1/trust/${randomUUID()}?befor=3`,  400, 'message_malformed'],
  ]
  for (const [what, path, status, code] of refused) {
    test(`${what} is refused`, async () => {
      const answer = await hub.get(path)
      assert.deepEqual([answer.status, answer.body.code], [status, code])
    })
  }
})

describe('P-2 the price of a ring', () => {
  test('is published with the settings of the hub, and says that it is nothing', async () => {
    const { status, body } = await hub.get('/v1/trust/ring-cost')
    assert.equal(status, 200)
    const { fee_percent, grant, rings, note } = body
    assert.deepEqual([fee_percent, grant], [0, 100])
    const [pair] = rings as { owners: number; settlements: number; fees: number }[]
    assert.deepEqual([pair?.owners, pair?.settlements, pair?.fees], [2, 19, 0])
    assert.match(String(note), /costs nothing/)
  })

  test('a fee is in it, and is kept of each payment for work', async () => {
    const dear = await runHub({ clock, settlementFee: 250, grant: 1 })
    try {
      const { body } = await dear.get('/v1/trust/ring-cost')
      const [pair] = body.rings as { fees: number; settlements: number; granted: number }[]
      assert.deepEqual([body.fee_percent, pair?.fees, pair?.granted], [2.5, 0.19, 2])
      const agent = await register(dear, 'kim')
      await work(dear, agent, { from: 'lou', to: 'kim' })
      const { balance } = (await dear.get('/accounts/kim')).body
      assert.equal(balance, 1.04)
    } finally {
      await dear.stop()
    }
  }, 60_000)
})

describe('OC-9 reputation is told', () => {
  test('after each outcome: what it was, of which work, and the figures after it', async () => {
    const { of } = listen(hub)
    const agent = await register(hub, 'max')
    const jobs = [
      await work(hub, agent, { from: 'ned', to: 'max' }),
      await work(hub, agent, { from: 'ned', to: 'max' }),
    ]
    assert.deepEqual(
      of(agent).map((each) => [each.update, each.work, each.claimed.totalCount]),
      [
        ['done', jobs[0], 1],
        ['done', jobs[1], 2],
      ],
    )
    assert.equal(of(agent)[0]?.claimed.scoreMicro, 1_000_000)
  })

  test('a report that counts nothing tells nothing', async () => {
    const { of } = listen(hub)
    const agent = await register(hub, 'oda')
    const job = await work(hub, agent, { from: 'pia', to: 'oda' })
    assert.equal((await hub.post(`/reputation/${agent}/success?job_id=${job}`)).status, 200)
    assert.equal(of(agent).length, 1)
  })

  test('daily: no 24 hours pass without, once each, also across restarts', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'chimera-told-'))
    const data = join(directory, 'data')
    let now = START
    const told: { at: number; agent: AgentId; update: string }[] = []
    const begin = async () => {
      const own = createVirtualClock({ startAt: now })
      const running = await runHub({ clock: own, data })
      running.hub.heard.subscribe('reputation', (message) => {
        const read = readReputationUpdate(message)
        assert.ok(read.ok)
        told.push({ at: own.now(), agent: read.value.agent, update: read.value.update })
      })
      const until = async (at: number) => {
        // Far steps, and at their end minutes: the database answers in real time, in which a look
        // of the hub's is not done before the clock has moved on.
        while (own.now() < at) {
          const left = at - own.now()
          await own.advanceBy(left > 12 * MINUTE_MS ? left - 12 * MINUTE_MS : MINUTE_MS)
          for (let times = 0; times < 3; times += 1) await running.hub.keep.check()
        }
        now = own.now()
      }
      return { ...running, until }
    }
    try {
      let running = await begin()
      const quiet = await register(running, 'quinn')
      const busy = await register(running, 'rita')
      await running.until(START + HOUR_MS)
      await work(running, busy, { from: 'sam', to: 'rita' })
      await running.until(START + 24 * HOUR_MS)
      const days = (agent: AgentId) => told.filter((each) => each.agent === agent)
      assert.deepEqual(
        days(quiet).map(({ update }) => update),
        ['periodic'],
      )
      assert.deepEqual(
        days(busy).map(({ update }) => update),
        ['done'],
      )

      // A restart tells nothing again.
      await running.stop()
      running = await begin()
      await running.until(START + 25 * HOUR_MS)
      assert.equal(days(quiet).length, 1)
      assert.deepEqual(
        days(busy).map(({ update }) => update),
        ['done', 'periodic'],
      )

      // A day that nobody ran is made up for once, at the start.
      await running.stop()
      now = START + 72 * HOUR_MS
      running = await begin()
      await running.until(now + 2 * MINUTE_MS)
      assert.deepEqual([days(quiet).length, days(busy).length], [2, 3])
      await running.stop()
      for (const agent of [quiet, busy]) {
        const times = [START, ...days(agent).map(({ at }) => at)].filter(
          (at) => at < START + 30 * HOUR_MS,
        )
        for (const [index, at] of times.entries()) {
          assert.ok(index === 0 || at - (times[index - 1] ?? 0) <= 24 * HOUR_MS)
        }
      }
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }, 120_000)

  test('what was settled and not told when a hub stopped is told at the next start', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'chimera-told-'))
    const data = join(directory, 'data')
    try {
      const first = await runHub({ clock, data })
      const agent = await register(first, 'tom')
      // As if the process had ended between the settlement and the telling.
      Object.assign(first.hub.keep.told, { claimOutcomes: () => Promise.reject(new Error('gone')) })
      const { of } = listen(first)
      const job = await work(first, agent, { from: 'uli', to: 'tom' })
      assert.equal(of(agent).length, 0)
      await first.stop()
      const second = await runHub({ clock, data })
      const next = listen(second)
      await second.hub.settle()
      assert.deepEqual(
        next.of(agent).map((each) => each.work),
        [job],
      )
      await second.hub.settle()
      assert.equal(next.of(agent).length, 1)
      const before = await trustOf(second, agent)
      await second.stop()
      assert.equal(before.changes[0]?.work_id, job, 'V2 the reasons are there after a restart')
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }, 60_000)
})
