/**
 * What every memory of nonces must do (freshness.ts), as cases that any test runner can run: one
 * suite for the memory of a process and for the one that hubs share.
 */
import assert from 'node:assert/strict'
import type { Remembered, SeenNonces } from './freshness.ts'

export type NonceCase = {
  readonly rule: string
  /** Rejects when the rule is broken. The memory is fresh, and no other case uses it. */
  readonly holds: (nonces: SeenNonces) => Promise<void>
}

const NOW = 1_700_000_000_000

export const NONCE_CONTRACT: readonly NonceCase[] = [
  {
    rule: 'X-9 a nonce passes once in 120 s',
    async holds(nonces) {
      const nonce = { key: 'k', nonce: 'n' }
      assert.equal(await nonces.remember(nonce, NOW), 'fresh')
      assert.equal(await nonces.remember(nonce, NOW), 'seen')
      assert.equal(await nonces.remember(nonce, NOW + 119_999), 'seen')
      assert.equal(await nonces.remember(nonce, NOW + 120_000), 'fresh')
      assert.equal(await nonces.remember(nonce, NOW + 120_000), 'seen')
    },
  },
  {
    rule: 'X-9 two keys may draw the same nonce, and no pair is mistaken for another',
    async holds(nonces) {
      const pairs = [
        ['a', 'n'],
        ['b', 'n'],
        ['a', 'bc'],
        ['ab', 'c'],
        ['a","b', 'c'],
        ['a', 'b","c'],
      ] as const
      for (const [key, nonce] of pairs) {
        assert.equal(await nonces.remember({ key, nonce }, NOW), 'fresh', `${key} ${nonce}`)
      }
    },
  },
  {
    rule: 'X-9 of many requests with one nonce at the same time, one passes',
    async holds(nonces) {
      const nonce = { key: 'k', nonce: 'n' }
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (): Promise<Remembered> => nonces.remember(nonce, NOW)),
      )
      assert.equal(answers.filter((each) => each === 'fresh').length, 1)
      assert.equal(answers.filter((each) => each === 'seen').length, 19)
    },
  },
]
