/**
 * A hire is cut at every step that the agent takes, before and after it, on a real hub and a real
 * database; then the agent comes back, and the hirer asks again. Whatever the step:
 *
 *   the work ends once, and one result of it counts;
 *   it is paid once, and nothing stays put aside;
 *   a skill that must not run twice does not, and no other runs more than once for each life;
 *   all slots are free, and the score has heard of it once.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TaskId } from '@chimera/domain/ids'
import type { Party } from '@chimera/hub/testing/hiring'
import { createHolding, type Holding } from '@chimera/hub/testing/holding'
import { type Receiver, startReceiver } from '@chimera/hub/testing/receiving'
import { type HubWanted, runHub, type TestHub } from '@chimera/hub/testing/running'
import { type AgentStore, openAgentStore } from '@chimera/store/agents'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { KeptWork } from '../src/work/keep.ts'
import {
  createFate,
  createPassingClock,
  type Life,
  OFFERED,
  openLife,
  type Point,
  PRICE_CENTS,
  UNKNOWN_MS,
  type When,
} from './crashing.ts'
import { askFor } from './working.ts'

const LEASE_MS = 6_000
const HOUR_MS = 3_600_000

export type CrashEngine = {
  readonly name: string
  readonly hub: () => Promise<HubWanted>
  readonly database: () => Promise<string>
  /** When a step is cut. Each step is on each engine, and in each way on one of them. */
  readonly cuts: (step: number) => readonly When[]
}

/** All of them everywhere where somebody asks for more. */
const ALL = process.env.CHIMERA_CRASH_SEEDS !== undefined

export function cutsOf(first: When, second: When): CrashEngine['cuts'] {
  return (step) => (ALL ? [first, second] : [step % 2 === 0 ? first : second])
}

/** How a hirer goes about it; each step is done again after a crash, as far as it has to be. */
type Scenario = {
  readonly name: string
  readonly skill: string
  readonly ends: 'done' | 'cancelled'
  readonly callback?: true
  /** Instead of a hold that the hirer placed. */
  readonly reserved?: true
  /** The slot is taken when it is asked, and free a moment later. */
  readonly deferred?: true
}

// biome-ignore format: a table is read by its columns
const SCENARIOS: readonly Scenario[] = [
  { name: 'asked, with a callback',       skill: 'copy',   ends: 'done', callback: true },
  { name: 'of a skill that runs once',    skill: 'pay',    ends: 'done' },
  { name: 'reserved, then asked',         skill: 'pay',    ends: 'done', reserved: true },
  { name: 'deferred, then admitted',      skill: 'copy',   ends: 'done', deferred: true },
  { name: 'approved by a person',         skill: 'ponder', ends: 'done' },
  { name: 'cancelled while it runs',      skill: 'wait',   ends: 'cancelled' },
]

