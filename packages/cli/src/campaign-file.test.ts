/** Campaigns from files: the samples that come with the fleet, and what makes no sense. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askedIssues } from '@chimera/fleet/campaign/asked'
import { afterAll, describe, test } from 'vitest'
import { loadCampaign } from './campaign-file.ts'
import { Trouble } from './trouble.ts'

const SAMPLES = fileURLToPath(new URL('../../fleet/samples/campaigns', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'chimera-campaigns-'))
const hands = { owner: 'acme', now: Date.UTC(2026, 0, 1, 12) }
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function written(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const PERSONA = `
import type { Persona } from '@chimera/dialects/skills/persona'

export const persona: Partial<Persona> = {
  name: 'Neighbour',
  bio: 'A neighbour who tells a small town what is going on in plain words.',
  voice_tone: 'casual',
  target_audience: { age_range: 'all', interests: ['culture'], regions: ['EU'] },
  vocabulary: { preferred_words: [], forbidden_words: [], jargon_level: 'beginner' },
  content_style: {
    post_length_preference: 'concise',
    emoji_usage: 'minimal',
    media_preference: 'text_images',
    storytelling_style: 'narrative',
  },
  engagement_strategy: { goal: 'community_building', call_to_action: 'like_comment_share' },
}
`
const BESIDE = `
import type { CampaignFile } from '@chimera/fleet/files/campaign-file'

export default {
  name: 'Beside',
  goals: ['One'],
  persona: './neighbour.ts',
  budget: 1,
  publish: { to: ['twitter'] },
} satisfies CampaignFile
`

describe('campaign files', () => {
  const samples = readdirSync(SAMPLES)
  test('three samples come with the fleet', () => assert.equal(samples.length, 3))
  for (const sample of samples) {
    test(`${sample} is a campaign, with its persona`, async () => {
      const asked = await loadCampaign(join(SAMPLES, sample), hands)
      assert.deepEqual(askedIssues(asked, 10), [])
    })
  }

  test('a TypeScript module may export one', async () => {
    const { campaign } = await loadCampaign(join(SAMPLES, samples[0] ?? ''), hands)
    const { persona } = campaign.content_guidelines
    const file = { name: 'Typed', goals: ['One'], persona, budget: 1, publish: { to: ['tiktok'] } }
    const path = written('typed.ts', `export const campaign: object = ${JSON.stringify(file)}\n`)
    assert.equal((await loadCampaign(path, hands)).campaign.name, 'Typed')
  })

  test('and another one its persona beside it', async () => {
    written('neighbour.ts', PERSONA)
    const path = written('beside.ts', BESIDE)
    const { content_guidelines, name } = (await loadCampaign(path, hands)).campaign
    assert.deepEqual([name, content_guidelines.persona.name], ['Beside', 'Neighbour'])
  })

  const modules: readonly (readonly [string, string, RegExp])[] = [
    ['exports something else', 'export const plan = 1', /export `campaign`; it exports plan\.$/],
    ['does not parse', 'export const campaign = {', /module\.ts cannot be loaded\.\n/],
    ['throws', "throw new Error('no key')", /cannot be loaded\.\nno key/],
    ['exports no campaign', 'export default { name: 7 }', /\/name: expected/],
  ]
  for (const [at, [title, text, expected]] of modules.entries()) {
    test(`says what is wrong with a module that ${title}`, async () => {
      const path = written(`${at}-module.ts`, text)
      await assert.rejects(loadCampaign(path, hands), { name: 'Trouble', message: expected })
    })
  }

  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ['no YAML', 'name: [', /no YAML and no JSON/],
    ['no campaign', '- a\n- list', /the file: expected/],
    ['fields that are wrong', 'name: x\ngoals: []', /\/name: expected/],
    [
      'a persona that is not there',
      'name: Town\ngoals: [One]\npersona: ./gone.yaml\nbudget: 1\npublish: {to: [twitter]}',
      /gone\.yaml: there is no such file/,
    ],
    [
      'aliases without end',
      `a: &a [x, x]\n${'b: *a\n'.repeat(0)}c: ${'[*a, '.repeat(60)}x${']'.repeat(60)}`,
      /no YAML/,
    ],
  ]
  for (const [title, text, expected] of wrong) {
    test(`says what is wrong: ${title}`, async () => {
      const path = written('wrong.yaml', text)
      await assert.rejects(loadCampaign(path, hands), (error) => {
        assert.ok(error instanceof Trouble)
        assert.match(error.message, expected)
        return true
      })
    })
  }
  test('and that there is no such file', async () => {
    for (const gone of ['gone.yaml', 'gone.ts']) {
      await assert.rejects(loadCampaign(join(directory, gone), hands), /there is no such file/)
    }
  })
})
