/** Feeds read over HTTP on loopback, and `chimera-feeds` as its clients see it. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TrendData } from '@chimera/dialects/skills/trend'
import { createGuardedClient, type GuardedClient } from '@chimera/host/guarded/client'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createRunner } from '@chimera/skill/runner'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { type FeedTown, openFeedTown, rss } from '../../test/feed-town.ts'
import { fetchTrends } from '../fetch-trends.ts'
import { connectMcp, type McpConnection } from '../mcp/connection.ts'
import { trendSource } from '../mcp/trend-source.ts'
import { FeedsMisused, startFeeds } from './command.ts'
import { createMemory } from './memory.ts'
import { createFeedReader, type FeedReaderOptions, FeedsFailure } from './reader.ts'
import { readFeedSettings } from './settings.ts'

const MINUTE_MS = 60_000
const NOW = Date.parse('2026-01-01T12:00:00Z')
const YOUNG = 'Thu, 01 Jan 2026 11:00:00 GMT'
const signal = new AbortController().signal

let town: FeedTown
let folder: string
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  town = await openFeedTown()
  folder = await mkdtemp(join(tmpdir(), 'chimera-feeds-'))
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  town.pages.clear()
  town.asked.length = 0
})
afterAll(async () => {
  await town.close()
  await rm(folder, { recursive: true })
})

const TOPICS = (trends: readonly TrendData[]) => trends.map(({ topic }) => topic)

function reading(paths: readonly string[], more: Partial<FeedReaderOptions> = {}) {
  const clock = createVirtualClock({ startAt: NOW })
  const guard: GuardedClient = createGuardedClient({ clock, allowNet: ['127.0.0.1'] })
  closing.push(() => guard.close(AbortSignal.abort()))
  const feeds = paths.map((path) => ({ platform: 'news', url: `${town.url}${path}` }) as const)
  const reader = createFeedReader({ feeds, memory: createMemory(), guard, clock, ...more })
  return { clock, reader, read: () => reader.read('news', signal) }
}

const failing = async (running: Promise<unknown>): Promise<FeedsFailure> => {
  const error = await running.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof FeedsFailure, String(error))
  return error
}

describe('readings', () => {
  test('R2 a feed is asked for what is new', async () => {
    const headers = { etag: '"one"', 'last-modified': YOUNG }
    town.pages.set('/a', { headers, body: rss({ title: 'Night trains', date: YOUNG }) })
    const { clock, read } = reading(['/a'])
    assert.deepEqual(TOPICS(await read()), ['Night trains'])
    await clock.advanceBy(5 * MINUTE_MS)
    assert.deepEqual(TOPICS(await read()), ['Night trains'])
    assert.equal(town.asked[1]?.headers['if-none-match'], '"one"')
    assert.equal(town.asked[1]?.headers['if-modified-since'], YOUNG)
  })

  test('R1 a reading is good for five minutes, and shared', async () => {
    town.pages.set('/a', { body: rss({ title: 'Night trains', date: YOUNG }) })
    const { clock, read } = reading(['/a'])
    await Promise.all([read(), read(), read()])
    await clock.advanceBy(4 * MINUTE_MS)
    await read()
    assert.equal(town.asked.length, 1)
  })

  test('R3 what fails takes nothing from the others', async () => {
    town.pages.set('/a', { body: rss({ title: 'Night trains', date: YOUNG }) })
    town.pages.set('/b', { status: 500 })
    town.pages.set('/c', { body: '<!DOCTYPE r [<!ENTITY a "b">]><rss/>' })
    const { read } = reading(['/a', '/b', '/c', '/none'])
    assert.deepEqual(TOPICS(await read()), ['Night trains'])
  })

  test('R3 where all fail, the last reading stands for half an hour', async () => {
    town.pages.set('/a', { body: rss({ title: 'Night trains', date: YOUNG }) })
    const { clock, read } = reading(['/a'])
    await read()
    town.pages.set('/a', { status: 500 })
    await clock.advanceBy(20 * MINUTE_MS)
    assert.deepEqual(TOPICS(await read()), ['Night trains'])
    await clock.advanceBy(11 * MINUTE_MS)
    const failure = await failing(read())
    assert.equal(failure.code, 'PLATFORM_UNAVAILABLE')
    town.pages.set('/a', { body: rss({ title: 'Day trains', date: YOUNG }) })
    await clock.advanceBy(MINUTE_MS)
    assert.deepEqual(TOPICS(await read()).toSorted(), ['Day trains', 'Night trains'])
  })

  test('R2 one that has enough is left alone as long as it says', async () => {
    town.pages.set('/a', { status: 429, headers: { 'retry-after': '600' } })
    const { clock, read } = reading(['/a'])
    assert.equal((await failing(read())).code, 'RATE_LIMITED')
    await clock.advanceBy(9 * MINUTE_MS)
    await failing(read())
    assert.equal(town.asked.length, 1)
    await clock.advanceBy(MINUTE_MS)
    await failing(read())
    assert.equal(town.asked.length, 2)
  })

  const rows: readonly (readonly [
    rule: string,
    page: Parameters<FeedTown['pages']['set']>[1],
    why: RegExp,
  ])[] = [
    ['too large', { body: 'x'.repeat(2_000_000) }, /too_large/],
    ['announced as too large', { headers: { 'content-length': '999999999' } }, /too_large|network/],
    [
      'sent elsewhere inside',
      { status: 302, headers: { location: 'http://10.0.0.1/' } },
      /refused_address/,
    ],
    ['a page', { body: '<html>Welcome</html>' }, /not a feed/],
    ['not there', { status: 404 }, /status 404/],
  ]
  for (const [rule, page, why] of rows) {
    test(`a feed that is ${rule}`, async () => {
      town.pages.set('/a?key=hush', page)
      const failure = await failing(reading(['/a?key=hush']).read())
      assert.match(failure.message, why)
      assert.doesNotMatch(failure.message, /hush/)
    })
  }

  test('a feed that hangs is given up', async () => {
    town.pages.set('/a', { hangs: true })
    const { clock, read } = reading(['/a'])
    const running = failing(read())
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    await clock.advanceBy(8_000)
    assert.match((await running).message, /timeout/)
  })

  test('R4 a key of the environment goes with the address and is told to nobody', async () => {
    const environment = { FEED_KEY: 'hush hush' }
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it stands for a variable
    const { read } = reading(['/a?key=${FEED_KEY}'], { environment })
    const failure = await failing(read())
    assert.equal(town.asked[0]?.path, '/a?key=hush%20hush')
    assert.doesNotMatch(failure.message, /hush/)
  })
})

async function dialled(words: readonly string[]): Promise<McpConnection> {
  const clock = createVirtualClock({ startAt: NOW })
  const lines: string[] = []
  const hands = { environment: {}, clock, tell: (line: string) => lines.push(line) }
  const running = await startFeeds(['--http', '0', '--allow-net', '127.0.0.1', ...words], hands)
  const guard = createGuardedClient({ clock, allowNet: ['127.0.0.1'] })
  const connection = connectMcp(
    { is: 'address', name: 'feeds', url: running.url ?? '' },
    { clock, guard },
  )
  closing.push(running.close, () => guard.close(AbortSignal.abort()), connection.close)
  return connection
}

describe('chimera-feeds', () => {
  test('V1 serves feeds, and samples where they are asked for', async () => {
    town.pages.set('/a', {
      body: rss(
        { title: 'Old but loud', date: 'Thu, 01 Jan 2026 01:00:00 GMT', comments: 50 },
        { title: 'New', date: YOUNG },
      ),
    })
    const feeds = await dialled(['--feed', `news=${town.url}/a`, '--samples'])
    const { resources } = await feeds.look()
    assert.equal(resources.length, 10)
    const read = async (uri: string) => JSON.parse((await feeds.read(uri)).texts[0] ?? '')
    const news = await read('news://trends')
    assert.deepEqual(
      [news.platform, news.samples, TOPICS(news.trends)],
      ['news', false, ['Old but loud', 'New']],
    )
    // V2.
    const general = await read('news://feed/general')
    assert.deepEqual(TOPICS(general.trends), ['New', 'Old but loud'])
    const reddit = await read('reddit://trends')
    assert.equal(reddit.samples, true)
    assert.ok(
      reddit.trends.every((trend: TrendData) => trend.metadata?.hashtags?.[0] === '#sample'),
    )
  })

  test('without --samples there are only the platforms with a feed', async () => {
    const feeds = await dialled(['--feed', `news=${town.url}/a`])
    assert.deepEqual((await feeds.look()).resources, ['news://trends', 'news://feed/general'])
    await assert.rejects(feeds.read('reddit://trends'), { code: 'refused' })
  })

  test('a platform that has enough says so to its client', async () => {
    town.pages.set('/a', { status: 429 })
    const feeds = await dialled(['--feed', `news=${town.url}/a`])
    await assert.rejects(feeds.read('news://trends'), { code: 'rate_limited' })
  })

  test('K1 what was seen is there after a restart, and asked for conditionally', async () => {
    const memory = join(folder, 'memory.json')
    const words = ['--feed', `news=${town.url}/a`, '--memory', memory]
    town.pages.set('/a', { headers: { etag: '"k"' }, body: rss({ title: 'Kept', date: YOUNG }) })
    await (await dialled(words)).read('news://trends')
    for (const close of closing.splice(0).toReversed()) await close()
    const kept = await readFile(memory, 'utf8')
    assert.doesNotMatch(kept, /127\.0\.0\.1/)
    // As if the five minutes were over.
    await writeFile(memory, kept.replace(/"notBefore":\d+/, '"notBefore":0'))
    const [text = ''] = (await (await dialled(words)).read('news://trends')).texts
    assert.deepEqual(TOPICS(JSON.parse(text).trends), ['Kept'])
    assert.equal(town.asked.at(-1)?.headers['if-none-match'], '"k"')
    await writeFile(memory, '{"version":1,"seen":[{}],')
    await (await dialled(words)).read('news://trends')
  })

  const wrong: readonly (readonly [rule: string, words: readonly string[], why: RegExp])[] = [
    ['nothing to serve', [], /nothing to serve/],
    ['an unknown platform', ['--feed', 'myspace=https://a.example'], /--feed myspace/],
    ['an unknown word', ['--sample'], /sample/],
    ['a port that is none', ['--samples', '--http', 'x'], /--http x/],
    ['a file that is not there', ['--config', '/nowhere/feeds.json'], /cannot be read/],
  ]
  for (const [rule, words, why] of wrong) {
    test(`refuses ${rule}`, async () => {
      const hands = { environment: {}, tell: () => undefined }
      await assert.rejects(
        startFeeds(words, hands),
        (error) => error instanceof FeedsMisused && why.test(error.message),
      )
    })
  }

  test('S1 names every field of a file that is wrong', () => {
    const read = readFeedSettings('{"feeds":[{"platform":"myspace","url":""}],"sample":true}')
    assert.ok(!read.ok)
    const all = read.problems.join('\n')
    for (const path of ['/feeds/0/platform', '/feeds/0/url', 'sample'])
      assert.ok(all.includes(path))
  })

  test('SK-6 as a process of its own, from the settings of the docs to fetch_trends', async () => {
    const page = await readFile(
      new URL('../../../../docs/concepts/feeds.md', import.meta.url),
      'utf8',
    )
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? []
    const read = readFeedSettings(example)
    assert.ok(read.ok, JSON.stringify(read))
    // The process has its own time; ours stands still, however long it takes to start.
    const clock = createVirtualClock({ startAt: Date.now() })
    const date = new Date(clock.now() - MINUTE_MS).toUTCString()
    town.pages.set('/a', { body: rss({ title: 'Night trains', date, comments: 6_000 }) })
    const { settings } = read
    const feeds = settings.feeds?.map((feed) => ({ ...feed, url: `${town.url}/a` })) ?? []
    const memory = join(folder, 'process.json')
    const config = join(folder, 'feeds.json')
    await writeFile(config, JSON.stringify({ ...settings, feeds, memory, allowNet: ['127.0.0.1'] }))
    const main = fileURLToPath(new URL('main.ts', import.meta.url))
    const flags = ['--import', import.meta.resolve('tsx'), '--conditions=chimera-source']
    const connection = connectMcp(
      {
        is: 'command',
        name: 'feeds',
        command: process.execPath,
        args: [...flags, main, '--config', config],
      },
      { clock },
    )
    closing.push(connection.close)
    const skill = fetchTrends({ sources: { news: [trendSource(connection)] }, clock })
    const outcome = await createRunner({ skills: [skill], clock }).run(skill, { platform: 'news' })
    assert.ok(outcome.ok, JSON.stringify(outcome))
    assert.deepEqual(TOPICS(outcome.output.trends), ['Night trains'])
    assert.equal(outcome.output.trends[0]?.engagement.engagement_score, 12_000)
  })
})
