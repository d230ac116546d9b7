/** What people write in campaign and persona files, and what is said of what makes no sense. */
import assert from 'node:assert/strict'
import { checker } from '@chimera/dialects/check'
import { PERSONA } from '@chimera/skills/testing/content'
import { describe, test } from 'vitest'
import { askedIssues, RunCampaignInput } from '../campaign/asked.ts'
import { campaignOf, readCampaignFile } from './campaign-file.ts'
import { readPersonaFile } from './persona-file.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const FILE = {
  name: 'Town square',
  goals: ['Public spaces'],
  persona: './voice.yaml',
  budget: 5,
  publish: { to: ['twitter'] },
}

describe('a campaign file', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [string, object, string])[] = [
    ['a name that is too short',       { name: 'x' },                                        '/name'],
    ['no goal',                        { goals: [] },                                        '/goals'],
    ['a budget of three decimals',     { budget: 1.005 },                                    '/budget'],
    ['a budget in words',              { budget: 'five' },                                   '/budget'],
    ['nowhere to publish',             { publish: { to: [] } },                              '/publish/to'],
    ['an unknown platform',            { publish: { to: ['myspace'] } },                     '/publish/to/0'],
    ['the same platform twice',        { publish: { to: ['twitter', 'twitter'] } },          '/publish/to'],
    ['a time without a zone',          { publish: { to: ['twitter'], at: 'tomorrow' } },     '/publish/at'],
    ['too many trends',                { trends: { count: 6 } },                             '/trends/count'],
    ['a word that is not known',       { trends: { mood: 'good' } },                         '/trends/mood'],
    ['a wait of more than a day',      { reviewWithin: '25h' },                              '/reviewWithin'],
    ['a wait without a unit',          { reviewWithin: '12' },                               '/reviewWithin'],
    ['a persona that is a number',     { persona: 3 },                                       '/persona'],
  ]
  for (const [title, change, path] of rows) {
    test(`refuses ${title}`, () => {
      const read = readCampaignFile({ ...FILE, ...change })
      assert.ok(!read.ok)
      assert.ok(
        read.issues.some((issue) => issue.path === path),
        JSON.stringify(read.issues),
      )
    })
  }

  test('is what run_campaign takes, with a name of its own', () => {
    const read = readCampaignFile({ ...FILE, reviewWithin: '90m', trends: { count: 2 } })
    assert.ok(read.ok)
    const hands = { persona: PERSONA, owner: 'acme', now: NOON }
    const asked = campaignOf(read.file, hands)
    assert.ok(checker(RunCampaignInput)(asked).ok)
    assert.deepEqual(askedIssues(asked, 10), [])
    assert.deepEqual([asked.review_minutes, asked.trends], [90, 2])
    assert.equal(campaignOf(read.file, hands).campaign.campaign_id, asked.campaign.campaign_id)
    const other = campaignOf(read.file, { ...hands, owner: 'bolt' })
    assert.notEqual(other.campaign.campaign_id, asked.campaign.campaign_id)
  })

  test('a budget beyond what a run is paid is refused', () => {
    const read = readCampaignFile({ ...FILE, budget: 11 })
    assert.ok(read.ok)
    const asked = campaignOf(read.file, { persona: PERSONA, owner: 'acme', now: NOON })
    assert.deepEqual(
      askedIssues(asked, 10).map(({ path }) => path),
      ['/campaign/budget/total'],
    )
  })
})

describe('a persona file', () => {
  const { agent_id: _id, created_at: _at, updated_at: _then, version: _version, ...said } = PERSONA

  test('needs nothing that a machine can fill in', () => {
    const read = readPersonaFile(said, { owner: 'acme', now: NOON })
    assert.ok(read.ok)
    assert.equal(read.persona.created_at, '2026-01-01T12:00:00Z')
    const again = readPersonaFile(said, { owner: 'acme', now: NOON + 1 })
    assert.ok(again.ok)
    assert.equal(again.persona.agent_id, read.persona.agent_id)
  })

  test('says what is wrong by its field', () => {
    const wrong = {
      ...said,
      voice_tone: 'loud',
      vocabulary: { ...said.vocabulary, jargon_level: 9 },
    }
    const read = readPersonaFile(wrong, { owner: 'acme', now: NOON })
    assert.ok(!read.ok)
    assert.deepEqual(read.issues.map(({ path }) => path).sort(), [
      '/vocabulary/jargon_level',
      '/voice_tone',
    ])
  })

  test('is no list and no text', () => {
    for (const value of [undefined, 'x', []]) {
      assert.equal(readPersonaFile(value, { owner: 'acme', now: NOON }).ok, false)
    }
  })
})
