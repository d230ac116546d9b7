/** P-5 and the rules of SK-10: an approval is for these bytes, once, and not for long. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  type Approval,
  applyApproval,
  decideApprove,
  decideKeptUse,
  decideUse,
  type KeptApproval,
  type Publication,
} from './approval.ts'
import type { ApprovalId, ContentId, Digest, OwnerId, ReviewerId } from './ids.ts'

const NOW = 1_000_000
const HOUR = 3_600_000
const publication: Publication = {
  content: 'c1' as ContentId,
  bytes: 'cafe' as Digest,
  platform: 'twitter',
}
const approval: Approval = {
  id: 'y1' as ApprovalId,
  publication,
  reviewer: 'ada' as ReviewerId,
  approvedAt: NOW,
  expiresAt: NOW + HOUR,
}

// biome-ignore format: a table is read by its columns
const uses: [rule: string, approval: Approval | undefined, what: Partial<Publication>, at: number, answer: string][] = [
  ['P-5 exactly what was approved is published',  approval,                          {},                                NOW + 1,        'approval_used'],
  ['P-5 other bytes are not',                     approval,                          { bytes: 'beef' as Digest },       NOW + 1,        'approval_mismatched'],
  ['P-5 nor on another platform',                 approval,                          { platform: 'tiktok' },            NOW + 1,        'approval_mismatched'],
  ['P-5 nor at another time',                     approval,                          { scheduledAt: NOW + 9 },          NOW + 1,        'approval_mismatched'],
  ['P-5 nor under another id',                    approval,                          { content: 'c2' as ContentId },    NOW + 1,        'approval_mismatched'],
  ['SK-10 not after it has expired',              approval,                          {},                                NOW + HOUR,     'approval_expired'],
  ['SK-10 until the last millisecond',            approval,                          {},                                NOW + HOUR - 1, 'approval_used'],
  ['P-5 not twice',                               { ...approval, usedAt: NOW + 1 },  {},                                NOW + 2,        'approval_used_refusal'],
  ['P-5 not without one',                         undefined,                         {},                                NOW,            'approval_invalid'],
  ['an edit is named before an expiry',           approval,                          { bytes: 'beef' as Digest },       NOW + HOUR,     'approval_mismatched'],
]

describe('using an approval', () => {
  for (const [rule, given, what, at, answer] of uses) {
    test(rule, () => {
      const decision = decideUse(given, { ...publication, ...what }, at)
      const got = decision.ok
        ? decision.facts[0]?.type
        : decision.refusal === 'approval_used'
          ? 'approval_used_refusal'
          : decision.refusal
      assert.equal(got, answer)
    })
  }
})

describe('Y4 a use has a name', () => {
  const kept: KeptApproval = { ...approval, owner: 'ann' as OwnerId, by: 'token:1' }
  const used: KeptApproval = { ...kept, usedAt: NOW + 1, use: 'u1' }
  const edited = { ...publication, bytes: 'beef' as Digest }
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, kept: KeptApproval | undefined, what: object, answer: string][] = [
    ['the first use is recorded',            kept,      {},                        'approval_used fact'],
    ['the same use again changes nothing',   used,      {},                        'nothing'],
    ['another use comes too late',           used,      { use: 'u2' },             'approval_used'],
    ['the same name for other content too',  used,      { publication: edited },   'approval_mismatched'],
    ['another owner has no such approval',   kept,      { owner: 'eve' },          'approval_invalid'],
    ['and nobody has one that is not kept',  undefined, {},                        'approval_invalid'],
  ]
  for (const [rule, state, what, answer] of rows) {
    test(`P-5 ${rule}`, () => {
      const use = { owner: kept.owner, publication, use: 'u1', ...what }
      // Long after its end: a repeat of the same use is still the same use.
      const at = state === used ? NOW + 3 * HOUR : NOW + 1
      const decision = decideKeptUse(state, use, at)
      const fact = decision.ok ? decision.facts[0] : undefined
      assert.equal(
        decision.ok ? (fact ? `${fact.type} fact` : 'nothing') : decision.refusal,
        answer,
      )
      if (fact?.type === 'approval_used') assert.equal(fact.reviewer, 'ada')
    })
  }
})

describe('giving one', () => {
  const { approvedAt: _, ...asked } = approval
  const answer = (expiresAt: number) => {
    const decision = decideApprove({ ...asked, expiresAt }, NOW)
    return decision.ok ? decision.facts[0]?.type : decision.refusal
  }
  test('SK-10 for two hours at most', () => {
    assert.equal(answer(NOW + 2 * HOUR), 'publication_approved')
    assert.equal(answer(NOW + 2 * HOUR + 1), 'expiry_too_far')
  })
  test('not for the past', () => assert.equal(answer(NOW), 'approval_expired'))
})

test('P-5 however often it is tried, an approval is used at most once', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 * HOUR }), { maxLength: 20 }), (tries) => {
      let state: Approval | undefined = approval
      let used = 0
      for (const after of tries) {
        const decision = decideUse(state, publication, NOW + after)
        if (!decision.ok) continue
        used += 1
        state = decision.facts.reduce<Approval | undefined>(applyApproval, state)
      }
      assert.ok(used <= 1)
    }),
  )
})
