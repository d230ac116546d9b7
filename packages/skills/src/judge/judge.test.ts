/** The judge by itself: what a reader sees, how platforms count, how often it is right. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { CONTENT } from '../../test/content.ts'
import { measure } from '../../test/measured.ts'
import { passagesOf } from './finding.ts'
import { fold } from './folded.ts'
import { weightedLength } from './platforms.ts'

describe('what a reader sees', () => {
  const rows: readonly (readonly [text: string, seen: string])[] = [
    ['plain', 'plain'],
    ['Crème brûlée', 'Creme brulee'],
    ['ｆｕｌｌ', 'full'],
    ['𝐛𝐨𝐥𝐝', 'bold'],
    ['ﬁve', 'five'],
    ['с\u0430t', 'cat'],
    ['in\u200Bvi\u00ADsible', 'invisible'],
    ['a\u202Eb', 'ab'],
    ['字', '字'],
  ]
  for (const [text, seen] of rows) test(seen, () => assert.equal(fold(text).text, seen))

  test('F1 every character has its place in the original, in rising order', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const folded = fold(text)
        let last = 0
        for (let at = 0; at < folded.text.length; at++) {
          const { start, end } = folded.place(at, at + 1)
          assert.ok(start >= last && end > start && end <= text.length)
          last = start
        }
      }),
    )
  })
})

// By the counting that the platform publishes.
const weights: readonly (readonly [text: string, weight: number])[] = [
  ['hello', 5],
  ['こんにちは', 10],
  ['see https://a.example.org/with/a/very/long/path?and=more now', 31],
  ['👍', 2],
  ['👨‍👩‍👧', 2],
  ['👍🏽', 2],
  ['“quoted”', 8],
  ['e\u0301', 1],
]
for (const [text, weight] of weights) {
  test(`Twitter counts ${JSON.stringify(text)} as ${weight}`, () => {
    assert.equal(weightedLength(text), weight)
  })
}

test('every text that a person would read is looked at', () => {
  const variants = {
    twitter: { text: 'a' },
    tiktok: { description: 'b' },
    instagram: { caption: 'c', carousel_items: ['d'] },
    youtube: { title: 'e', description: 'f' },
  }
  const fields = passagesOf({ ...CONTENT, platform_variants: variants }).map(({ field }) => field)
  assert.equal(fields.length, 2 + CONTENT.hashtags.length + 6)
  assert.equal(new Set(fields).size, fields.length)
})

describe('SK-9 on the labelled texts', () => {
  const measured = measure()
  test('it finds most of what it should, and little that it should not', () => {
    for (const { group, precision, recall } of measured) {
      assert.ok(precision >= 0.9, `${group}: precision ${precision}`)
      assert.ok(recall >= 0.85, `${group}: recall ${recall}`)
    }
  })

  test('the page says what is measured', async () => {
    const page = await readFile(
      new URL('../../../../docs/concepts/judging.md', import.meta.url),
      'utf8',
    )
    for (const { group, texts, precision, recall } of measured) {
      const row = `| ${group} | ${texts} | ${precision.toFixed(2)} | ${recall.toFixed(2)} |`
      assert.ok(page.includes(row), `docs/concepts/judging.md should have: ${row}`)
    }
  })
})
