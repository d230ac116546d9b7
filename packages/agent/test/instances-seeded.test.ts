/**
 * Three instances of one agent on one PostgreSQL through seeded storms: asks and repeats at any of
 * them, cancels, instances that fall asleep, wake up, die and are replaced, answers of the database
 * that get lost. Whatever the order:
 *
 *   each piece of work ends once, and the network hears one end of it;
 *   a skill that must not run twice does not;
 *   no instance runs more than its slots.
 *
 * CHIMERA_CRASH_SEEDS says how many storms; a failure is replayed with SEED=….
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AgentId, WorkId } from '@chimera/domain/ids'
import type { WorkAsked } from '@chimera/domain/work/work'
import { createSeededChance } from '@chimera/host/chance'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { defineSkill, Type } from '@chimera/skill/define'
import { type AgentStore, openAgentStore } from '@chimera/store/agents'
import { Failure } from '@chimera/store/failure'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, test } from 'vitest'
import type { KeptWork } from '../src/work/keep.ts'
import { type Around, around, createTraffic } from './around.ts'
import { askFor, createHubStub, createStage } from './working.ts'

const SEED = Number(process.env.SEED ?? 1)
const SEEDS = Number(process.env.CHIMERA_CRASH_SEEDS ?? 3)
const STEPS = 60
const SLOTS = 2
const LEASE_MS = 24_000
// Three tries with their waits, and what clocks may be apart: until then a claim may be alive.
const UNKNOWN_MS = 5 * 60_000

const traffic = createTraffic()
const clock = createVirtualClock({ settle: traffic.settle })
let server: PostgresServer
const stores: AgentStore[] = []

beforeAll(async () => {
  server = await startPostgres()
  const database = await server.newAddress()
  for (let at = 0; at < 3; at += 1) {
    stores.push(await openAgentStore({ database, clock, leaseMs: LEASE_MS, connections: 2 }))
  }
}, 60_000)
afterAll(async () => {
  for (const each of stores) await each.close()
  await server.stop()
})

function createStorm(seed: number) {
  const { fraction } = createSeededChance(seed)
  const below = (most: number) => Math.floor(fraction() * most)
  const agent = randomUUID() as AgentId
  const hub = createHubStub()
  const onceRuns = new Map<string, number>()
  const slotsUsed: number[] = []

  function skillsOf() {
    let running = 0
    const run = async (text: string, signal: AbortSignal) => {
      running += 1
      slotsUsed.push(running)
      try {
        await clock.sleep(below(16_000), signal)
        return { text }
      } finally {
        running -= 1
      }
    }
    const shape = Type.Object({ text: Type.String() })
    const terms = { version: '1.0', input: shape, output: shape, timeout: '30s' } as const
    const copy = defineSkill({
      ...terms,
      name: 'copy',
      run: ({ text }, { signal }) => run(text, signal),
    })
    const pay = defineSkill({
      ...terms,
      name: 'pay',
      run: ({ text }, { signal, key = '' }) => {
        onceRuns.set(key, (onceRuns.get(key) ?? 0) + 1)
        return run(text, signal)
      },
      idempotency: {
        once: true,
        reconcile: ({ text }, { key = '' }) =>
          onceRuns.has(key) ? { is: 'done', output: { text } } : { is: 'not_done' },
      },
    })
    return [copy, pay]
  }

  async function open(at: number) {
    const store = stores[at % stores.length] ?? assert.fail('no store')
    let sleeping: Promise<void> | undefined
    let wake = () => {}
    const awake: Around = async (_, run) => {
      await sleeping
      return run()
    }
    const live = <Port extends object>(port: Port) => around(around(port, traffic.call), awake)
    /** Now and then the database is away, or its answer is: nobody knows whether it was done. */
    const shaky: Around = async (_, run) => {
      const chance = fraction()
      if (chance < 0.02) throw new Failure('database_unreachable', 'cut')
      const answer = await run()
      if (chance < 0.05) throw new Failure('outcome_unknown', 'cut')
      return answer
    }
    const stage = createStage({
      skills: skillsOf(),
      slots: SLOTS,
      clock,
      agent,
      keep: around(live(store.keep.of(agent)), shaky),
      answers: live(store.answers),
      hub: { ...hub, network: around(hub.network, awake) },
    })
    const resume = () =>
      stage.workshop.resume().then(
        () => true,
        () => false,
      )
    while (!(await resume())) await clock.sleep(100)
    return {
      ...stage,
      isAsleep: () => sleeping !== undefined,
      sleep: () => {
        sleeping ??= new Promise((resolve) => {
          wake = resolve
        })
      },
      wake: () => {
        sleeping = undefined
        wake()
      },
    }
  }
  return { below, fraction, hub: hub.state, agent, open, onceRuns, slotsUsed }
}