export function crashContract(engine: CrashEngine): void {
  const { clock, pass } = createPassingClock()
  const executions = new Map<string, number>()
  let hub: TestHub
  let on: Holding
  let store: AgentStore
  let agent: Party
  let hirer: Party
  let receiver: Receiver
  let crashed = 0
  const ended = { done: 0, cancelled: 0 }

  beforeAll(async () => {
    const wanted = await engine.hub()
    hub = await runHub({ ...wanted, auth: 'required', allowNet: ['127.0.0.1'], clock })
    on = createHolding(hub, clock)
    agent = await on.newParty(OFFERED)
    hirer = await on.newParty()
    store = await openAgentStore({ database: await engine.database(), leaseMs: LEASE_MS, clock })
    receiver = await startReceiver()
  }, 120_000)
  afterAll(async () => {
    await receiver?.close()
    await store?.close()
    await hub?.stop()
  })

  const newLife = (fate = createFate()) =>
    openLife({ hub: hub.address, party: agent, store, clock, executions }, fate)

  async function hire(scenario: Scenario, point?: Point) {
    const fate = createFate(point)
    const task = randomUUID() as TaskId
    const asked = askFor({
      task,
      skill: scenario.skill,
      claimedRequester: hirer.id,
      input: { text: task },
      ...(scenario.callback && { callback: `${receiver.url}/${task}` }),
    })
    const ask = ({ workshop }: Life) =>
      workshop.ask({ door: 'openclaw', asked, signer: hirer.key.publicKey })
    if (!scenario.reserved) {
      const terms = { agent_id: agent.id, task_id: task, amount: 0.05, expires_at: on.at(HOUR_MS) }
      assert.equal((await on.place({ token: hirer.token }, terms)).status, 201)
    }

    /** Everything a hirer does, with one life of the agent, until the work is over and told. */
    async function live(life: Life): Promise<'over' | 'refused'> {
      await life.workshop.resume()
      if (scenario.reserved && life.fate === fate) {
        const { instance } = life
        await announce(instance)
        const offer = on.offer(hirer, instance, { task_id: task, max_cost: 0.05 })
        await life.reserving.offer(on.signed(offer, hirer.key))
      }
      const blocker = { requester: 'x', task: 'x' as TaskId, work: 'x' as never }
      const isFull = scenario.deferred && life.fate === fate
      if (isFull) life.desk.take({ ...blocker, until: clock.now() + 1 }, clock.now())
      const answer = await ask(life)
      if (isFull) {
        life.desk.free(blocker.work)
        life.workshop.pump()
      }
      if (!answer.ok) return 'refused'
      const { work } = answer.kept.work.ask
      if (scenario.skill === 'ponder') await life.workshop.approve(work)
      if (scenario.ends === 'cancelled') {
        await until(async () => (await stateOf(life, answer.kept)) !== 'accepted')
        await life.workshop.cancel(answer.kept)
      }
      await until(async () => {
        const [kept] = (await life.keep.unfinished()).filter((each) => each.work.ask.work === work)
        const isIdle = life.desk.workload(clock.now()).running === 0
        return kept === undefined || (kept.work.state.name === 'unknown' && isIdle)
      })
      return 'over'
    }

    let life = newLife(fate)
    let how = await Promise.race([live(life), fate.died.then(() => 'died' as const)])
    const lives = [life]
    // By a skill that runs once may have to be looked up when its claim is over.
    while (how === 'died' || (how === 'over' && (await isUnknown(life, task)))) {
      pass(how === 'died' ? LEASE_MS : UNKNOWN_MS)
      if (!life.fate.isDead()) await life.close()
      life = newLife()
      lives.push(life)
      how = await live(life)
    }
    const { running, awaiting, slotsFree } = life.desk.workload(clock.now())
    assert.deepEqual([running, awaiting, slotsFree], [0, 0, 1])
    await life.close()
    return { task, how, lives: lives.length, steps: fate.steps }
  }

  async function announce(instance: string): Promise<void> {
    const presence = on.instanceOf(agent, 1)
    const { status } = await presence.post({ instance: instance as never })
    assert.equal(status, 204)
  }
  const stateOf = async ({ keep }: Life, { work }: KeptWork) =>
    (await keep.byWork(work.ask.work))?.work.state.name
  const isUnknown = async ({ keep }: Life, task: TaskId) =>
    (await keep.byTask(task))?.work.state.name === 'unknown'

  async function prove(scenario: Scenario, hired: Awaited<ReturnType<typeof hire>>) {
    const { task, how, lives } = hired
    const { body: work } = await on.work(task, { token: hirer.token })
    const runs = executions.get(task) ?? 0
    if (how === 'refused') {
      assert.ok(scenario.reserved, 'only a reservation can have come to nothing')
      assert.deepEqual([runs, work.code], [0, 'work_unknown'])
      return
    }
    const { how: end } = work.ended as Record<string, unknown>
    const { state: hold } = work.hold as Record<string, unknown>
    const { amount } = (work.settlement ?? {}) as Record<string, unknown>
    assert.deepEqual(
      [work.state, end, hold, amount],
      scenario.ends === 'done'
        ? ['settled', 'done', 'captured', 0.05]
        : ['settled', 'cancelled', 'released', undefined],
    )
    const isOnce = scenario.skill === 'pay'
    assert.ok(runs >= (scenario.ends === 'done' ? 1 : 0) && runs <= (isOnce ? 1 : lives))
    if (scenario.callback) {
      const letters = receiver.seen.filter(({ path }) => path === `/${task}`)
      const said = letters.map(({ headers, body }) => [headers['idempotency-key'], body].join())
      assert.equal(new Set(said).size, 1, 'one letter, however often it came')
    }
    ended[scenario.ends] += 1
  }

  describe(`a hire that is cut at every step, ${engine.name}`, () => {
    for (const scenario of SCENARIOS) {
      test(`P-1 P-3 P-8 ${scenario.name}`, { timeout: 120_000 }, async () => {
        const whole = await hire(scenario)
        await prove(scenario, whole)
        for (let at = 1; at <= whole.steps.length; at += 1) {
          for (const when of engine.cuts(at)) {
            try {
              await prove(scenario, await hire(scenario, { at, when }))
            } catch (error) {
              throw new Error(`cut ${when} step ${at}: ${whole.steps[at - 1]}`, { cause: error })
            }
            crashed += 1
          }
        }
      })
    }

    test('P-1 CH-12 the books and the scores are exact', async () => {
      assert.ok(crashed >= 50, `only ${crashed} points`)
      pass(HOUR_MS)
      const paid = (ended.done * PRICE_CENTS) / 100
      const booked = (cents: number) => Math.round(cents * 100) / 100
      const { body: payer } = await on.send(`/accounts/${hirer.owner}`, { token: hirer.token })
      const { body: payee } = await on.send(`/accounts/${agent.owner}`, { token: agent.token })
      assert.deepEqual([payer.balance, payee.balance], [booked(100 - paid), booked(100 + paid)])
      await hub.hub.settle()
      const { body } = await on.send(`/v1/trust/${agent.id}`, { token: on.operator })
      const { completed, failed } = body.window as Record<string, unknown>
      // The window is of a hundred; who cancels costs nobody its reputation.
      assert.deepEqual([completed, failed], [Math.min(ended.done, 100), 0])
    })
  })
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  assert.fail('it never came to be so')
}
