/** Outputs against published schemas: which one counts, and how many are kept ready. */
import assert from 'node:assert/strict'
import type { Agent, PublishedSchema, Skill } from '@chimera/domain/agent/agent'
import type { AgentId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import type { Directory } from '../views/directory.ts'
import { checkOutput, createSchemas } from './output.ts'

const NOW = 1_000
const agent = 'agent' as AgentId

const skill = (name: string, major: number, output?: PublishedSchema): Skill => ({
  name,
  version: { major, minor: 0 },
  description: '',
  priceCents: 1,
  ...(output && { output }),
})

function hubWith(...skills: readonly Skill[]) {
  const find = (id: AgentId) => (id === agent ? ({ id, skills } as unknown as Agent) : undefined)
  return { directory: { find } as Directory, schemas: createSchemas(), now: () => NOW }
}
const number = { type: 'number' }
const text = { type: 'string' }
const gone = { declaredAt: 0, removedAt: NOW }
const hub = hubWith(
  skill('add', 1, number),
  skill('add', 2, text),
  skill('any', 1),
  skill('odd', 1, { pattern: '(?=a)' }),
  { ...skill('old', 1), deprecation: gone },
)

// biome-ignore format: a table is read by its columns
const rows: [rule: string, skill: string, output: unknown, answer: string | undefined][] = [
  ['the newest major of a bare name',        'add',      'a', undefined],
  ['and no older one',                       'add',      1,   'output_invalid'],
  ['the version that is named',              'add@v1',   1,   undefined],
  ['O1 a skill without schema',              'any',      [],  undefined],
  ['O2 a schema that cannot be checked',     'odd',      'a', 'output_invalid'],
  ['a skill that is not offered',            'sub',      1,   'skill_unknown'],
  ['a version that is not offered',          'add@v3',   1,   'skill_unknown'],
  ['a version that was removed',             'old',      1,   'skill_unknown'],
  ['what is no name of a skill',             'add or 1', 1,   'skill_unknown'],
]
describe('OC-17 an output is judged by the schema of its skill', () => {
  for (const [rule, name, output, answer] of rows) {
    test(rule, () => {
      const checked = checkOutput(hub, { agent, skill: name, output })
      assert.equal(checked.ok ? undefined : checked.refusal, answer)
    })
  }
  test('an agent that nobody knows', () => {
    const checked = checkOutput(hub, { agent: 'x' as AgentId, skill: 'add', output: 1 })
    assert.equal(checked.ok ? undefined : checked.refusal, 'agent_unknown')
  })
  test('the refusal names the field', () => {
    const nested = hubWith(skill('s', 1, { properties: { a: number } }))
    const checked = checkOutput(nested, { agent, skill: 's', output: { a: 'b' } })
    assert.equal(!checked.ok && checked.particulars.issues?.[0]?.path, '/a')
  })
})

test('O3 a schema is made ready once, and the longest unused is let go', () => {
  const schemas = createSchemas(2)
  const [one, two, three] = [{ const: 1 }, { const: 2 }, { const: 3 }]
  const ready = schemas(one)
  assert.equal(schemas(one), ready)
  schemas(two)
  assert.equal(schemas(one), ready)
  schemas(three)
  assert.equal(schemas(one), ready)
  // The second was used longest ago; an equal schema is still another one.
  assert.notEqual(schemas({ const: 1 }), ready)
  schemas(two)
  assert.notEqual(schemas(one), ready)
})
