/** `validate_content` through the runner: each rule, each row of its errors, the cache. */
import assert from 'node:assert/strict'
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { ValidateContentInput } from '@chimera/dialects/skills/schema'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createRunner } from '@chimera/skill/runner'
import { afterAll, describe, test } from 'vitest'
import { CONTENT, PERSONA } from '../test/content.ts'
import { passagesOf } from './judge/finding.ts'
import { validateContent } from './validate-content.ts'

const skill = validateContent({ allow: ['Dick Tracy'], brands: ['Acmé Cola'] })
const runner = createRunner({ skills: [skill] })
afterAll(() => runner.close())

type Changes = Omit<Partial<ValidateContentInput>, 'content'> & {
  readonly content?: Partial<ContentPackage>
}

async function judge({ content, ...asked }: Changes = {}) {
  const outcome = await runner.run(skill, { content: { ...CONTENT, ...content }, ...asked })
  assert.ok(outcome.ok, JSON.stringify(outcome))
  return outcome.output
}

test('SK-9 what nothing is wrong with is valid, and nobody has to look', async () => {
  const { validation_time_ms: tookMs = -1, ...verdict } = await judge()
  assert.ok(tookMs >= 0 && tookMs < 5_000)
  assert.deepEqual(verdict, {
    valid: true,
    confidence_score: 1,
    issues: [],
    requires_human_review: false,
  })
})

type Row = readonly [what: string, asked: Changes, rule: string, severity: string, words?: string]
const script = (text: string): Changes => ({ content: { script: `${CONTENT.script} ${text}` } })
const source = {
  url: 'https://post.example.org/a',
  text: 'It will be the first house in the town that is open to all of us on any night of a week.',
}

const rows: readonly Row[] = [
  ['profanity', script('What a shitty plan.'), 'offensive_language', 'error', 'shit'],
  ['with digits', script('Complete sh1t.'), 'offensive_language', 'error', 'sh1t'],
  ['spelled', script('Oh f u c k that.'), 'offensive_language', 'error', 'f u c k'],
  ['of another alphabet', script('Oh fuсk that.'), 'offensive_language', 'error', 'fuсk'],
  ['with nothing between', script('Oh fu\u200Bck.'), 'offensive_language', 'error', 'fu\u200Bck'],
  ['a threat', script('Go kill yourself.'), 'threat', 'error', 'kill yourself'],
  ['an insult', script('You are all idiots.'), 'insult', 'warning', 'You are all idiots'],
  ['health', script('It cures cancer.'), 'health_promise', 'error', 'cures cancer'],
  ['money', script('Guaranteed returns!'), 'finance_promise', 'error', 'Guaranteed returns'],
  ['a figure', script('Rents fell 12% here.'), 'unsourced_figure', 'warning', '12%'],
  ['a finding', script('Studies show it.'), 'unsourced_finding', 'warning', 'Studies show'],
  [
    'a copied sentence',
    {
      ...script('It will be the first house in the town, they say.'),
      context: { sources: [source] },
    },
    'copied_text',
    'warning',
    'It will be the first house in the town',
  ],
  [
    'a copied paragraph',
    { ...script(source.text), context: { sources: [source] } },
    'copied_text',
    'error',
    source.text.slice(0, -1),
  ],
  [
    'a mail address',
    script('Ask jo.k@x.example.org.'),
    'personal_data',
    'error',
    'jo.k@x.example.org',
  ],
  ['a card', script('4111 1111 1111 1111'), 'personal_data', 'error', '4111 1111 1111 1111'],
  ['a group', script('All women are lazy.'), 'demeaning_group', 'error', 'All women are lazy'],
  ['a secret', script('It was a hoax.'), 'hidden_truth', 'warning', 'was a hoax'],
  [
    'a song',
    script('♪ hold the light above the river till morning ♪'),
    'quoted_lyrics',
    'warning',
    '♪ hold the light above the river till morning ♪',
  ],
  [
    'an endorsement',
    script('In partnership with Nike.'),
    'claimed_endorsement',
    'warning',
    'In partnership with ',
  ],
  ['rights', script('All rights reserved.'), 'foreign_rights', 'warning', 'All rights reserved'],
  ['a brand', script('With ACME COLA.'), 'foreign_brand', 'warning', 'ACME COLA'],
  [
    'shouting',
    script('COME AND SEE THE NEW HOUSE now.'),
    'shouting',
    'info',
    'COME AND SEE THE NEW HOUSE ',
  ],
  [
    'emoji',
    { ...script('🎉🎉🎉🎉 Opinions are our own.'), context: { persona: PERSONA } },
    'emoji_usage',
    'info',
    '🎉',
  ],
  [
    'the alt text of a picture',
    {
      content: {
        media_metadata: [
          { url: 'https://a.example.org/1.png', type: 'image', alt_text: 'A shitty view' },
        ],
      },
    },
    'offensive_language',
    'error',
    'shit',
  ],
  ['bait', script('Retweet to win.'), 'engagement_bait', 'warning', 'Retweet to win'],
  [
    'too long for Twitter',
    { content: { captions: '字'.repeat(150) }, context: { platform: 'twitter' } },
    'twitter_rules',
    'error',
    '字'.repeat(150),
  ],
  ['no title', { context: { platform: 'youtube' } }, 'youtube_rules', 'error'],
  [
    'five pictures',
    {
      content: {
        media_urls: [1, 2, 3, 4, 5].map((at) => `https://pictures.example.org/${at}.png`),
      },
      context: { platform: 'twitter' },
    },
    'twitter_rules',
    'error',
  ],
  [
    'a forbidden word',
    { ...script('Cheap drinks. Opinions are our own.'), context: { persona: PERSONA } },
    'forbidden_word',
    'error',
    'Cheap',
  ],
  [
    'a forbidden association',
    { ...script('Like a casino! Opinions are our own.'), context: { persona: PERSONA } },
    'forbidden_association',
    'error',
    'casino',
  ],
  ['a missing disclaimer', { context: { persona: PERSONA } }, 'missing_disclaimer', 'error'],
]

