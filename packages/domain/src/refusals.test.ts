/** R2 and R3: the table of refusals is one that callers can act on. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { findInside, findSecrets } from './disclosure.ts'
import { isRetryable, REFUSALS, type Refusal } from './refusals.ts'

describe('X-6 every refusal', () => {
  for (const refusal of Object.keys(REFUSALS) as Refusal[]) {
    const { sentence, retry } = REFUSALS[refusal]
    test(`${refusal} speaks in one or more whole sentences that disclose nothing`, () => {
      assert.match(sentence, /^[A-Z][^\n]{10,160}\.$/)
      assert.deepEqual([...findSecrets(sentence), ...findInside(sentence)], [])
      assert.match(refusal, /^[a-z]+(_[a-z]+)*$/)
    })
    test(`${refusal} is retryable just when waiting helps`, () => {
      assert.equal(isRetryable(refusal), retry === 'later')
    })
  }

  test('no two say the same', () => {
    const sentences = Object.values(REFUSALS).map((row) => row.sentence)
    assert.equal(new Set(sentences).size, sentences.length)
  })
})
