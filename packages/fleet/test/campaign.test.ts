/** A campaign with the real skills, in one process: what it does, and that it does it once. */
import assert from 'node:assert/strict'
import { HireFailure } from '@chimera/agent'
import type { AgentId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { defineSkill, Type } from '@chimera/skill/define'
import { describe, test } from 'vitest'
import type { RunCampaignOutput } from '../src/campaign/asked.ts'
import { runCampaign } from '../src/campaign/run.ts'
import { askedFor } from './persona.ts'
import { Cut, createTown, type Person, type Town } from './town.ts'

const YES = { state: 'approved', approval_token: 'a.b.c', reviewer: 'ann' } as const
const says =
  (...answers: readonly (Parameters<typeof seen>[0] | undefined)[]): Person =>
  ({ round }) =>
    answers[Math.min(round, answers.length) - 1]
const seen = (answer: ReturnType<Person>) => answer

async function once(town: Town, asked = askedFor()): Promise<RunCampaignOutput> {
  return runCampaign(asked, town.hands())
}
const states = ({ pieces }: RunCampaignOutput) =>
  pieces.filter(({ state }) => state !== 'filtered_out').map(({ state }) => state)

describe('a campaign', () => {
  test('SK-16 goes from trends to posts, each paid, each approved by a person', async () => {
    const town = createTown(says(YES))
    const done = await once(town)
    assert.deepEqual(states(done), ['published', 'published'])
    assert.equal(town.posts().length, 2)
    // Trends and filter once; then write, judge and publish for each platform.
    assert.equal(done.spent, 1.05)
    const record = town.record()
    assert.equal(record?.status, 'completed')
    assert.deepEqual(record?.budget, { total: 5, spent: 1.05 })
    const way = record?.pieces.find(({ post_url }) => post_url)?.moments.map(({ state }) => state)
    assert.deepEqual(way, [
      'trend_detected',
      'accepted',
      'generating',
      'generated',
      'validating',
      'validated',
      'approval_pending',
      'approved',
      'publishing',
      'published',
    ])
    await town.close()
  })

  test('SK-16 two campaigns about one trend have a post each', async () => {
    const asked = askedFor({ publish_to: ['twitter'] })
    const posts: string[] = []
    for (const campaign_id of [1, 2].map((last) => `0190a5f0-2a5e-7c11-8f2a-00000000000${last}`)) {
      const town = createTown(says(YES))
      await once(town, { ...asked, campaign: { ...asked.campaign, campaign_id } })
      posts.push(...town.posts())
      await town.close()
    }
    assert.equal(posts.length, 2)
    assert.equal(new Set(posts).size, 2, 'published under one name, so that one is lost')
  })

  test('SK-16 what a person rejects is written again, with the words, not for ever', async () => {
    const town = createTown(says({ state: 'rejected', words: 'Too loud' }))
    const done = await once(town, askedFor({ publish_to: ['twitter'] }))
    assert.deepEqual(states(done), ['rejected'])
    assert.equal(town.posts().length, 0)
    const written = [...town.ran().keys()].filter((key) => key.startsWith('write '))
    assert.equal(written.length, LIMITS.contentRejections)
    assert.deepEqual(
      town.reviews().map(({ round }) => round),
      [1, 2, 3],
    )
    const texts = town.reviews().map(({ content }) => content.script)
    assert.equal(new Set(texts).size, texts.length, 'the same text was shown twice')
    await town.close()
  })

  test('SK-16 an approval that nobody gives expires, and says so', async () => {
    const town = createTown((_, looks) => (looks < 3 ? undefined : { state: 'expired' }))
    const done = await once(town, askedFor({ publish_to: ['twitter'] }))
    assert.deepEqual(states(done), ['approval_expired'])
    assert.equal(done.pieces.at(-1)?.words, 'nobody answered in time')
    await town.close()
  })

  test('SK-16 the CFO Judge refuses what exceeds the budget, and the piece says why', async () => {
    const town = createTown(says(YES))
    const asked = askedFor()
    const { campaign } = asked
    const poor = { ...campaign, budget: { ...campaign.budget, total: 0.55 } }
    const done = await once(town, { ...asked, campaign: poor })
    assert.deepEqual(states(done), ['publish_failed', 'generation_failed'])
    assert.match(done.pieces.at(-1)?.words ?? '', /only 0.05 of 0.55 are left/)
    assert.ok(done.spent <= 0.55)
    await town.close()
  })

  test('SK-16 a doubted text moves the agent to HUMAN_REVIEW until it was looked at', async () => {
    const town = createTown((_, looks) => (looks < 2 ? undefined : YES))
    await once(town, askedFor({ publish_to: ['twitter'] }))
    // The embedded composer never trusts itself.
    assert.deepEqual(town.awaited(), [true, false])
    await town.close()
  })

  test('SK-16 it pauses between steps while somebody wants it to', async () => {
    const town = createTown(says(YES))
    town.wish('pause')
    const hands = town.hands()
    let slept = 0
    const sleep: typeof hands.sleep = async () => {
      slept += 1
      assert.equal(town.record()?.status, 'paused')
      if (slept === 3) town.wish('resume')
    }
    await runCampaign(askedFor({ publish_to: ['twitter'] }), { ...hands, sleep })
    assert.equal(slept, 3)
    assert.equal(town.record()?.status, 'completed')
    await town.close()
  })

  test('SK-16 one piece that fails takes nothing from the others', async () => {
    const judge = defineSkill({
      name: 'validate_content',
      version: '1.0',
      input: Type.Object({}),
      output: Type.Object({}, { additionalProperties: true }),
      run: (asked, { failure }) => {
        const { context } = asked as { context: { platform: string } }
        if (context.platform === 'twitter') throw failure('INTERNAL_ERROR')
        return { valid: true, confidence_score: 0.9, issues: [], requires_human_review: false }
      },
    })
    const town = createTown(says(YES), [judge])
    const done = await once(town)
    assert.deepEqual(states(done), ['validation_failed', 'published'])
    await town.close()
  })
})

describe('a piece with a time of its own', () => {
  const NOON = Date.UTC(2026, 0, 1, 12)
  const after = (hours: number) => new Date(NOON + hours * 3_600_000).toISOString()

  /** A platform that takes a post before its time, or one that somebody hands it to then. */
  const publisher = (asked: number[], takesEarly: boolean) =>
    defineSkill({
      name: 'publish_content',
      version: '1.0',
      input: Type.Object({}),
      output: Type.Object({ success: Type.Boolean() }, { additionalProperties: true }),
      run: (given, { now, failure }) => {
        const { schedule_time } = given as { schedule_time: string }
        asked.push((now() - NOON) / 3_600_000)
        if (takesEarly && asked.length > 1) throw failure('INTERNAL_ERROR')
        const isEarly = Date.parse(schedule_time) > now()
        const post = { post_id: 'p1', post_url: 'https://posts.example/1' }
        return {
          success: true,
          platform: 'twitter',
          ...(isEarly && { scheduled_for: schedule_time }),
          ...((takesEarly || !isEarly) && post),
        }
      },
    })

  for (const [takesEarly, asks] of [
    [true, 1],
    [false, 2],
  ] as const) {
    test(`SK-16 SK-10 is approved until then, and then published; ${asks} asked`, async () => {
      const asked: number[] = []
      const town = createTown(says(YES), [publisher(asked, takesEarly)])
      const at = after(3)
      const done = await once(town, askedFor({ publish_to: ['twitter'], publish_at: at }))
      assert.deepEqual(states(done), ['published'])
      const moments = town.record()?.pieces.find(({ post_url }) => post_url)?.moments ?? []
      const [approved, publishing, published] = moments.slice(-3)
      assert.deepEqual([approved?.state, approved?.words], ['approved', `it goes out at ${at}`])
      assert.ok(publishing?.state === 'publishing' && publishing.at >= at, publishing?.at)
      assert.equal(published?.state, 'published')
      assert.deepEqual([asked.length, Math.floor(asked.at(-1) ?? 0)], [asks, (asks - 1) * 3])
      await town.close()
    })
  }

  test('SK-16 one that is after the end of the run is left to whoever publishes', async () => {
    const town = createTown(says(YES), [publisher([], true)])
    const done = await once(town, askedFor({ publish_to: ['twitter'], publish_at: after(48) }))
    assert.deepEqual(states(done), ['approved'])
    assert.equal(done.pieces.at(-1)?.words, `it goes out at ${after(48)}`)
    await town.close()
  })

  test('SK-16 cut at any point, it is asked for and published once', async () => {
    const asked = askedFor({ publish_to: ['twitter'], publish_at: after(3) })
    const whole = createTown(says(YES), [publisher([], true)])
    const hands = whole.hands()
    const expected = await runCampaign(asked, hands)
    await whole.close()
    // From the approval on: what comes before is cut elsewhere.
    for (let cutAt = hands.points() - 16; cutAt <= hands.points(); cutAt += 1) {
      const times: number[] = []
      const town = createTown(says(YES), [publisher(times, true)])
      await assert.rejects(runCampaign(asked, town.hands(cutAt)), Cut, `point ${cutAt}`)
      assert.deepEqual(await runCampaign(asked, town.hands()), expected, `point ${cutAt}`)
      assert.equal(times.length, 1, `point ${cutAt}`)
      await town.close()
    }
  })
})

describe('who is away', () => {
  const judged = { valid: true, confidence_score: 0.9, issues: [], requires_human_review: false }
  const away = (times: number, error: () => Error) => {
    const town = createTown(says(YES))
    const hands = town.hands()
    let asked = 0
    const hire: typeof hands.hire = async (skill, ...rest) => {
      if (skill !== 'validate_content') return hands.hire(skill, ...rest)
      asked += 1
      if (asked <= times) throw error()
      return { output: judged, cost: 0.1 }
    }
    return { town, hands: { ...hands, hire } }
  }
  const one = askedFor({ publish_to: ['twitter'] })

  test('SK-16 is waited for, and the step says so meanwhile', async () => {
    const { town, hands } = away(3, () => new HireFailure('nobody_found'))
    const words: unknown[] = []
    const sleep: typeof hands.sleep = (ms, signal) => {
      words.push(town.record()?.steps.at(-1)?.words)
      return hands.sleep(ms, signal)
    }
    const done = await runCampaign(one, { ...hands, sleep })
    assert.deepEqual(states(done), ['published'])
    assert.match(String(words[1]), /Nobody on the network offers this skill/)
    const { steps = [] } = town.record() ?? {}
    const step = steps.find(({ skill }) => skill === 'validate_content')
    assert.deepEqual([step?.state, step?.attempts, step?.words], ['done', 4, undefined])
    await town.close()
  })

  test('SK-16 for an hour, and then its piece ends with words', async () => {
    const { town, hands } = away(Number.POSITIVE_INFINITY, () => new HireFailure('hub_unanswered'))
    const began = hands.now()
    const done = await runCampaign(one, hands)
    assert.deepEqual(states(done), ['validation_failed'])
    const tookMs = hands.now() - began
    assert.ok(tookMs > 59 * 60_000 && tookMs < 61 * 60_000, String(tookMs))
    await town.close()
  })

  test('who says no is not: the piece ends at once', async () => {
    const declined = { how: 'refused', code: 'input_invalid', sentence: 'no' } as const
    const agent = '0190a5f0-2a5e-7c11-8f2a-000000000009' as AgentId
    const refusal = { declined: [{ ...declined, agent, name: 'Judge' }] }
    const { town, hands } = away(1, () => new HireFailure('nobody_accepted', refusal))
    assert.deepEqual(states(await runCampaign(one, hands)), ['validation_failed'])
    await town.close()
  })
})

describe('a filter that does not end in time', () => {
  const slow = (times: number) => {
    let asked = 0
    return defineSkill({
      name: 'semantic_filter',
      version: '1.0',
      input: Type.Object({}),
      output: Type.Object({}, { additionalProperties: true }),
      run: (given) => {
        asked += 1
        const { trends } = given as { trends: readonly unknown[] }
        if (asked <= times) return { filtered_trends: [], partial: true }
        const [trend] = trends
        return { filtered_trends: [{ trend, relevance_score: 0.9, reasoning: 'words' }] }
      },
    })
  }
  test('SK-16 is asked again before anybody says that nothing matters', async () => {
    const town = createTown(says(YES), [slow(2)])
    const done = await once(town, askedFor({ publish_to: ['twitter'] }))
    assert.deepEqual(states(done), ['published'])
    await town.close()
  })
  test('SK-16 and in the end the run fails, with words', async () => {
    const town = createTown(says(YES), [slow(3)])
    await assert.rejects(once(town), /no trend could be scored in time/)
    await town.close()
  })
})

describe('a campaign that is cut', () => {
  test('SK-16 at any point goes on where it was: nothing is done or posted twice', async () => {
    const person = says({ state: 'rejected', words: 'Shorter' }, YES)
    const asked = askedFor()
    const whole = createTown(person)
    const hands = whole.hands()
    const expected = await runCampaign(asked, hands)
    await whole.close()
    const points = hands.points()
    assert.ok(points > 100, `only ${points} points`)
    for (let cutAt = 1; cutAt <= points; cutAt += 1) {
      const town = createTown(person)
      await assert.rejects(runCampaign(asked, town.hands(cutAt)), Cut, `point ${cutAt}`)
      const done = await runCampaign(asked, town.hands())
      assert.deepEqual(done, expected, `point ${cutAt}`)
      for (const [step, times] of town.ran()) assert.equal(times, 1, `${step} at point ${cutAt}`)
      assert.equal(new Set(town.posts()).size, 2)
      assert.equal(town.posts().length, 2, `point ${cutAt}`)
      await town.close()
    }
  })
})
