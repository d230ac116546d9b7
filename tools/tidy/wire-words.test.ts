/** Where a word of the wire may be said: one row, one place. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { inspect } from './inspect.ts'

function found(path: string, code: string): string[] {
  const text = `/** A source for the tests. */\n${code}\n`
  return inspect({ path, text }, new Set())
    .filter((each) => each.rule === 'wire-word')
    .map((each) => `${each.line} ${each.advice}`)
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, path: string, code: string, stopped: boolean][] = [
  ['not in the domain',             'packages/domain/src/a.ts',           `export const a = 'HUMAN_REVIEW'`,                  true],
  ['not as a type',                 'packages/domain/src/a.ts',           `export type A = 'AVAILABLE' | 'idle'`,             true],
  ['not as a key',                  'packages/hub/src/a.ts',              `export const a = { SUCCESS: 1 }`,                  true],
  ['not as a quoted key',           'packages/hub/src/a.ts',              `export const a = { 'FAILURE': 1 }`,                true],
  ['not in a template',             'packages/hub/src/a.ts',              'export const a = `PENDING`',                       true],
  ['not in a comparison',           'packages/agent/src/a.ts',            `export const a = (x: string) => x === 'PAUSED'`,   true],
  ['not in the console',            'packages/console/src/a.tsx',         `export const a = 'AGENT_OFFLINE'`,                 true],
  ['nor the name of the money',     'packages/hub/src/a.ts',              `export const a = 'chorus_credits_v1'`,             true],
  ['nor a topic',                   'packages/bus/src/a.ts',              `export const a = 'moltbook.presence.openswarm'`,   true],
  ['nor a skill code',              'packages/fleet/src/a.ts',            `export const a = 'RATE_LIMITED'`,                  true],
  ['in dialects it is at home',     'packages/dialects/src/feed/a.ts',    `export const a = 'HUMAN_REVIEW'`,                  false],
  ['skills say their own codes',    'packages/skills/src/a.ts',           `export const a = 'SKILL_MISMATCH'`,                false],
  ['so does their runner',          'packages/skill/src/a.ts',            `export const a = 'RATE_LIMITED'`,                  false],
  ['tests quote',                   'packages/hub/src/a.test.ts',         `export const a = 'SUCCESS'`,                       false],
  ['so does what is not shipped',   'conformance/a.ts',                   `export const a = 'SUCCESS'`,                       false],
  ['our own words are ours',        'packages/domain/src/a.ts',           `export const a = { pending: 'human_review' }`,     false],
  ['a comment may explain',         'packages/domain/src/a.ts',           `// shown as HUMAN_REVIEW\nexport {}`,              false],
  ['a sentence is not a word',      'packages/domain/src/a.ts',           `export const a = 'a SUCCESS story'`,               false],
  ['a name is not a string',        'packages/domain/src/a.ts',           `const SUCCESS = 1\nexport { SUCCESS }`,            false],
]

describe('wire words', () => {
  for (const [rule, path, code, stopped] of rows) {
    test(rule, () => assert.equal(found(path, code).length, stopped ? 1 : 0))
  }
})
