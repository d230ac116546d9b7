/** So many grants of an agent at once, and room again when one ends. */
import assert from 'node:assert/strict'
import type { AgentId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { test } from 'vitest'
import { createGrants } from './grants.ts'

const [ann, bob] = ['ann', 'bob'] as AgentId[] as [AgentId, AgentId]

test('AV-12 an agent has so many, each has its own count, and room comes with time', () => {
  const grants = createGrants(2)
  assert.equal(grants.note(ann, 50, 0), undefined)
  assert.equal(grants.note(ann, 40, 0), undefined)
  assert.equal(grants.note(ann, 60, 10), 40, 'when the first of them ends')
  assert.equal(grants.note(bob, 60, 10), undefined)
  assert.equal(grants.note(ann, 60, 39), 40)
  assert.equal(grants.note(ann, 90, 40), undefined)
  assert.equal(grants.note(ann, 90, 40), 50)
  const later = LIMITS.grantMs + 100
  assert.equal(grants.note(bob, later + 1, later), undefined)
  assert.equal(grants.note(ann, later + 1, later), undefined)
})
