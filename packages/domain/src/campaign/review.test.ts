/** Reviews: who may open and answer what, one row for each rule. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type {
  AgentId,
  ApprovalId,
  ContentId,
  Digest,
  OwnerId,
  ReviewerId,
  ReviewId,
} from '../ids.ts'
import { LIMITS } from '../limits.ts'
import {
  applyReview,
  decideAnswer,
  decideOpenReview,
  decideWithdraw,
  type Review,
  type ReviewAnswer,
  reviewStateOf,
} from './review.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const HOUR_MS = 3_600_000
const SHOWN = 'a'.repeat(64) as Digest
const EDITED = 'b'.repeat(64) as Digest

const asked = {
  id: 'r1' as ReviewId,
  owner: 'acme' as OwnerId,
  agent: 'a1' as AgentId,
  publication: { content: 'c1' as ContentId, bytes: SHOWN, platform: 'twitter' },
  expiresAt: NOON + HOUR_MS,
}
const open: Review = { ...asked, openedAt: NOON }
const approves = (bytes: Digest, approval = 'p1'): Omit<ReviewAnswer, 'at'> => ({
  verdict: {
    is: 'approved',
    approval: approval as ApprovalId,
    publication: { ...asked.publication, bytes },
  },
  reviewer: 'ann' as ReviewerId,
})
const rejects = (words: string): Omit<ReviewAnswer, 'at'> => ({
  verdict: { is: 'rejected' },
  reviewer: 'ann' as ReviewerId,
  words,
})
const answered = (said: Omit<ReviewAnswer, 'at'>): Review => ({
  ...open,
  answer: { ...said, at: NOON + 1 },
})

describe('opening a review', () => {
  const late = NOON + LIMITS.reviewMs + LIMITS.skewMs
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [string, Review | undefined, Partial<Review>, string])[] = [
    ['is a fact',                              undefined,                       {},                                                        'review_opened'],
    ['up to the longest time',                 undefined,                       { expiresAt: late },                                       'review_opened'],
    ['and not beyond',                         undefined,                       { expiresAt: late + 1 },                                   'expiry_too_far'],
    ['nor when its time is over',              undefined,                       { expiresAt: NOON },                                       'review_expired'],
    ['again is the same one',                  open,                            {},                                                        ''],
    ['again after its answer too',             answered(rejects('too loud')),   {},                                                        ''],
    ['with other content under its id is not', open,                            { publication: { ...asked.publication, bytes: EDITED } },  'key_conflict'],
    ['nor by another agent',                   open,                            { agent: 'a2' as AgentId },                                'key_conflict'],
  ]
  for (const [title, known, change, expected] of rows) {
    test(`P-5 ${title}`, () => {
      const decision = decideOpenReview(known, { ...asked, ...change }, NOON)
      assert.equal(decision.ok ? (decision.facts[0]?.type ?? '') : decision.refusal, expected)
    })
  }
})

describe('answering a review', () => {
  const said = approves(SHOWN)
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [string, Review | undefined, Omit<ReviewAnswer, 'at'>, Digest, number, string])[] = [
    ['approves what was shown',                  open,                           said,                     SHOWN,  NOON,           'review_answered'],
    ['approves it as edited',                    open,                           approves(EDITED),         SHOWN,  NOON,           'review_answered'],
    ['rejects it',                               open,                           rejects('too loud'),      SHOWN,  NOON,           'review_answered'],
    ['of what was not shown is refused',         open,                           said,                     EDITED, NOON,           'approval_mismatched'],
    ['of what nobody knows is refused',          undefined,                      said,                     SHOWN,  NOON,           'review_unknown'],
    ['in the last moment counts',                open,                           said,                     SHOWN,  NOON + HOUR_MS - 1, 'review_answered'],
    ['after its time does not',                  open,                           said,                     SHOWN,  NOON + HOUR_MS, 'review_expired'],
    ['again is the same answer',                 answered(said),                 approves(SHOWN, 'p2'),    SHOWN,  NOON,           ''],
    ['again, otherwise edited, is another',      answered(said),                 approves(EDITED),         SHOWN,  NOON,           'review_closed'],
    ['no after yes is too late',                 answered(said),                 rejects('no'),            SHOWN,  NOON,           'review_closed'],
    ['yes after no is too late',                 answered(rejects('no')),        said,                     SHOWN,  NOON,           'review_closed'],
    ['no again in other words is another',       answered(rejects('no')),        rejects('never'),         SHOWN,  NOON,           'review_closed'],
    ['no again in the same words is the same',   answered(rejects('no')),        rejects('no'),            SHOWN,  NOON,           ''],
  ]
  for (const [title, review, answer, shown, now, expected] of rows) {
    test(`P-5 ${title}`, () => {
      const decision = decideAnswer(review, { ...answer, shown }, now)
      const got = decision.ok ? (decision.facts[0]?.type ?? '') : decision.refusal
      assert.equal(got, expected)
    })
  }

  test('what nobody wants to know any more is over; what was answered stays so', () => {
    const decision = decideWithdraw(open, NOON + 5)
    assert.ok(decision.ok)
    const after = decision.facts.reduce<Review | undefined>(applyReview, open)
    assert.ok(after)
    assert.deepEqual([reviewStateOf(after, NOON + 5), after.expiresAt], ['expired', NOON + 5])
    for (const over of [answered(rejects('no')), { ...open, expiresAt: NOON + 5 }]) {
      assert.deepEqual(decideWithdraw(over, NOON + 5), { ok: true, facts: [] })
    }
  })

  test('an unanswered review expires, an answered one does not', () => {
    assert.equal(reviewStateOf(open, NOON), 'pending')
    assert.equal(reviewStateOf(open, NOON + HOUR_MS), 'expired')
    const decision = decideAnswer(open, { ...rejects('no'), shown: SHOWN }, NOON)
    assert.ok(decision.ok)
    const after = decision.facts.reduce<Review | undefined>(applyReview, open)
    assert.ok(after)
    assert.equal(reviewStateOf(after, NOON + HOUR_MS), 'rejected')
  })
})
