/** The view of the feed by itself: its bound. The rest is tested over HTTP. */
import assert from 'node:assert/strict'
import type { Alias, MessageId } from '@chimera/domain/ids'
import { test } from 'vitest'
import { createFeed } from './feed.ts'

test('a new name takes the place of the one that was silent the longest', () => {
  const feed = createFeed(2)
  const hear = (alias: string, at: number) =>
    feed.hear(
      {
        report: {
          type: 'report_status',
          message: `${alias} ${at}` as MessageId,
          alias: alias as Alias,
          condition: 'idle',
          updatedAt: at,
        },
      },
      at,
    )
  for (const [alias, at] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    hear(alias, at)
  const isKnown = (alias: string) => feed.of(alias as Alias).last !== undefined
  assert.deepEqual(['a', 'b', 'c'].map(isKnown), [true, false, true])
})