describe('SK-9 each rule speaks, and points at the words', () => {
  for (const [what, asked, rule, severity, words] of rows) {
    test(what, async () => {
      const { issues, valid, requires_human_review, confidence_score } = await judge(asked)
      assert.deepEqual([issues[0]?.rule, issues[0]?.severity], [rule, severity])
      assert.equal(valid, severity !== 'error')
      assert.ok(confidence_score < 1)
      if (severity === 'error') assert.equal(requires_human_review, true)
      const span = issues[0]?.span
      if (words === undefined) return assert.equal(span, undefined)
      assert.ok(span)
      const passages = passagesOf({ ...CONTENT, ...asked.content })
      const { text = '' } = passages.find(({ field }) => field === span.field) ?? {}
      assert.equal(text.slice(span.start, span.end), words)
    })
  }
})

const silent: readonly (readonly [what: string, asked: Changes])[] = [
  ['a word that is allowed', script('Dick Tracy is on at nine.')],
  [
    'a rule that is switched off',
    {
      ...script('What a shitty plan.'),
      validation_rules: { check_offensive_language: false },
    },
  ],
  [
    'a figure that a source has',
    {
      ...script('Rents fell 12% here.'),
      context: { sources: [{ url: source.url, text: 'Rents fell 12% last year.' }] },
    },
  ],
  [
    'a quotation',
    {
      ...script('"It will be the first house in the town that is open", the Harbour Post writes.'),
      context: { sources: [source] },
    },
  ],
  [
    'a disclaimer in other marks',
    {
      ...script('OPINIONS are our own!'),
      context: { persona: PERSONA },
    },
  ],
]
describe('SK-9 nothing is said of', () => {
  for (const [what, asked] of silent) {
    test(what, async () => assert.deepEqual((await judge(asked)).issues, []))
  }
})

describe('SK-9 each row of its errors', () => {
  test('INVALID_CONTENT names the field', async () => {
    const outcome = await runner.run('validate_content', {
      content: { ...CONTENT, script: 'short' },
    })
    assert.ok(!outcome.ok)
    assert.equal(outcome.error.code, 'INVALID_CONTENT')
    assert.match(JSON.stringify(outcome.error.issues), /\/content\/script/)
  })

  test('VALIDATION_ERROR: a check that fails is not passed, and the others stand', async () => {
    const broken = validateContent({ checks: [() => Promise.reject(new Error('no model'))] })
    const { content = {} } = script('It cures cancer.')
    const asked = { content: { ...CONTENT, ...content } }
    const own = createRunner({ skills: [broken] })
    const outcome = await own.run(broken, asked)
    await own.close()
    assert.ok(outcome.ok)
    const { valid, requires_human_review, issues } = outcome.output
    assert.deepEqual([valid, requires_human_review], [false, true])
    assert.deepEqual(
      issues.map(({ rule }) => rule),
      ['check_failed', 'health_promise'],
    )
    assert.doesNotMatch(JSON.stringify(outcome), /no model/)
  })

  test('SAFETY_CHECK_TIMEOUT: a check that hangs asks for a person', async () => {
    const clock = createVirtualClock()
    let begin: (() => void) | undefined
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const hang = () => {
      begin?.()
      return new Promise<never>(() => undefined)
    }
    const hanging = validateContent({ checks: [hang] })
    const own = createRunner({ skills: [hanging], clock })
    const asked = own.run(hanging, { content: CONTENT })
    await begun
    await clock.advanceBy(5_000)
    const outcome = await asked
    await own.close()
    assert.ok(outcome.ok)
    const { valid, requires_human_review, issues } = outcome.output
    assert.deepEqual([valid, requires_human_review], [false, true])
    assert.equal(issues[0]?.rule, 'check_unfinished')
  })
})

test('SK-9 the same is looked at once for the same rules, and again for others', async () => {
  let looks = 0
  const counting = validateContent({
    checks: [
      () => {
        looks += 1
        return []
      },
    ],
  })
  const own = createRunner({ skills: [counting] })
  const changed = { ...CONTENT, captions: `${CONTENT.captions} And more.` }
  const off = { check_copyright: false }
  for (const [asked, all] of [
    [{ content: CONTENT }, 1],
    [{ content: CONTENT }, 1],
    [{ content: changed }, 2],
    [{ content: CONTENT, validation_rules: off }, 3],
    [{ content: CONTENT, context: { platform: 'twitter' } }, 4],
    [{ content: CONTENT }, 4],
  ] as const) {
    await own.run(counting, asked)
    assert.equal(looks, all)
  }
  await own.close()
})

test('A5 however much is wrong, it is a hundred issues at most, the worst first', async () => {
  const { issues } = await judge({
    content: {
      script: 'Rents fell 12% here. '.repeat(150),
      captions: 'It cures cancer, really.',
    },
  })
  assert.equal(issues.length, 100)
  assert.equal(issues[0]?.rule, 'health_promise')
})
