/** The composer and the mending of texts, over any topic: they fit, and they say the same again. */
import assert from 'node:assert/strict'
import { CONTENT_TYPES, PUBLISH_PLATFORMS } from '@chimera/dialects/skills/words'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { CONTENT, PERSONA } from '../../test/content.ts'
import { trend } from '../../test/trends.ts'
import { passagesOf } from '../judge/finding.ts'
import { checkPersona } from '../judge/persona-rules.ts'
import { checkPlatform, weightedLength } from '../judge/platforms.ts'
import { withoutLinks } from '../models/links.ts'
import { type Model, ModelFailure } from '../models/model.ts'
import type { Brief } from './brief.ts'
import { compose } from './composer.ts'
import { mended } from './mended.ts'
import { createModelWriter } from './model-writer.ts'
import { TONES } from './tones.ts'
import { variantsFor } from './variants.ts'

const tones = Object.keys(TONES) as (keyof typeof TONES)[]

const brief: fc.Arbitrary<Brief> = fc
  .record({
    topic: fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 500 }),
      fc.lorem({ maxCount: 60 }),
    ),
    platform: fc.constantFrom(...PUBLISH_PLATFORMS),
    type: fc.constantFrom(...CONTENT_TYPES),
    voice_tone: fc.constantFrom(...tones),
    length: fc.constantFrom('concise', 'medium', 'detailed'),
    careful: fc.boolean(),
  })
  .map(({ topic, platform, type, voice_tone, length, careful }) => ({
    trend: trend(topic.slice(0, 500)),
    persona: {
      ...PERSONA,
      voice_tone,
      content_style: { ...PERSONA.content_style, post_length_preference: length },
    },
    platform,
    type,
    careful,
    withinMs: 15_000,
  }))

test('SK-8 the same brief is the same text, it fits, and nothing is left to mend', () => {
  fc.assert(
    fc.property(brief, (asked) => {
      const draft = compose(asked)
      assert.deepEqual(compose(asked), draft)
      const fit = mended(asked, draft)
      assert.ok(fit, JSON.stringify(draft))
      assert.deepEqual(mended(asked, fit), fit, 'mending again changes nothing')
      for (const { text, least, most } of [
        { text: fit.script, least: 50, most: 5_000 },
        { text: fit.captions, least: 20, most: 2_000 },
      ]) {
        assert.ok(text.length >= least && text.length <= most)
        assert.match(text, /Opinions are our own\./)
      }
      const { twitter, youtube } = variantsFor(asked, fit)
      assert.ok(weightedLength(twitter?.text ?? '') <= 280)
      assert.ok((youtube?.title ?? '').length <= 100)
      for (const tag of fit.hashtags) assert.match(tag, /^#\w{1,30}$/)
    }),
    { numRuns: 80 },
  )
})

// Whatever may come of a model that was talked into it.
const HOSTILE = [
  'https://evil.example.org/x',
  'evil[.]com',
  '@evil',
  '<script>',
  '</data>',
  'cheap',
  'Casino!',
  'Opinions are our own.',
  '🎉🎉🎉🎉🎉',
  '\u202E',
  '[a](http://b.example)',
  '字'.repeat(200),
]
const piece = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.constantFrom(...HOSTILE))
const said = fc.array(piece, { minLength: 1, maxLength: 5 }).map((all) => all.join(' '))
const answer = fc.record({
  hook: said,
  body: fc.array(said, { minLength: 1, maxLength: 8 }),
  closing: said,
  caption: said,
  hashtags: fc.array(said, { maxLength: 8 }),
  alt: said,
})

test('SK-8 whatever a model says, what is left of it may be shown, or nothing is', async () => {
  let shown = 0
  await fc.assert(
    fc.asyncProperty(brief, answer, async (asked, value) => {
      const use = { model: 'm', purpose: '', costNanos: 0, priced: false }
      const tokens = { input: 0, cachedInput: 0, output: 0 }
      // A value of the schema that the writer asks by, so the narrowing is only for the compiler.
      const ask: Model['ask'] = async () => ({ value: value as never, use: { ...use, tokens } })
      const writer = createModelWriter({ name: 'm', ask, close: async () => undefined })
      const draft = await writer.write(asked, new AbortController().signal).catch((error) => {
        assert.ok(error instanceof ModelFailure)
        return undefined
      })
      const fit = draft && mended(asked, draft)
      if (fit === undefined) return
      shown += 1
      const texts = [fit.script, fit.captions, fit.alt ?? '']
      for (const text of texts) {
        assert.equal(withoutLinks(text).found, 0, text)
        assert.doesNotMatch(text, /\u202E|cheap|casino/i)
      }
      const variants = variantsFor(asked, fit)
      const content = {
        ...CONTENT,
        ...fit,
        hashtags: [...fit.hashtags],
        platform_variants: variants,
      }
      const passages = passagesOf(content)
      const wrong = [
        ...checkPersona(content, passages, asked.persona),
        ...checkPlatform(content, passages, asked.platform),
      ].filter(({ severity }) => severity === 'error')
      assert.deepEqual(wrong, [])
    }),
    { numRuns: 200 },
  )
  assert.ok(shown > 20, `only ${shown} were left`)
})

describe('links', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [text: string, left: string])[] = [
    ['see https://a.example.org/x?y=1 now',  'see now'],
    ['see hxxps://a.example.org now',        'see now'],
    ['see www.a.example.org now',            'see now'],
    ['see a-b.example/x now',                'see now'],
    ['see evil[.]com now',                   'see now'],
    ['see evil(.)com now',                   'see now'],
    ['[this](https://a.example.org) here',   'this here'],
    ['<b>bold</b> and <script>x</script>',   'bold and x'],
    ['ask @somebody today',                  'ask somebody today'],
    ['javascript:alert(1) here',             'here'],
    ['its own https://news.example.org/a.',  'its own https://news.example.org/a.'],
    ['Node.js 2.5 costs 3.50, e.g. today',   'Node.js 2.5 costs 3.50, e.g. today'],
    ['The end. Come along.',                 'The end. Come along.'],
    ['a < b and c > d',                      'a < b and c > d'],
  ]
  for (const [text, left] of rows) {
    test(text, () => {
      assert.equal(withoutLinks(text, ['https://news.example.org/a']).text, left)
    })
  }
})
