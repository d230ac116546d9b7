/** What the outbox takes, and when a post is out. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { KeptApproval, Publication } from './approval.ts'
import type { ApprovalId, ContentId, Digest, OwnerId, PostId, ReviewerId } from './ids.ts'
import { decidePost, outAt, type Post } from './post.ts'

const NOW = 1_000_000
const owner = 'ann' as OwnerId
const publication: Publication = {
  content: 'c1' as ContentId,
  bytes: 'cafe' as Digest,
  platform: 'twitter',
}
const approval: KeptApproval = {
  id: 'y1' as ApprovalId,
  publication,
  reviewer: 'ada' as ReviewerId,
  approvedAt: NOW - 9,
  expiresAt: NOW - 1,
  usedAt: NOW - 5,
  owner,
  by: 'token:1',
  use: 'u1',
}
const post: Post = {
  id: 'p1' as PostId,
  owner,
  publication,
  approval: approval.id,
  reviewer: approval.reviewer,
  acceptedAt: NOW,
}
const { usedAt: _, use: __, ...unused } = approval
const asked = { id: 'p1' as PostId, owner, publication }

// biome-ignore format: a table is read by its columns
const rows: [rule: string, state: Parameters<typeof decidePost>[0], what: Partial<typeof asked>, answer: string][] = [
  ['T2 what was approved and used is posted',          { known: undefined, approval },            {},                                                      'post_accepted'],
  ['T1 what is there is not posted again',             { known: post, approval },                 {},                                                      'nothing'],
  ['T1 not even when it was edited',                   { known: post, approval },                 { publication: { ...publication, bytes: 'x' as Digest } }, 'nothing'],
  ['T2 nothing without an approval',                   { known: undefined, approval: undefined }, {},                                                      'approval_unknown'],
  ['T2 nor with that of another owner',                { known: undefined, approval },            { owner: 'eve' as OwnerId },                             'approval_unknown'],
  ['T2 nor for other bytes',                           { known: undefined, approval },            { publication: { ...publication, bytes: 'x' as Digest } }, 'approval_mismatched'],
  ['T2 nor on another platform',                       { known: undefined, approval },            { publication: { ...publication, platform: 'tiktok' } }, 'approval_mismatched'],
  ['T2 nor at another time',                           { known: undefined, approval },            { publication: { ...publication, scheduledAt: NOW + 1 } }, 'approval_mismatched'],
  ['T2 nor before the approval was used',              { known: undefined, approval: unused },    {},                                                      'approval_unused'],
]

describe('P-5 a post stands on its approval', () => {
  for (const [rule, state, what, answer] of rows) {
    test(rule, () => {
      const decision = decidePost(state, { ...asked, ...what }, NOW)
      const got = decision.ok ? (decision.facts[0]?.type ?? 'nothing') : decision.refusal
      assert.equal(got, answer)
    })
  }

  test('the reviewer is in the fact', () => {
    const decision = decidePost({ known: undefined, approval }, asked, NOW)
    assert.deepEqual(decision, { ok: true, facts: [{ type: 'post_accepted', post }] })
  })
})

describe('T3 a post is out', () => {
  const at = (scheduledAt?: number) =>
    outAt({
      ...post,
      publication: { ...publication, ...(scheduledAt !== undefined && { scheduledAt }) },
    })
  test('at once, at its time, and at once where that has passed', () => {
    assert.deepEqual([at(), at(NOW + 5), at(NOW - 5)], [NOW, NOW + 5, NOW])
  })
})