async function storm(seed: number): Promise<void> {
  const { below, fraction, hub, agent, open, onceRuns, slotsUsed } = createStorm(seed)
  const all = await passing(Promise.all([open(0), open(1), open(2)]))
  const asks: WorkAsked[] = []
  const taken = new Map<WorkId, KeptWork>()
  const pick = <Of>(list: readonly Of[]): Of => list[below(list.length)] ?? assert.fail('none')
  const awake = () => all.filter((each) => !each.isAsleep())

  async function ask(): Promise<void> {
    const isRepeat = asks.length > 0 && fraction() < 0.25
    const skill = fraction() < 0.5 ? 'copy' : 'pay'
    const asked = isRepeat ? pick(asks) : askFor({ skill, input: { text: `t${asks.length}` } })
    if (!isRepeat) asks.push(asked)
    const answer = await pick(awake()).ask(asked)
    if (answer.ok) taken.set(answer.kept.work.ask.work, answer.kept)
  }

  for (let step = 0; step < STEPS; step += 1) {
    const chance = fraction()
    if (chance < 0.62) await passing(ask())
    else if (chance < 0.72 && awake().length > 1) pick(awake()).sleep()
    else if (chance < 0.82) pick(all).wake()
    else if (chance < 0.87 && awake().length > 1) {
      const at = below(all.length)
      all[at]?.sleep()
      all[at] = await passing(open(at))
    } else if (taken.size > 0) {
      // Nobody waits for the answer: the instance may die before it has one.
      const cancelled = pick(awake()).workshop.cancel(pick([...taken.values()]))
      void cancelled.catch(() => undefined)
    }
    await clock.advanceBy(below(8_000))
  }
  for (const each of all) each.wake()
  await clock.advanceBy(2 * LEASE_MS)
  const keep = stores[0]?.keep.of(agent) ?? assert.fail('none')
  for (let ms = 0; ms < 2 * UNKNOWN_MS && (await keep.unfinished()).length > 0; ms += 30_000) {
    await clock.advanceBy(30_000)
  }

  assert.deepEqual(await keep.unfinished(), [], 'everything has ended and was told')
  const ends = new Map<unknown, Set<string>>()
  for (const { collaboration_id: id, result_status, output_data } of hub.reports) {
    const heard = ends.get(id) ?? new Set()
    ends.set(id, heard.add(JSON.stringify([result_status, output_data])))
  }
  let done = 0
  for (const { work, refused } of taken.values()) {
    const kept = await keep.byWork(work.ask.work)
    if (kept?.refused !== undefined || refused !== undefined) continue
    assert.equal(ends.get(work.ask.work)?.size, 1, `one end of ${work.ask.work}, as it is kept`)
    if (kept?.report?.how === 'done') done += 1
  }
  assert.ok(done >= STEPS / 10, `only ${done} were done, of agent ${agent}`)
  for (const [work, runs] of onceRuns) assert.equal(runs, 1, `${work} ran more than once`)
  assert.ok(onceRuns.size > 0 && Math.max(...slotsUsed) <= SLOTS)
  for (const each of all) {
    const { running, slotsFree } = each.desk.workload(clock.now())
    assert.deepEqual([running, slotsFree], [0, SLOTS])
    await passing(each.workshop.close()).catch(() => undefined)
  }
}

/** What waits for a database that was away waits by the clock, too. */
async function passing<Value>(ended: Promise<Value>): Promise<Value> {
  const still = Symbol('still')
  for (let turn = 0; turn < 1_000; turn += 1) {
    const now = await Promise.race([ended.catch(() => undefined), Promise.resolve(still)])
    if (now !== still) break
    await clock.advanceBy(100)
  }
  return ended
}

for (let seed = SEED; seed < SEED + SEEDS; seed += 1) {
  test(`P-3 P-4 a storm over three instances (SEED=${seed})`, { timeout: 120_000 }, () =>
    storm(seed),
  )
}
