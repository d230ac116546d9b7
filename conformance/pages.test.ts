/**
 * OC-24: what a dialect does otherwise than its document is written down. A page per dialect names
 * every message, what goes beyond the document, and what a translation loses.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { DIALECTS } from '@chimera/dialects/dialects'
import { describe, test } from 'vitest'

const pageOf = (dialect: string): string =>
  readFileSync(new URL(`../docs/dialects/${dialect}.md`, import.meta.url), 'utf8')

for (const [dialect, messages] of Object.entries(DIALECTS)) {
  describe(`OC-24 the page of ${dialect}`, () => {
    const page = pageOf(dialect)
    const headings = page.split('\n').filter((line) => line.startsWith('## '))

    test('names every message', () => {
      const missing = Object.keys(messages).filter((message) => !page.includes(message))
      assert.deepEqual(missing, [])
    })
    test('says what goes beyond the document, and what the dialect cannot say', () => {
      assert.ok(
        headings.some((each) => /beyond|deviation|decision/i.test(each)),
        `${headings}`,
      )
      assert.ok(
        headings.some((each) => /cannot say/i.test(each)),
        `${headings}`,
      )
    })
  })
}
