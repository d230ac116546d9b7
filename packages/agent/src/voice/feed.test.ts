/** The status feed's voice, under a clock that is moved by hand; times are since the start. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import * as feed from '@chimera/dialects/feed'
import { describe, test } from 'vitest'
import { setStage, skill, type Wire } from '../../test/voicing.ts'
import type { FeedTerms } from './feed.ts'
import type { Posted } from './feed-door.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const soon = () => AbortSignal.timeout(5_000)
const answered = (status: number): Posted => ({
  outcome: { type: 'answered', status },
  ...(status >= 300 && { error: 'no' }),
})
const CUT: Posted = { outcome: { type: 'unanswered' }, error: 'network' }

async function setFeed(terms: FeedTerms = {}) {
  const world = { answer: answered(202) }
  const stage = await setStage({ feedAnswers: () => world.answer, feedTerms: terms })
  await stage.start()
  await stage.clock.advanceBy(0)
  const { feed: voice } = stage.voices
  assert.ok(voice)
  const told = () => stage.said('feed')
  return { ...stage, world, voice, told }
}

const count = async ({ metrics }: Awaited<ReturnType<typeof setFeed>>, name: string) =>
  Number(
    (await metrics.text())
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  )

describe('when it speaks', () => {
  test('SF-3 every 60 s while available or busy, and not while it waits or is paused', async () => {
    const { clock, told, workload, lifecycle } = await setFeed()
    await clock.advanceBy(2 * MINUTE)
    assert.deepEqual(
      told().map(({ at }) => at),
      [0, MINUTE, 2 * MINUTE],
    )
    workload(1)
    await clock.advanceBy(2 * MINUTE + 5 * SECOND)
    assert.equal(told().length, 6)
    assert.equal(told().at(-1)?.message.status, 'BUSY')
    workload(1, 1)
    await clock.advanceBy(HOUR)
    assert.deepEqual([told().length, told().at(-1)?.message.status], [7, 'HUMAN_REVIEW'])
    lifecycle.order({ type: 'pause' })
    await clock.advanceBy(HOUR)
    assert.deepEqual([told().length, told().at(-1)?.message.status], [8, 'PAUSED'])
  })

  test('SF-3 times rise strictly, and every message is one that may be sent', async () => {
    const { clock, told, workload } = await setFeed()
    for (let each = 0; each < 40; each += 1) {
      workload(each % 2)
      await clock.advanceBy(700)
    }
    const stamps = told().map(({ message }) => Date.parse(String(message.last_updated)))
    assert.deepEqual(
      [...new Set(stamps)].sort((one, other) => one - other),
      stamps,
    )
    for (const { message } of told()) assert.ok(feed.checkEmitted(message).ok)
    assert.equal(new Set(told().map(({ message }) => message.message_id)).size, told().length)
  })

  test('SF-4 a change at once, what follows folded into one within 5 s', async () => {
    const { clock, told, workload } = await setFeed()
    await clock.advanceBy(30 * SECOND)
    workload(1)
    await clock.advanceBy(0)
    assert.equal(told().at(-1)?.at, 30 * SECOND)
    for (const running of [0, 1, 0]) {
      await clock.advanceBy(500)
      workload(running)
    }
    await clock.advanceBy(10 * SECOND)
    assert.deepEqual(
      told().map(({ at, message }) => `${at / SECOND} ${message.status}`),
      ['0 AVAILABLE', '30 BUSY', '34.5 AVAILABLE'],
    )
  })

  test('another number of tasks is no change; other capabilities are', async () => {
    const { clock, told, workload, voices, stage } = await setFeed()
    await clock.advanceBy(10 * SECOND)
    workload(1)
    await clock.advanceBy(10 * SECOND)
    workload(2)
    await clock.advanceBy(10 * SECOND)
    assert.equal(told().length, 2)
    stage.offered = { ...stage.offered, skills: [skill('other')] }
    voices.changed()
    await clock.advanceBy(5 * SECOND)
    assert.deepEqual(told().at(-1)?.message.capabilities, ['other'])
  })
})

describe('when it fails', () => {
  test('SF-5 five retries of the same message, then paused here and a probe a minute', async () => {
    const { clock, told, world, voice, lifecycle, alerts, workload } = await setFeed()
    await clock.advanceBy(10 * SECOND)
    world.answer = CUT
    workload(1)
    await clock.advanceBy(31 * SECOND)
    const tries = told().slice(1)
    assert.equal(tries.length, 6)
    assert.equal(new Set(tries.map(({ message }) => JSON.stringify(message))).size, 1)
    assert.deepEqual([voice.publishing().is, voice.local()], ['paused', 'PAUSED'])
    assert.equal(lifecycle.standing().condition.name, 'working', 'the agent itself works on')
    assert.deepEqual(
      alerts.map(({ kind }) => kind),
      ['feed_failing', 'feed_paused'],
    )
    workload(0)
    await clock.advanceBy(10 * MINUTE)
    const probes = told().slice(7)
    assert.equal(probes.length, 10)
    assert.equal(voice.rollout().stage, 'everybody', 'an outage does not end publishing')

    world.answer = answered(202)
    await clock.advanceBy(MINUTE)
    assert.deepEqual([voice.publishing().is, voice.local()], ['ready', 'AVAILABLE'])
    assert.equal(told().length, 18, 'one message, and no backlog')
    assert.equal(told().at(-1)?.message.status, 'AVAILABLE')
    await clock.advanceBy(MINUTE)
    assert.equal(told().length, 19)
    assert.equal(alerts.length, 2)
  })

  // biome-ignore format: a table is read by its columns
  const rows: [status: number, tries: number, reason: string][] = [
    [408, 6, 'throttled'], [425, 6, 'throttled'], [429, 6, 'throttled'],
    [500, 6, 'server'],    [503, 6, 'server'],
    [302, 1, 'refused'],   [401, 1, 'unauthorised'], [404, 1, 'refused'], [409, 1, 'refused'],
  ]
  for (const [status, tries, reason] of rows) {
    test(`SF-5 SF-8 ${status} is tried ${tries} times and counted as ${reason}`, async () => {
      const staged = await setFeed()
      const { clock, told, world, workload, metrics } = staged
      await clock.advanceBy(10 * SECOND)
      world.answer = answered(status)
      workload(1)
      await clock.advanceBy(32 * SECOND)
      assert.equal(told().length, 1 + tries)
      assert.equal(await count(staged, 'status_publish_attempts_total'), 1 + tries)
      assert.equal(await count(staged, 'status_publish_success_total'), 1)
      const page = await metrics.text()
      assert.ok(page.includes(`status_publish_failures_total{reason="${reason}"} ${tries}`), page)
      const last = 'status_publish_last_success_timestamp_seconds{agent_id="chimera-counter"}'
      assert.ok(page.includes(`${last} ${staged.began / 1_000}`))
    })
  }

  test('SF-14 the dashboard asks for the figures of SF-8, all of them, and no others', async () => {
    const { clock, metrics, world, workload } = await setFeed()
    await clock.advanceBy(10 * SECOND)
    world.answer = answered(404)
    workload(1)
    await clock.advanceBy(10 * SECOND)
    const page = await metrics.text()
    const told = new Set(page.match(/^status_publish_\w+/gm))
    const file = new URL('../../../../docs/operate/status-feed.json', import.meta.url)
    const dashboard = await readFile(file, 'utf8')
    assert.deepEqual(new Set(dashboard.match(/status_publish_\w+/g)), told)
    const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] }
    const labels = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => /by \((?!instance)(\w+)\)/.exec(expr)?.[1] ?? []),
    )
    for (const label of labels) assert.ok(page.includes(`{${label}="`), label)
  })

  test('SF-9 each attempt has its line, with what came of it', async () => {
    const { clock, world, workload, logged, told } = await setFeed()
    await clock.advanceBy(10 * SECOND)
    world.answer = answered(404)
    workload(1)
    await clock.advanceBy(SECOND)
    const lines = logged.filter(({ message_id }) => message_id !== undefined)
    assert.deepEqual(
      lines.map(({ message_id }) => message_id),
      told().map(({ message }) => message.message_id),
    )
    const shown = lines.map((line: Wire) => [
      line.agent_id,
      line.status,
      line.http_status,
      line.error,
    ])
    assert.deepEqual(shown, [
      ['chimera-counter', 'AVAILABLE', 202, undefined],
      ['chimera-counter', 'BUSY', 404, 'no'],
    ])
  })

  test('SF-10 a long queue is told of once, three failures in a row once', async () => {
    const { clock, world, workload, alerts } = await setFeed({ queue: 10 })
    world.answer = CUT
    for (let each = 1; each <= 100; each += 1) {
      workload(each % 2)
      await clock.advanceBy(SECOND)
    }
    assert.deepEqual(alerts.map(({ kind }) => kind).sort(), [
      'feed_failing',
      'feed_paused',
      'feed_queue',
    ])
  })

  test('a token that cannot be read is a failure, and its text is in no line', async () => {
    const { clock, workload, logged, door } = await setFeed()
    await clock.advanceBy(10 * SECOND)
    door.post = async () => {
      throw new Error('bad token: hunter2hunter2')
    }
    workload(1)
    await clock.advanceBy(SECOND)
    assert.ok(logged.some(({ error }) => error === 'credentials'))
    assert.ok(!JSON.stringify(logged).includes('hunter2'))
  })
})

describe('whether it speaks', () => {
  test('SF-11 switched off it says nothing, whatever changes, and no goodbye', async () => {
    const { clock, told, workload, voice, voices } = await setFeed({ enabled: false })
    workload(1)
    await clock.advanceBy(HOUR)
    assert.equal(told().length, 0)
    voice.steer({ publishing: true }, 'switch_on')
    await clock.advanceBy(0)
    assert.equal(told().length, 0, 'it begins with the canary, which this one is not')
    await voices.stop(soon())
    assert.equal(told().length, 0)
  })

  test('SF-11 the canary is a share of the agents, always the same ones', async () => {
    for (const [share, speaks] of [
      [0, false],
      [0.1, false],
      [1, true],
    ] as const) {
      const { voice, told } = await setFeed({ stage: 'canary', share })
      assert.deepEqual([voice.speaks(), told().length], [speaks, speaks ? 1 : 0])
    }
  })

  test('SF-11 off and on again by order: what is so then is said at once', async () => {
    const { clock, told, workload, voice } = await setFeed()
    voice.steer({ publishing: false }, 'switch_off')
    workload(1)
    await clock.advanceBy(HOUR)
    assert.equal(told().length, 1)
    voice.steer({ publishing: true }, 'switch_on')
    await clock.advanceBy(0)
    assert.deepEqual([told().length, told().at(-1)?.message.status], [2, 'BUSY'])
  })

  // biome-ignore format: a table is read by its columns
  const rows: [why: string, status: number, messages: number][] = [
    ['one schema rejection',              400, 1],
    ['one more',                          422, 1],
    ['repeated authentication failures',  401, 3],
    ['failures over the share',           404, 3],
  ]
  for (const [why, status, messages] of rows) {
    test(`SF-13 ${why} (${status}) switches publishing off and alerts`, async () => {
      const { clock, told, world, voice, alerts, workload } = await setFeed()
      world.answer = answered(status)
      for (let each = 1; each <= 12; each += 1) {
        workload(each % 2)
        await clock.advanceBy(10 * SECOND)
      }
      assert.equal(told().length, 1 + messages)
      assert.equal(voice.rollout().stage, 'off')
      assert.ok(alerts.some(({ kind }) => kind === 'feed_switched_off'))
      world.answer = answered(202)
      await clock.advanceBy(HOUR)
      assert.equal(told().length, 1 + messages, 'it needs a new order')
    })
  }
})

test('the last word is that it is paused', async () => {
  const { clock, told, voices } = await setFeed()
  await clock.advanceBy(10 * SECOND)
  await voices.stop(soon())
  assert.deepEqual([told().length, told().at(-1)?.message.status], [2, 'PAUSED'])
  assert.deepEqual(clock.pending(), [])
})
