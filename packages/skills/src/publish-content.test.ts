/**
 * `publish_content` through the runner, on a real HTTP platform: each row of its errors, what
 * happens once, what is scheduled, and what nobody knows.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { PublishContentInput } from '@chimera/dialects/skills/schema'
import type { ContentId } from '@chimera/domain/ids'
import { canonicalDigest } from '@chimera/identity/canonical'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { type Platform, publisherOf, startPlatform, type Turn } from '../test/platform-server.ts'
import { approvedInput, contentOf, createTown, said } from '../test/publishing.ts'
import { createLocalOutbox } from './publish/local-outbox.ts'
import { startScheduler } from './publish/scheduler.ts'

const HOUR_MS = 3_600_000
let platform: Platform

beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.stop())
beforeEach(() => platform.reset())

const twitter = (how = {}) => ({ twitter: publisherOf(platform.address, how) })
const texts = () => platform.posts.map(({ text }) => text)

describe('SK-10 publishing', () => {
  test('posts what was approved, and leaves word of the reviewer', async () => {
    const { desk, audit, instance } = createTown(platform)
    const content = contentOf({ platform_variants: { twitter: { text: 'The harbour reads.' } } })
    const outcome = await instance(twitter()).publish(await approvedInput(desk, { content }))
    assert.ok(outcome.ok, JSON.stringify(outcome))
    assert.deepEqual(outcome.output, {
      success: true,
      post_id: platform.posts[0]?.id,
      post_url: `https://platform.example/${platform.posts[0]?.id}`,
      platform: 'twitter',
      published_at: outcome.output.published_at,
    })
    assert.deepEqual(texts(), ['The harbour reads.'])
    assert.deepEqual(
      audit.map(({ is, contentId, reviewerId }) => [is, contentId, reviewerId]),
      [
        ['accepted', content.content_id, 'Ada'],
        ['posted', content.content_id, 'Ada'],
      ],
    )
  })

  test('DUPLICATE_CONTENT: the first post is the answer, however it is asked again', async () => {
    const { desk, clock, instance } = createTown(platform)
    const content = contentOf()
    const input = await approvedInput(desk, { content })
    const first = await instance(twitter()).publish(input)
    assert.ok(first.ok)
    // biome-ignore format: a table is read by its columns
    const again: [why: string, input: PublishContentInput][] = [
      ['the same call',                       input],
      ['with a new approval',                 await approvedInput(desk, { content })],
      ['edited since, and approved as such',  await approvedInput(desk, { content: { ...content, captions: 'Something quite different.' } })],
    ]
    for (const [why, each] of again) {
      // Another process, long after the approval has ended.
      await clock.advanceBy(HOUR_MS)
      const outcome = await instance(twitter()).publish(each)
      assert.ok(outcome.ok, why)
      assert.deepEqual(outcome.output, first.output, why)
    }
    assert.equal(platform.posts.length, 1)
  })

  test('the same content on two platforms needs two approvals, and is two posts', async () => {
    const { desk, instance } = createTown(platform)
    const content = contentOf()
    const publisher = publisherOf(platform.address)
    const one = instance({ twitter: publisher, tiktok: publisher })
    const input = await approvedInput(desk, { content })
    assert.equal(said(await one.publish(input)), 'post-1')
    assert.equal(said(await one.publish({ ...input, platform: 'tiktok' })), 'INVALID_TOKEN')
    const other = await approvedInput(desk, { content, platform: 'tiktok' })
    assert.ok((await one.publish(other)).ok)
    assert.equal(platform.posts.length, 2)
  })

  test('of many calls at once, in two processes, one posts', async () => {
    const { desk, instance } = createTown(platform)
    const input = await approvedInput(desk, { content: contentOf() })
    const [one, two] = [instance(twitter()), instance(twitter())]
    const runs = [one, two, one].map(({ runner }) => runner.run('publish_content', input))
    const last = two.publish(input)
    const all = await Promise.all([...runs, last])
    for (const each of all) assert.ok(each.ok, JSON.stringify(each))
    assert.equal(platform.posts.length, 1)
  })

  test('without a platform or a hub, the outbox of this machine, and it says so', async () => {
    const { desk, clock, instance } = createTown(platform)
    const outbox = createLocalOutbox({ now: clock.now })
    const outcome = await instance({ twitter: outbox }).publish(
      await approvedInput(desk, { content: contentOf() }),
    )
    assert.ok(outcome.ok)
    assert.match(outcome.output.post_url ?? '', /^urn:chimera:outbox:twitter:/)
    assert.match(outbox.name, /nobody else reads/)
  })
})

describe('SK-10 each row of the errors', () => {
  const attempt = async (
    turns: readonly Turn[],
    change: (input: PublishContentInput) => unknown = (input) => input,
    approving: object = {},
  ) => {
    const { desk, clock, instance } = createTown(platform)
    const input = await approvedInput(desk, { content: contentOf(), ...approving })
    platform.play(...turns)
    if ('ttlMs' in approving) await clock.advanceBy(HOUR_MS)
    return instance(twitter()).publish(change(input))
  }

  test('PUBLISH_FAILED: three retries, then the error', async () => {
    const outcome = await attempt(['refuse', 'refuse', 'refuse', 'refuse'])
    assert.deepEqual([said(outcome), outcome.retries], ['PUBLISH_FAILED', 3])
    assert.equal(platform.posts.length, 0)
    const better = await attempt(['refuse', 'refuse', 'ok'])
    assert.deepEqual([better.ok, better.retries], [true, 2])
    assert.equal(platform.posts.length, 1)
  })

  test('PLATFORM_ERROR: three retries on the same platform and on no other', async () => {
    const outcome = await attempt(['down', 'down', 'down', 'down', 'ok'])
    assert.deepEqual([said(outcome), outcome.retries], ['PLATFORM_ERROR', 3])
    const missing = await attempt([], (input) => ({ ...input, platform: 'youtube' }))
    assert.equal(said(missing), 'INVALID_TOKEN', 'the approval is for another platform')
    const { desk, instance } = createTown(platform)
    const input = await approvedInput(desk, { content: contentOf(), platform: 'youtube' })
    assert.equal(said(await instance(twitter()).publish(input)), 'PLATFORM_ERROR')
    assert.equal(platform.posts.length, 0)
  })

  const half = (text: string) => `${text.slice(0, -6)}AAAAAA`
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, code: string, change: (input: PublishContentInput) => unknown, approving?: object][] = [
    ['edited content',        'INVALID_TOKEN', (input) => ({ ...input, content: { ...input.content, captions: 'Edited after it was approved.' } })],
    ['another content',       'INVALID_TOKEN', (input) => ({ ...input, content: { ...input.content, content_id: randomUUID() } })],
    ['another platform',      'INVALID_TOKEN', (input) => ({ ...input, platform: 'tiktok' })],
    ['a time that was not approved', 'INVALID_TOKEN', (input) => ({ ...input, schedule_time: '2026-01-16T12:00:00Z' })],
    ['another time',          'INVALID_TOKEN', (input) => ({ ...input, schedule_time: '2026-01-16T12:00:00Z' }), { scheduledAt: Date.UTC(2026, 0, 17) }],
    ['a broken signature',    'INVALID_TOKEN', (input) => ({ ...input, approval_token: half(input.approval_token) })],
    ['no algorithm',          'INVALID_TOKEN', (input) => ({ ...input, approval_token: `${Buffer.from('{"alg":"none","typ":"chimera-approval+jwt"}').toString('base64url')}.${input.approval_token.split('.')[1]}.x` })],
    ['no token at all',       'INVALID_TOKEN', (input) => ({ ...input, approval_token: 'approved' })],
    ['an approval that has ended', 'TOKEN_EXPIRED', (input) => input, { ttlMs: 60_000 }],
    ['no content',            'INVALID_INPUT', ({ content: _, ...input }) => input],
    ['half a character',      'INVALID_INPUT', (input) => ({ ...input, content: { ...input.content, captions: `${input.content.captions} \ud800` } })],
    ['an unknown platform',   'INVALID_INPUT', (input) => ({ ...input, platform: 'linkedin' })],
  ]
  for (const [why, code, change, approving] of rows) {
    test(`${code}: ${why}, at once and for good`, async () => {
      const outcome = await attempt([], change, approving)
      assert.deepEqual([said(outcome), outcome.retries], [code, 0])
      assert.equal(platform.posts.length, 0)
    })
  }

  test('DUPLICATE_CONTENT: an approval that somebody else has used', async () => {
    const town = createTown(platform)
    const content = contentOf()
    const input = await approvedInput(town.desk, { content })
    const publication = {
      content: content.content_id as ContentId,
      bytes: canonicalDigest(content),
      platform: 'twitter',
    }
    const { signal } = new AbortController()
    await town.desk.use({ token: input.approval_token, publication, use: 'other' }, signal)
    const outcome = await town.instance(twitter()).publish(input)
    assert.equal(said(outcome), 'DUPLICATE_CONTENT', 'and there is no post to name')
    assert.equal(platform.posts.length, 0)
  })

  test('NETWORK_ERROR: nobody can judge the approval', async () => {
    const { desk, clock, instance } = createTown(platform)
    const input = await approvedInput(desk, { content: contentOf() })
    const away = { name: 'away', use: async () => Promise.reject(new Error('the hub is away')) }
    const outcome = await instance(twitter(), undefined, away).publish(input)
    assert.deepEqual([said(outcome), outcome.retries], ['NETWORK_ERROR', 3])
    await clock.advanceBy(HOUR_MS)
    assert.ok((await instance(twitter()).publish(input)).ok, 'and nothing was lost by it')
  })
})

describe('SK-10 when the answer is lost', () => {
  test('a post that is there is found, also after our time-out', async () => {
    for (const turn of ['silent', 'dropped'] as const) {
      platform.reset()
      const { desk, instance } = createTown(platform)
      platform.play(turn)
      const input = await approvedInput(desk, { content: contentOf() })
      const outcome = await instance(twitter()).publish(input)
      assert.ok(outcome.ok, turn)
      assert.equal(outcome.output.post_id, platform.posts[0]?.id)
      assert.equal(platform.posts.length, 1)
    }
  })

  test('what arrives late is not posted again', async () => {
    const { desk, clock, instance } = createTown(platform)
    platform.play('late')
    const input = await approvedInput(desk, { content: contentOf() })
    assert.equal(said(await instance(twitter()).publish(input)), 'OUTCOME_UNKNOWN')
    assert.equal(said(await instance(twitter()).publish(input)), 'OUTCOME_UNKNOWN', 'too soon')
    platform.arrive()
    await clock.advanceBy(70_000)
    const outcome = await instance(twitter()).publish(input)
    assert.equal(said(outcome), platform.posts[0]?.id)
    assert.equal(platform.posts.length, 1)
  })

  test('what never arrived is posted when it is asked for again, after a while', async () => {
    const { desk, clock, instance } = createTown(platform)
    platform.play('lost')
    const input = await approvedInput(desk, { content: contentOf() })
    assert.equal(said(await instance(twitter()).publish(input)), 'OUTCOME_UNKNOWN')
    await clock.advanceBy(70_000)
    assert.equal(said(await instance(twitter()).publish(input)), 'post-1')
    assert.equal(platform.posts.length, 1)
  })

  test('a platform that cannot be asked leaves it unknown, for ever if need be', async () => {
    const { desk, clock, instance } = createTown(platform)
    platform.play('silent')
    const input = await approvedInput(desk, { content: contentOf() })
    for (let hours = 0; hours < 3; hours += 1) {
      assert.equal(
        said(await instance(twitter({ finds: false })).publish(input)),
        'OUTCOME_UNKNOWN',
      )
      await clock.advanceBy(HOUR_MS)
    }
    assert.equal(platform.posts.length, 1)
  })

  test('a platform that takes a key once is simply asked again', async () => {
    const { desk, instance } = createTown(platform)
    platform.state.once = true
    platform.play('silent')
    const input = await approvedInput(desk, { content: contentOf() })
    const one = instance(twitter({ finds: false, once: true }))
    assert.equal(said(await one.publish(input)), 'OUTCOME_UNKNOWN')
    assert.equal(said(await one.publish(input)), 'post-1')
    assert.equal(platform.posts.length, 1)
  })

  test('other content under the same id waits until it is known', async () => {
    const { desk, instance } = createTown(platform)
    platform.play('lost')
    const content = contentOf()
    const one = instance(twitter())
    await one.publish(await approvedInput(desk, { content }))
    const edited = { ...content, captions: 'Something quite different.' }
    const outcome = await one.publish(await approvedInput(desk, { content: edited }))
    assert.equal(said(outcome), 'CONFLICT')
    assert.equal(platform.posts.length, 0)
  })

  test('the scheduler finds it out while nobody asks, and sends nothing by itself', async () => {
    const { desk, clock, instance, keep } = createTown(platform)
    const one = instance(twitter())
    platform.play('lost', 'late')
    const lost = await approvedInput(desk, { content: contentOf() })
    assert.equal(said(await one.publish(lost)), 'OUTCOME_UNKNOWN')
    const late = await approvedInput(desk, { content: contentOf() })
    assert.equal(said(await one.publish(late)), 'OUTCOME_UNKNOWN')
    platform.arrive()
    const scheduler = startScheduler({ publishing: one.publishing })
    await clock.advanceBy(10 * 60_000)
    await scheduler.stop()
    assert.equal(platform.posts.length, 1)
    assert.deepEqual(await keep.due(clock.now() + HOUR_MS, 9), [], 'nothing is left open')
    assert.equal(said(await one.publish(late)), 'post-1')
  })
})

describe('SK-10 a scheduled post', () => {
  test('is out at its time, once, after a restart, though its approval has ended', async () => {
    const { desk, clock, instance } = createTown(platform)
    const scheduledAt = clock.now() + 300_000
    const approving = { content: contentOf(), scheduledAt, ttlMs: 60_000 }
    const input = await approvedInput(desk, approving)
    const accepted = await instance(twitter()).publish(input)
    assert.ok(accepted.ok)
    assert.deepEqual(accepted.output, {
      success: true,
      platform: 'twitter',
      scheduled_for: '2026-01-15T12:05:00Z',
    })
    assert.deepEqual((await instance(twitter()).publish(input)).ok, true, 'again is the same')
    // Two processes after a restart.
    const loops = [1, 2].map(() => startScheduler({ publishing: instance(twitter()).publishing }))
    await clock.advanceTo(scheduledAt - 1)
    assert.equal(platform.posts.length, 0)
    await clock.advanceBy(2_001)
    assert.equal(platform.posts.length, 1)
    await Promise.all(loops.map((each) => each.stop()))
    const after = await instance(twitter()).publish(input)
    assert.ok(after.ok)
    assert.equal(after.output.post_id, 'post-1')
  })

  test('that its platform refuses is tried again, and given up in the end', async () => {
    const { desk, clock, instance, keep } = createTown(platform)
    const scheduledAt = clock.now() + 60_000
    const one = instance(twitter())
    const input = await approvedInput(desk, { content: contentOf(), scheduledAt })
    await one.publish(input)
    platform.play('down', 'refuse', 'down')
    const heard: string[] = []
    const scheduler = startScheduler({
      publishing: one.publishing,
      told: (_, { is }) => heard.push(is),
    })
    await clock.advanceBy(10 * 60_000)
    assert.deepEqual(heard, ['refused', 'refused', 'refused', 'posted'])
    platform.play(...Array.from({ length: 20 }, () => 'refuse' as const))
    const hopeless = await approvedInput(desk, {
      content: contentOf(),
      scheduledAt: clock.now() + 1_000,
    })
    await one.publish(hopeless)
    await clock.advanceBy(HOUR_MS)
    await scheduler.stop()
    assert.deepEqual(await keep.due(clock.now() + HOUR_MS, 9), [])
    assert.equal(platform.posts.length, 1)
    platform.play()
    assert.ok((await one.publish(hopeless)).ok, 'asked for again, it is tried again')
    assert.equal(platform.posts.length, 2)
  })

  test('can be approved for another time, and is then out at that one only', async () => {
    const { desk, clock, instance } = createTown(platform)
    const content = contentOf()
    const one = instance(twitter())
    const first = clock.now() + 60_000
    await one.publish(await approvedInput(desk, { content, scheduledAt: first }))
    const second = clock.now() + 120_000
    await one.publish(await approvedInput(desk, { content, scheduledAt: second }))
    const scheduler = startScheduler({ publishing: one.publishing })
    await clock.advanceTo(second - 1)
    assert.equal(platform.posts.length, 0)
    await clock.advanceBy(2_000)
    await scheduler.stop()
    assert.equal(platform.posts.length, 1)
  })
})

test('SK-10 whatever the platform does and wherever a process dies, never twice', async () => {
  const turn = fc.constantFrom<Turn>('ok', 'refuse', 'down', 'silent', 'dropped', 'lost', 'late')
  const life = fc.record({
    turns: fc.array(turn, { maxLength: 4 }),
    /** How many steps of keeping it lives; all of them where it is absent. */
    dies: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    finds: fc.boolean(),
    arrives: fc.boolean(),
    waitMs: fc.constantFrom(0, 30_000, 70_000),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
      platform.reset()
      const { desk, clock, instance, keep } = createTown(platform)
      const input = await approvedInput(desk, { content: contentOf() })
      for (const { turns, dies, finds, arrives, waitMs } of lives) {
        platform.play(...turns)
        platform.state.finds = finds ? 'ok' : 'down'
        let steps = 0
        const mortal = async <Value>(step: () => Promise<Value>): Promise<Value> => {
          steps += 1
          if (dies !== undefined && steps > dies) throw new Error('it is dead')
          return step()
        }
        const outcome = await instance(twitter(), {
          ...keep,
          add: (record) => mortal(() => keep.add(record)),
          change: (record) => mortal(() => keep.change(record)),
        }).publish(input)
        // Within the time that a request may be under way, or never.
        if (arrives) platform.arrive()
        else platform.drop()
        assert.ok(platform.posts.length <= 1, 'twice')
        if (outcome.ok) assert.equal(outcome.output.post_id, platform.posts[0]?.id)
        await clock.advanceBy(waitMs)
      }
      // In the end everything works, and there is exactly one.
      platform.play()
      platform.state.finds = 'ok'
      await clock.advanceBy(130_000)
      assert.ok((await instance(twitter()).publish(input)).ok)
      assert.equal(platform.posts.length, 1)
    }),
    { numRuns: 25 },
  )
})
