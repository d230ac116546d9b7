/**
 * Several instances of one agent on one database: whichever is asked answers, one of them does the
 * work, and what one leaves another goes on with. Time is virtual; the database is real.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AgentId } from '@chimera/domain/ids'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { type AgentStore, openAgentStore } from '@chimera/store/agents'
import { createDirectories } from '@chimera/store/testing/embedded'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Around, around, createTraffic } from './around.ts'
import { askFor, createGate, createHubStub, createStage } from './working.ts'

const LEASE_MS = 6_000
const BEAT_MS = LEASE_MS / 4
const directories = createDirectories()
const traffic = createTraffic()
const clock = createVirtualClock({ settle: traffic.settle })
let store: AgentStore

beforeAll(async () => {
  const database = await directories.newMigrated()
  store = await openAgentStore({ database, leaseMs: LEASE_MS, clock })
}, 60_000)
afterAll(async () => {
  await store.close()
  await directories.removeAll()
})

/** So many instances of a new agent, each with one slot; `asleep` ones say and hear nothing. */
async function open(count: number, more: { readonly approval?: boolean } = {}) {
  const agent = randomUUID() as AgentId
  const hub = createHubStub()
  const all = Array.from({ length: count }, () => {
    const gate = createGate(more)
    let wake: (() => void) | undefined
    let sleeping: Promise<void> | undefined
    const awake: Around = async (_, run) => {
      await sleeping
      return run()
    }
    const keep = around(around(store.keep.of(agent), traffic.call), awake)
    const own = { ...hub, network: around(hub.network, awake) }
    const stage = createStage({ skills: [gate.skill], clock, keep, hub: own, agent })
    return {
      ...stage,
      ...gate,
      sleep: () => {
        sleeping = new Promise((resolve) => {
          wake = resolve
        })
      },
      wake: async () => {
        sleeping = undefined
        wake?.()
        await traffic.settle()
      },
    }
  })
  for (const each of all) await each.workshop.resume()
  const [one, other] = all
  assert.ok(one && other)
  const close = async () => {
    for (const each of all) {
      for (const { end } of each.runs) end()
      await each.wake()
      await each.workshop.close()
    }
  }
  return { one, other, hub: hub.state, close }
}

const workOf = (answer: Awaited<ReturnType<ReturnType<typeof createStage>['ask']>>) => {
  assert.ok(answer.ok, JSON.stringify(answer))
  return answer.kept
}

