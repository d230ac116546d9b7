/** What a reviewer looks at, may change and goes through; and where content stands on the board. */
import assert from 'node:assert/strict'
import type { CampaignSeen } from '@chimera/dialects/chimera'
import type { ContentPackage } from '@chimera/dialects/skills/content'
import { shownOn } from '@chimera/dialects/skills/posting'
import { PUBLISH_PLATFORMS } from '@chimera/dialects/skills/words'
import { CONTENT_STATES } from '@chimera/domain/campaign/content'
import { describe, test } from 'vitest'
import { boardOf, LANES, standingOf } from './pieces.ts'
import {
  editContent,
  fieldsOf,
  lengthTrouble,
  nextReview,
  readField,
  shownField,
} from './review.ts'

const ID = '7b0e6c0e-58a8-4a36-8f3e-0a8d4a3f2f11'
const CONTENT: ContentPackage = {
  content_id: ID,
  task_id: ID,
  trend_ref: ID,
  script: 'Our harbour gets a library, with reading rooms and a cinema.',
  captions: 'A free place to meet by the harbour.',
  media_urls: [],
  hashtags: ['#harbour', '#library', '#reading'],
  confidence_score: 0.6,
  requires_review: true,
}
const VARIED: ContentPackage = {
  ...CONTENT,
  platform_variants: {
    twitter: { text: 'On X.' },
    tiktok: { description: 'On TikTok.' },
    instagram: { caption: 'On Instagram.' },
    youtube: { title: 'A title', description: 'On YouTube.' },
  },
}

describe('the fields of a review', () => {
  for (const platform of PUBLISH_PLATFORMS) {
    test(`the first one on ${platform} is what it shows`, () => {
      for (const content of [CONTENT, VARIED]) {
        const field = shownField(platform, content)
        assert.equal(readField(content, field), shownOn(platform, content).text)
        assert.ok(fieldsOf(platform, content).includes(field))
      }
    })
  }

  test('an edit changes its field and nothing else', () => {
    const field = shownField('twitter', VARIED)
    const edited = editContent(VARIED, { [field]: 'Better.' })
    assert.equal(shownOn('twitter', edited).text, 'Better.')
    assert.deepEqual(editContent(edited, { [field]: 'On X.' }), VARIED)
    assert.equal(readField(CONTENT, '/constructor/name'), undefined)
  })

  test('a text that cannot be sent is told by letters, not by halves of them', () => {
    assert.match(lengthTrouble('/captions', 'short') ?? '', /20 at least/)
    assert.equal(lengthTrouble('/platform_variants/twitter/text', '🎈'.repeat(280)), undefined)
    assert.match(lengthTrouble('/platform_variants/twitter/text', 'a'.repeat(283)) ?? '', /^3 too/)
    assert.equal(lengthTrouble('/elsewhere', ''), undefined)
  })
})

describe('through the list by keyboard', () => {
  const ids = ['a', 'b', 'c']
  // biome-ignore format: a table is read by its columns
  const ROWS = [
    ['none is open, down',             undefined, 0,  1, 'a'],
    ['none is open, up',               undefined, 0, -1, 'c'],
    ['down',                           'a',       0,  1, 'b'],
    ['up',                             'b',       1, -1, 'a'],
    ['no further down',                'c',       2,  1, undefined],
    ['no further up',                  'a',       0, -1, undefined],
    ['from one that was answered',     'gone',    1,  1, 'b'],
    ['from the last that was',         'gone',    3,  1, 'c'],
    ['up from one that was answered',  'gone',    1, -1, 'a'],
  ] as const
  for (const [name, current, was, step, wanted] of ROWS) {
    test(name, () => assert.equal(nextReview({ ids, current, was }, step), wanted))
  }
})

describe('the board', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString()
  const piece = (topic: string, ...states: readonly (typeof CONTENT_STATES)[number][]) => ({
    piece_id: ID,
    topic,
    platform: 'twitter' as const,
    moments: states.map((state, second) => ({ state, at: at(second) })),
  })
  const campaign = (pieces: CampaignSeen['pieces']): CampaignSeen => ({
    campaign_id: ID,
    agent_id: ID,
    owner_id: 'acme',
    version: 1,
    name: 'Libraries',
    goals: ['People who read'],
    persona: 'Ada',
    status: 'active',
    budget: { total: 5, spent: 0 },
    pieces,
    steps: [],
    created_at: at(0),
    updated_at: at(0),
  })

  test('has a lane and words for every state', () => {
    for (const state of CONTENT_STATES) {
      const { lane, words } = standingOf(piece('any', state))
      assert.ok(LANES.includes(lane) && words.length > 0, state)
    }
  })

  test('has the latest first, and what failed before what did not fit', () => {
    const board = boardOf([
      campaign([
        piece('old', 'trend_detected'),
        piece('unfit', 'trend_detected', 'filtered_out'),
        piece('new', 'trend_detected', 'accepted'),
      ]),
      campaign([piece('failed', 'generation_failed'), piece('here', 'approval_pending')]),
    ])
    const topics = (lane: (typeof LANES)[number]) => board[lane].map((each) => each.piece.topic)
    assert.deepEqual(topics('found'), ['new', 'old'])
    assert.deepEqual(topics('ended'), ['failed', 'unfit'])
    assert.deepEqual(topics('waiting'), ['here'])
  })

  test('what was sent back goes on, until it was so for the last time', () => {
    const round = ['generating', 'approval_pending', 'rejected'] as const
    assert.equal(standingOf(piece('once', ...round)).lane, 'making')
    const spent = standingOf(piece('thrice', ...round, ...round, ...round))
    assert.deepEqual([spent.lane, spent.words], ['ended', 'sent back for good'])
  })
})
