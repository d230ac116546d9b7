/** The reference page says what the contracts say now. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { SKILLS } from '@chimera/dialects/skills/contracts'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { describe, test } from 'vitest'
import { presetsFor, SKILL_NAMES, showSkill } from './catalogue.ts'
import { exampleOf } from './examples.ts'
import { describeSkills } from './reference.ts'

describe('docs/reference/skills.md', () => {
  test('SK-1 is what tools/reference-skills.ts would write', async () => {
    const path = new URL('../../../docs/reference/skills.md', import.meta.url)
    const [made = '', ...rest] = (await readFile(path, 'utf8')).split('\n\n')
    assert.match(made, /^<!-- Written by tools\/reference-skills\.ts/)
    assert.equal(rest.join('\n\n'), describeSkills(), 'run tools/reference-skills.ts')
  })

  test('has every field, bound, default and code of a contract', () => {
    const { input, errors, timeoutMs, cacheMs } = showSkill('fetch_trends')
    assert.deepEqual(
      input.map(({ name, required, bounds, preset }) => [name, required, bounds, preset]),
      [
        ['platform', true, 'twitter, news, market, reddit, tiktok; 1 to 5 elements', undefined],
        ['limit', false, '1 to 500', '50'],
        ['timeWindow', false, 'at most 5 characters; matches ^[0-9]+(h|d)$', '"24h"'],
        ['minEngagement', false, 'at least 0', '10000'],
        ['excludeTopics', false, 'at most 50 elements; each 1 to 200 characters', undefined],
      ],
    )
    assert.deepEqual([timeoutMs, cacheMs], [30_000, 300_000])
    for (const id of SKILL_NAMES) {
      const shown = showSkill(id).errors.map(({ code }) => code)
      assert.deepEqual(shown, Object.keys(SKILLS[id].errors), id)
    }
    const [first] = errors
    assert.match(first?.recovery ?? '', /^3 retries, another source from retry 1, then the /)
  })
})

describe('examples', () => {
  const hands = { now: createClock().now(), uuid: createChance().uuid }
  for (const id of SKILL_NAMES) {
    test(`of ${id} fits its schema`, () => {
      const checked = SKILLS[id].checkInput(exampleOf(id, hands))
      assert.ok(checked.ok, JSON.stringify(checked))
    })
  }

  test('what is filled in is named by its path, and nothing that was given', () => {
    assert.deepEqual(presetsFor('fetch_trends', { platform: 'news', limit: 3 }), {
      timeWindow: '24h',
      minEngagement: 10_000,
    })
    const { agent_profile } = exampleOf('register_openclaw_profile', hands)
    assert.deepEqual(presetsFor('register_openclaw_profile', { agent_profile }), {
      'agent_profile.max_concurrent_tasks': 5,
    })
  })
})
