/**
 * Work from the ask to its end, on a virtual clock: what is answered, what runs, what is told, and
 * that nothing runs twice.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { refuse } from '@chimera/domain/decision'
import type { IdempotencyKey, TaskId } from '@chimera/domain/ids'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createKeyring } from '@chimera/identity/keyring'
import { verifyMessage } from '@chimera/identity/message'
import { createMemoryAnswers } from '@chimera/skill/answers'
import { defineSkill, Type } from '@chimera/skill/define'
import { describe, test } from 'vitest'
import { type askFor, createGate, createHubStub, createStage } from '../../test/working.ts'
import type { Answered } from './asking.ts'
import { createMemoryKeep } from './memory-keep.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))
const stateOf = (answer: Answered) => (answer.ok ? answer.kept.work.state.name : answer.refusal)
const workOf = (answer: Answered) => {
  assert.ok(answer.ok, 'was refused')
  return answer.kept
}
const errorIn = (result: Record<string, unknown> | undefined) =>
  (result?.error as { code: string } | undefined)?.code
const key = (text: string) => text as IdempotencyKey
const task = () => randomUUID() as TaskId

describe('the answer to an ask', () => {
  const rows: readonly {
    readonly when: string
    readonly ask: Parameters<typeof askFor>[0]
    readonly answer: string
    readonly accepting?: boolean
  }[] = [
    { when: 'it can be done', ask: {}, answer: 'accepted' },
    { when: 'OC-13 nobody offers the skill', ask: { skill: 'sing' }, answer: 'skill_unknown' },
    {
      when: 'OC-13 not that version of it',
      ask: { skill: 'count@v2' },
      answer: 'skill_version_unsupported',
    },
    {
      when: 'OC-10 OC-13 the input does not fit',
      ask: { input: { txt: 1 } },
      answer: 'input_invalid',
    },
    { when: 'OC-13 work is not taken now', ask: {}, accepting: false, answer: 'not_accepting' },
    {
      when: 'OC-14 its deadline is nearer than the work is long',
      ask: { deadline: 1_767_225_600_000 + 9_000 },
      answer: 'deadline_too_soon',
    },
  ]
  for (const { when, ask, answer, accepting = true } of rows) {
    test(`when ${when}: ${answer}`, async () => {
      const stage = createStage({ skills: [createGate().skill] })
      stage.condition.accepting = accepting
      assert.equal(stateOf(await stage.ask(ask)), answer)
    })
  }

  test('OC-13 names each field of an input that does not fit', async () => {
    const stage = createStage({ skills: [createGate().skill] })
    const refused = await stage.ask({ input: { text: 7 } })
    assert.ok(!refused.ok)
    assert.deepEqual(
      refused.particulars.issues?.map(({ path }) => path),
      ['/text'],
    )
  })

  test('OC-20 is no more than the limit in a minute, and room again after it', async () => {
    const stage = createStage({ skills: [createGate().skill], slots: 9, perMinute: 2 })
    const answers = [await stage.ask(), await stage.ask(), await stage.ask()]
    assert.deepEqual(answers.map(stateOf), ['accepted', 'accepted', 'rate_exceeded'])
    await stage.clock.advanceBy(60_001)
    assert.equal(stateOf(await stage.ask()), 'accepted')
  })
})

describe('a result', () => {
  test('P-8 that the hub takes for unproven is signed and told again', async () => {
    const { skill, runs } = createGate()
    const hub = createHubStub()
    const refusals = ['signature_invalid', 'message_expired'] as const
    const left = [...refusals]
    const report: typeof hub.network.report = async (result) => {
      const refusal = left.shift()
      return refusal === undefined ? hub.network.report(result) : refuse(refusal)
    }
    const stage = createStage({
      skills: [skill],
      hub: { ...hub, network: { ...hub.network, report } },
    })
    await stage.ask()
    await settle()
    runs[0]?.end()
    await stage.clock.advanceBy(60_000)
    assert.equal(stage.hub.reports.length, 1)
    assert.deepEqual(await stage.workshop.list(), [])
  })
})

describe('a run', () => {
  test('OC-16 OC-17 ends in a signed result at the hub, and the slot is free again', async () => {
    const { skill, runs } = createGate()
    const stage = createStage({ skills: [skill] })
    const kept = workOf(await stage.ask())
    await settle()
    assert.equal(runs.length, 1)
    assert.deepEqual(stage.told.at(-1), { running: 1, awaiting: 0, slotsTotal: 1, slotsFree: 0 })
    runs[0]?.end(3)
    await stage.clock.advanceBy(1)
    const [result] = stage.hub.reports
    assert.deepEqual(
      [result?.result_status, result?.output_data, result?.collaboration_id],
      ['completed', { words: 3 }, kept.work.ask.work],
    )
    assert.ok(verifyMessage(result ?? {}, stage.key.publicKey, createKeyring()).ok)
    await settle()
    assert.equal(stage.told.at(-1)?.running, 0)
  })

  test('OC-17 whose output breaks its schema fails, and costs nothing', async () => {
    const liar = defineSkill({
      name: 'count',
      version: '1.0',
      input: Type.Object({}),
      output: Type.Object({ words: Type.Integer() }),
      run: () => ({ words: 'many' }) as unknown as { words: number },
    })
    const stage = createStage({ skills: [liar] })
    await stage.ask({ input: {} })
    await stage.clock.advanceBy(20_000)
    const [result] = stage.hub.reports
    assert.equal(result?.result_status, 'failed')
    assert.equal(errorIn(result), 'INTERNAL_ERROR')
  })

  test('that throws fails its own work and nobody else’s', async () => {
    const bad = defineSkill({
      name: 'bad',
      version: '1.0',
      input: Type.Object({}),
      output: Type.Object({}),
      errors: { TOO_SHORT: 'Write more.' },
      run: (_, { failure }) => {
        throw failure('TOO_SHORT')
      },
    })
    const { skill, runs } = createGate()
    const stage = createStage({ skills: [bad, skill], slots: 2 })
    await stage.ask({ skill: 'bad', input: {} })
    await stage.ask()
    await settle()
    runs[0]?.end()
    await stage.clock.advanceBy(1)
    assert.deepEqual(
      new Set(stage.hub.reports.map((each) => each.result_status)),
      new Set(['completed', 'failed']),
    )
  })

  test('OC-17 that is not done by its deadline is stopped and failed', async () => {
    const { skill, stopped } = createGate()
    const stage = createStage({ skills: [skill] })
    await stage.ask({ deadline: stage.clock.now() + 15_000 })
    await stage.clock.advanceBy(14_999)
    assert.equal(stopped.length, 0)
    await stage.clock.advanceBy(2)
    assert.equal(stopped.length, 1)
    assert.equal(errorIn(stage.hub.reports[0]), 'DEADLINE_MISSED')
  })

  test('OC-18 is stopped when its requester cancels it, and says so', async () => {
    const { skill, stopped } = createGate()
    const stage = createStage({ skills: [skill] })
    const kept = workOf(await stage.ask())
    await settle()
    assert.ok((await stage.workshop.cancel(kept)).ok)
    await stage.clock.advanceBy(1)
    assert.equal(stopped.length, 1)
    assert.equal(stage.hub.reports[0]?.result_status, 'cancelled')
    const again = await stage.workshop.cancel(kept)
    assert.ok(again.ok && again.facts.length === 0, 'it is as it was asked for')
    assert.equal(stage.hub.reports.length, 1)
  })

  test('tells its progress, which can be followed and resumed', async () => {
    const talker = defineSkill({
      name: 'count',
      version: '1.0',
      input: Type.Object({}),
      output: Type.Object({}),
      run: (_, { progress }) => {
        progress(0.25)
        progress(0.5, 'half')
        return {}
      },
    })
    const stage = createStage({ skills: [talker] })
    const { work } = workOf(await stage.ask({ input: {} })).work.ask
    await stage.clock.advanceBy(1)
    const all = stage.workshop.follow(work, 0, () => undefined)
    assert.deepEqual(
      all.past.map(({ is, place }) => `${place} ${is}`),
      ['1 answer', '2 progress', '3 progress', '4 result'],
    )
    const rest = stage.workshop.follow(work, 3, () => undefined)
    assert.deepEqual([rest.past.length, rest.gap], [1, false])
    assert.equal(stage.workshop.follow(work, 9, () => undefined).gap, true)
    assert.deepEqual(stage.hub.advances, [], 'short work is not told of at the hub')
  })

  test('tells the hub how far long work has come, every two seconds at most', async () => {
    let say: (share: number, note?: string) => void = () => undefined
    const slow = defineSkill({
      name: 'count',
      version: '1.0',
      input: Type.Object({}),
      output: Type.Object({}),
      run: (_, { progress, signal }) => {
        say = progress
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve({})))
      },
    })
    const stage = createStage({ skills: [slow] })
    await stage.ask({ input: {} })
    await settle()
    for (const share of [0.1, 0.2, 0.3, 0.4, 0.5]) {
      await stage.clock.advanceBy(1_000)
      say(share, `${share}`)
    }
    assert.deepEqual(stage.hub.advances, [0.2, 0.4])
  })
})

describe('never twice', () => {
  test('OC-12 CH-5 the same ask gets the same work, at once and after the end', async () => {
    const { skill, runs } = createGate()
    const stage = createStage({ skills: [skill], slots: 5 })
    const asked = { task: task(), key: key('k') }
    const answers = await Promise.all([stage.ask(asked), stage.ask(asked), stage.ask(asked)])
    await settle()
    assert.equal(runs.length, 1)
    runs[0]?.end()
    await stage.clock.advanceBy(1)
    const later = await stage.ask({ ...asked, task: task() })
    const names = new Set([...answers, later].map((each) => workOf(each).work.ask.work))
    assert.equal(names.size, 1)
    assert.equal(workOf(later).report?.how, 'done')
    assert.equal(stage.hub.reports.length, 1)
  })

  test('OC-12 a stranger on an open hub that comes back under another name', async () => {
    const { skill, runs } = createGate()
    const stage = createStage({ skills: [skill], slots: 5 })
    stage.hub.strangers = true
    const asked = { task: task() }
    const first = await stage.ask({ ...asked, claimedRequester: randomUUID() })
    const second = await stage.ask({ ...asked, claimedRequester: randomUUID() })
    await settle()
    assert.equal(workOf(second).work.ask.work, workOf(first).work.ask.work)
    assert.equal(runs.length, 1)
  })

  test('OC-12 other content under a known key is a conflict', async () => {
    const stage = createStage({ skills: [createGate().skill], slots: 5 })
    await stage.ask({ key: key('k') })
    const other = await stage.ask({ key: key('k'), input: { text: 'two' } })
    assert.equal(stateOf(other), 'key_conflict')
  })

  test('OC-12 a refusal that may pass is decided anew, another is not', async () => {
    const stage = createStage({ skills: [createGate().skill] })
    stage.condition.accepting = false
    const asked = { task: task(), key: key('later') }
    assert.equal(stateOf(await stage.ask(asked)), 'not_accepting')
    stage.condition.accepting = true
    assert.equal(stateOf(await stage.ask(asked)), 'accepted')
  })

  test('P-3 after a restart accepted work goes on, once, and its result is delivered', async () => {
    const clock = createVirtualClock()
    const keep = { ...createMemoryKeep({ now: clock.now }), durable: true }
    const [first, second] = [createGate(), createGate()]
    const before = createStage({ skills: [first.skill], keep, clock })
    const asked = { task: task(), key: key('k') }
    const { work } = workOf(await before.ask(asked)).work.ask
    await settle()
    await before.workshop.close()
    assert.equal(before.hub.reports.length, 0, 'its end is left to the next process')

    const after = createStage({ skills: [second.skill], keep, clock })
    await after.workshop.resume()
    await settle()
    second.runs[0]?.end(2)
    await clock.advanceBy(1)
    assert.deepEqual(
      after.hub.reports.map((each) => [each.collaboration_id, each.result_status]),
      [[work, 'completed']],
    )
  })

  test('P-3 a skill that runs once and may have run is unknown, and not run again', async () => {
    const clock = createVirtualClock()
    const keep = { ...createMemoryKeep({ now: clock.now }), durable: true }
    const answers = createMemoryAnswers({ clock })
    let runs = 0
    const pay = () =>
      defineSkill({
        name: 'count',
        version: '1.0',
        idempotency: { once: true },
        input: Type.Object({ text: Type.String() }),
        output: Type.Object({}),
        run: () => {
          runs += 1
          return new Promise<Record<string, never>>(() => undefined)
        },
      })
    const before = createStage({ skills: [pay()], keep, clock, answers })
    const kept = workOf(await before.ask())
    await settle()
    const after = createStage({ skills: [pay()], keep, clock, answers })
    await after.workshop.resume()
    await clock.advanceBy(1)
    const now = await after.workshop.find(kept.work.ask.work)
    assert.deepEqual([runs, now?.work.state.name], [1, 'unknown'])
    assert.equal(after.hub.reports.length, 0)
  })

  test('OC-17 a result that the hub did not hear is told again until it does', async () => {
    const { skill, runs } = createGate()
    const stage = createStage({ skills: [skill] })
    await stage.ask()
    await settle()
    stage.hub.away = true
    runs[0]?.end()
    await stage.clock.advanceBy(2_500)
    assert.equal(stage.hub.reports.length, 0)
    stage.hub.away = false
    await stage.clock.advanceBy(5_000)
    assert.equal(stage.hub.reports.length, 1)
  })
})

describe('a full house', () => {
  test('OC-15 defers, runs by priority, and answers a second time', async () => {
    const { skill, runs } = createGate()
    const stage = createStage({ skills: [skill] })
    await stage.ask({ input: { text: 'first' } })
    const late = await stage.ask({ input: { text: 'late' }, priority: 9 })
    const soon = await stage.ask({ input: { text: 'soon' }, priority: 1 })
    assert.deepEqual([late, soon].map(stateOf), ['deferred', 'deferred'])
    await settle()
    runs[0]?.end()
    await stage.clock.advanceBy(1)
    assert.deepEqual(
      runs.map(({ input }) => (input as { text: string }).text),
      ['first', 'soon'],
    )
    const now = await stage.workshop.find(workOf(soon).work.ask.work)
    assert.equal(now?.work.state.name, 'running')
  })

  test('OC-15 answers by the time it named, though no slot is free', async () => {
    const stage = createStage({ skills: [createGate().skill] })
    await stage.ask()
    const waiting = workOf(await stage.ask())
    const { state, ask } = waiting.work
    assert.ok(state.name === 'deferred')
    await stage.clock.advanceTo(state.until)
    assert.equal((await stage.workshop.find(ask.work))?.work.state.name, 'accepted')
  })

  test('OC-14 refuses what could not end in time behind the others', async () => {
    const stage = createStage({ skills: [createGate().skill] })
    await stage.ask()
    const answer = await stage.ask({ deadline: stage.clock.now() + 15_000 })
    assert.equal(stateOf(answer), 'deadline_too_soon')
  })

  test('OC-13 OC-15 is full when the queue is', async () => {
    const stage = createStage({ skills: [createGate().skill] })
    const answers: string[] = []
    for (let at = 0; at < 102; at += 1) answers.push(stateOf(await stage.ask()))
    assert.equal(answers.filter((each) => each === 'deferred').length, 100)
    assert.equal(answers.at(-1), 'queue_full')
  })

  test('OC-15 draining still finishes what was accepted and waits for its slot', async () => {
    const { skill, runs } = createGate()
    const stage = createStage({ skills: [skill] })
    await stage.ask()
    const waiting = workOf(await stage.ask())
    const { state } = waiting.work
    assert.ok(state.name === 'deferred')
    await stage.clock.advanceTo(state.until)
    const drained = stage.workshop.drain()
    runs[0]?.end()
    await stage.clock.advanceBy(1)
    assert.equal(runs.length, 2)
    runs[1]?.end()
    await stage.clock.advanceBy(1)
    await drained
    assert.equal(stage.hub.reports.length, 2)
  })

  test('OC-15 draining turns away what waits, and finishes what runs', async () => {
    const { skill, runs } = createGate()
    const stage = createStage({ skills: [skill] })
    await stage.ask()
    const waiting = workOf(await stage.ask())
    await settle()
    stage.condition.accepting = false
    const drained = stage.workshop.drain()
    await settle()
    const now = await stage.workshop.find(waiting.work.ask.work)
    assert.deepEqual(now?.work.state, { name: 'refused', refusal: 'draining' })
    runs[0]?.end()
    await stage.clock.advanceBy(1)
    await drained
    assert.equal(stage.hub.reports[0]?.result_status, 'completed')
  })
})

describe('OC-19 work that needs a person', () => {
  test('waits without a slot, counts as a task, and runs when somebody agrees', async () => {
    const { skill, runs } = createGate({ approval: true })
    const stage = createStage({ skills: [skill] })
    const { work } = workOf(await stage.ask()).work.ask
    await settle()
    assert.equal(runs.length, 0)
    assert.deepEqual(stage.told.at(-1), { running: 0, awaiting: 1, slotsTotal: 1, slotsFree: 1 })
    assert.equal((await stage.workshop.list())[0]?.work.state.name, 'awaiting')
    assert.ok((await stage.workshop.approve(work)).ok)
    await settle()
    assert.equal(runs.length, 1)
  })

  test('is cancelled after 24 h that nobody agreed', async () => {
    const stage = createStage({ skills: [createGate({ approval: true }).skill] })
    await stage.ask()
    await stage.clock.advanceBy(86_400_001)
    assert.equal(stage.hub.reports[0]?.result_status, 'cancelled')
  })
})

test('several asks at once never take more slots than there are', async () => {
  const { skill, runs } = createGate()
  const hub = createHubStub()
  const stage = createStage({ skills: [skill], slots: 3, hub })
  await Promise.all(Array.from({ length: 20 }, async () => stage.ask()))
  await settle()
  assert.equal(runs.length, 3)
  assert.equal(stage.desk.workload(stage.clock.now()).slotsFree, 0)
})