describe('several instances', () => {
  test('P-4 an ask that is repeated at another one is one piece of work', async () => {
    const { one, other, hub, close } = await open(2)
    const asked = askFor()
    const ask = (at: typeof one) => at.ask({ ...asked })
    const [first, second] = await Promise.all([ask(one), ask(other)])
    assert.equal(workOf(first).work.ask.work, workOf(second).work.ask.work)
    await traffic.settle()
    assert.equal(one.runs.length + other.runs.length, 1)
    const [at, idle] = one.runs.length === 1 ? [one, other] : [other, one]
    const { work } = workOf(first).work.ask
    assert.equal((await idle.workshop.find(work))?.work.state.name, 'running')
    const waits = idle.workshop.ended(workOf(first), 60_000)
    at.runs[0]?.end(4)
    await clock.advanceBy(1_000)
    assert.deepEqual((await waits).report?.output, { words: 4 })
    assert.equal(hub.reports.length, 1)
    assert.deepEqual((await ask(idle)).ok && (await ask(idle)), await ask(at))
    await close()
  })

  test('P-4 other content under one key, at two of them at once, is a conflict', async () => {
    const { one, other, close } = await open(2)
    const asked = askFor()
    const answers = await Promise.all([
      one.ask(asked),
      other.ask({ ...asked, input: { text: 'two' } }),
    ])
    const refusals = answers.map((each) => (each.ok ? 'accepted' : each.refusal))
    assert.deepEqual(refusals.toSorted(), ['accepted', 'key_conflict'])
    await close()
  })

  test('P-3 the work of one that died goes on at another, and ends once', async () => {
    const { one, other, hub, close } = await open(2)
    const kept = workOf(await one.ask())
    await traffic.settle()
    one.sleep()
    await clock.advanceBy(LEASE_MS - BEAT_MS)
    assert.equal(other.runs.length, 0, 'it may yet be alive')
    await clock.advanceBy(2 * BEAT_MS)
    assert.equal(other.runs.length, 1)
    other.runs[0]?.end(5)
    await clock.advanceBy(1)
    assert.deepEqual(
      hub.reports.map((each) => each.output_data),
      [{ words: 5 }],
    )
    // It was not dead, only asleep: what it did is worth nothing any more.
    one.runs[0]?.end(9)
    await one.wake()
    await clock.advanceBy(2 * BEAT_MS)
    assert.equal(hub.reports.length, 1)
    assert.deepEqual((await one.workshop.find(kept.work.ask.work))?.report?.output, { words: 5 })
    assert.equal(one.desk.workload(clock.now()).slotsFree, 1)
    await close()
  })

  test('one that wakes and has lost its work stops the run', async () => {
    const { one, other, close } = await open(2)
    await one.ask()
    await traffic.settle()
    one.sleep()
    await clock.advanceBy(LEASE_MS + BEAT_MS)
    assert.deepEqual([other.runs.length, one.stopped.length], [1, 0])
    await one.wake()
    await clock.advanceBy(BEAT_MS)
    assert.equal(one.stopped.length, 1)
    assert.equal(one.desk.workload(clock.now()).running, 0)
    await close()
  })

  test('OC-15 what a full one deferred is done by one that has a slot', async () => {
    const { one, other, hub, close } = await open(2)
    await one.ask()
    const deferred = workOf(await one.ask())
    assert.equal(deferred.work.state.name, 'deferred')
    await clock.advanceBy(2 * BEAT_MS)
    assert.deepEqual([one.runs.length, other.runs.length], [1, 1])
    other.runs[0]?.end()
    await clock.advanceBy(1)
    assert.equal(hub.reports.length, 1)
    one.runs[0]?.end()
    await clock.advanceBy(1)
    assert.equal(one.runs.length, 1, 'it does not run again where it waited')
    assert.equal(hub.reports.length, 2)
    await close()
  })

  test('OC-18 work is cancelled at whichever instance is asked', async () => {
    const { one, other, hub, close } = await open(2)
    const running = workOf(await one.ask())
    const waits = workOf(await one.ask())
    await traffic.settle()
    const atOnce = await other.workshop.cancel(waits)
    assert.ok(atOnce.ok && atOnce.facts.length === 1, 'nobody is at it')
    const cancelled = other.workshop.cancel(running)
    await clock.advanceBy(2 * BEAT_MS)
    assert.ok((await cancelled).ok)
    assert.equal(one.stopped.length, 1)
    assert.deepEqual(
      hub.reports.map((each) => each.result_status),
      ['cancelled', 'cancelled'],
    )
    await close()
  })

  test('OC-18 what a dead one was at is cancelled too', async () => {
    const { one, other, hub, close } = await open(2)
    const running = workOf(await one.ask())
    await traffic.settle()
    one.sleep()
    const cancelled = other.workshop.cancel(running)
    await clock.advanceBy(LEASE_MS + BEAT_MS)
    assert.ok((await cancelled).ok)
    assert.deepEqual([hub.reports.length, other.runs.length], [1, 0])
    await close()
  })

  test('OC-19 a person agrees at whichever instance is asked', async () => {
    const { one, other, hub, close } = await open(2, { approval: true })
    const kept = workOf(await one.ask())
    assert.equal(kept.work.state.name, 'awaiting')
    const { work } = kept.work.ask
    assert.ok((await other.workshop.approve(work)).ok)
    assert.ok(!(await one.workshop.approve(work)).ok)
    await clock.advanceBy(BEAT_MS)
    assert.deepEqual([one.runs.length, other.runs.length], [0, 1])
    assert.equal(one.desk.workload(clock.now()).awaiting, 0)
    other.runs[0]?.end()
    await clock.advanceBy(1)
    assert.equal(hub.reports.length, 1)
    await close()
  })

  test('P-8 a result that one could not bring is brought by another when it has died', async () => {
    const { one, other, hub, close } = await open(2)
    await one.ask()
    await traffic.settle()
    hub.away = true
    one.runs[0]?.end(3)
    await clock.advanceBy(1)
    one.sleep()
    hub.away = false
    await clock.advanceBy(LEASE_MS + 60_000)
    assert.deepEqual(
      hub.reports.map((each) => each.output_data),
      [{ words: 3 }],
    )
    assert.equal(other.runs.length, 0, 'it was done')
    await close()
  })

  test('AV-5 one that stops leaves its work to others at once', async () => {
    const { one, other, close } = await open(2)
    await one.ask()
    await traffic.settle()
    await one.workshop.close()
    await clock.advanceBy(BEAT_MS)
    assert.equal(other.runs.length, 1)
    await close()
  })
})
