/** A campaign with the real skills, in one process: what it does, and that it does it once. */
import assert from 'node:assert/strict'
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
