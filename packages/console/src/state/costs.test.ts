/** What a campaign cost, by what it was spent on. */
import assert from 'node:assert/strict'
import type { CampaignSeen } from '@chimera/dialects/chimera'
import { test } from 'vitest'
import { costsOf } from './costs.ts'

const at = '2027-01-15T12:00:00Z'
const step = (skill: string, cost?: number) => ({ skill, ...(cost !== undefined && { cost }) })

test('costs are added up by skill, the dearest first; what was free is left out', () => {
  const campaign = {
    budget: { total: 5, spent: 0.8 },
    steps: [
      step('generate_content', 0.25),
      step('validate_content', 0.1),
      step('generate_content', 0.25),
      step('validate_content', 0.2),
      step('approve_spend', 0),
      step('publish_content'),
    ],
    pieces: [
      { moments: [{ state: 'published', at }] },
      {
        moments: [
          { state: 'published', at },
          { state: 'rejected', at },
        ],
      },
      { moments: [] },
    ],
  } as unknown as CampaignSeen
  const { parts, published, spent } = costsOf(campaign)
  assert.deepEqual(parts, [
    { skill: 'generate_content', amount: 0.5 },
    { skill: 'validate_content', amount: 0.3 },
  ])
  assert.deepEqual([published, spent], [1, 0.8])
})
