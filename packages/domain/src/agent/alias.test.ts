/** One row, one rule of N1 and N2, for credentials; the agents' claims are in agent.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { AgentId, Alias } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { decideHoldAlias, type Holder } from './alias.ts'

const MOST = LIMITS.aliasesPerCredential
const acme: Holder = { by: 'credential', subject: 'acme' }
const bolt: Holder = { by: 'credential', subject: 'bolt' }
const namesake: Holder = { by: 'agent', agent: 'acme' as AgentId }

// biome-ignore format: a table is read by its columns
const rows: [rule: string, holder: Holder | undefined, held: number, answer: string][] = [
  ['X-10 a free one is held',                      undefined, 0,        'alias_held'],
  ['X-10 one that it has is not held twice',       acme,      1,        'nothing new'],
  ['X-10 one of another credential is taken',      bolt,      0,        'alias_taken'],
  ['X-10 one of an agent is taken, same name',     namesake,  0,        'alias_taken'],
  ['A5 the last one that is allowed is held',      undefined, MOST - 1, 'alias_held'],
  ['A5 one more is not',                           undefined, MOST,     'aliases_exhausted'],
  ['A5 what it has stays its own',                 acme,      MOST,     'nothing new'],
  ['the strongest refusal is the one given',       bolt,      MOST,     'alias_taken'],
]

for (const [rule, holder, held, answer] of rows) {
  test(rule, () => {
    const asked = { alias: 'planner' as Alias, subject: 'acme' }
    const decision = decideHoldAlias({ holder, held }, asked)
    assert.equal(
      decision.ok ? (decision.facts[0]?.type ?? 'nothing new') : decision.refusal,
      answer,
    )
  })
}
