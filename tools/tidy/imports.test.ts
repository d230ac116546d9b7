/** One row, one arrow: what the boundary table lets through, and what it stops. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { BOUNDARIES } from './boundaries.ts'
import { inspect } from './inspect.ts'

const OPENING = '/** A source for the tests. */\n'

function advices(path: string, code: string, rule = 'imports'): string[] {
  return inspect({ path, text: OPENING + code }, new Set())
    .filter((each) => each.rule === rule)
    .map((each) => each.advice)
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, path: string, code: string, stopped: RegExp | undefined][] = [
  ['the domain imports its own files',              'packages/domain/src/a.ts',       `import { b } from './b.ts'`,                              undefined],
  ['but none of ours',                              'packages/domain/src/a.ts',       `import { b } from '@chimera/identity/keys'`,              /may not import identity/],
  ['not even for a type',                           'packages/domain/src/a.ts',       `import type { B } from '@chimera/dialects/wire'`,         /may not import dialects/],
  ['nor in a type position',                        'packages/domain/src/a.ts',       `export type B = import('@chimera/identity/keys').Key`,    /may not import identity/],
  ['nor by re-export',                              'packages/domain/src/a.ts',       `export * from '@chimera/identity/keys'`,                  /may not import identity/],
  ['nor by a named re-export',                      'packages/domain/src/a.ts',       `export { b } from '@chimera/identity/keys'`,              /may not import identity/],
  ['nor when it runs',                              'packages/domain/src/a.ts',       `export const b = () => import('@chimera/host/clock')`,    /may not import host/],
  ['nor by a computed name',                        'packages/domain/src/a.ts',       `export const b = (c: string) => import(c)`,               /fixed names/],
  ['the domain has no npm package',                 'packages/domain/src/a.ts',       `import { b } from 'typebox'`,                             /may not use typebox/],
  ['and no Node',                                   'packages/domain/src/a.ts',       `import { b } from 'node:crypto'`,                         /does no I\/O/],
  ['written either way',                            'packages/domain/src/a.ts',       `import { b } from 'crypto'`,                              /does no I\/O/],
  ['its tests have Node',                           'packages/domain/src/a.test.ts',  `import assert from 'node:assert/strict'`,                 undefined],
  ['and the test tools',                            'packages/domain/src/a.test.ts',  `import fc from 'fast-check'`,                             undefined],
  ['but not what only others use',                  'packages/domain/src/a.test.ts',  `import { b } from 'jose'`,                                /may not use jose/],
  ['dialects know the domain',                      'packages/dialects/src/a.ts',     `import { b } from '@chimera/domain/ids'`,                 undefined],
  ['typebox and its subpaths',                      'packages/dialects/src/a.ts',     `import { b } from 'typebox/schema'`,                      undefined],
  ['ajv',                                           'packages/dialects/src/a.ts',     `import { Ajv } from 'ajv'`,                               undefined],
  ['and no third one',                              'packages/dialects/src/a.ts',     `import { b } from 'zod'`,                                 /may not use zod/],
  ['identity and dialects do not know each other',  'packages/identity/src/a.ts',     `import { b } from '@chimera/dialects/wire'`,              /may not import dialects/],
  ['in neither direction',                          'packages/dialects/src/a.ts',     `import { b } from '@chimera/identity/keys'`,              /may not import identity/],
  ['store knows the domain and its driver',         'packages/store/src/a.ts',        `import pg from 'pg'\nimport '@chimera/domain/ids'`,       undefined],
  ['and nothing above',                             'packages/store/src/a.ts',        `import { b } from '@chimera/hub/act'`,                    /may not import hub/],
  ['nor the other broker',                          'packages/store/src/a.ts',        `import { b } from '@nats-io/transport-node'`,             /may not use @nats-io\/transport-node/],
  ['bus takes all of one scope',                    'packages/bus/src/a.ts',          `import { b } from '@nats-io/jetstream'`,                  undefined],
  ['the hub takes ports',                           'packages/hub/src/act/a.ts',      `import type { B } from '@chimera/store/open'`,            /only packages\/hub\/src\/compose\.ts/],
  ['and names adapters in compose.ts',              'packages/hub/src/compose.ts',    `import { open } from '@chimera/store/open'`,              undefined],
  ['but not in a compose.ts deeper down',           'packages/hub/src/b/compose.ts',  `import { open } from '@chimera/store/open'`,              /only packages\/hub\/src\/compose\.ts/],
  ['its tests may use the real ones',               'packages/hub/src/a.test.ts',     `import { open } from '@chimera/store/open'`,              undefined],
  ['an agent never imports the hub',                'packages/agent/src/a.ts',        `import { b } from '@chimera/hub/act'`,                    /may not import hub/],
  ['nor a store',                                   'packages/agent/src/compose.ts',  `import { b } from '@chimera/store/open'`,                 /may not import store/],
  ['nor a database',                                'packages/agent/src/a.ts',        `import pg from 'pg'`,                                     /may not use pg/],
  ['nor a broker',                                  'packages/agent/src/a.ts',        `import { b } from '@nats-io/transport-node'`,             /may not use @nats-io/],
  ['nor a model',                                   'packages/agent/src/a.ts',        `import { b } from 'ai'`,                                  /may not use ai/],
  ['nor a chain',                                   'packages/agent/src/a.ts',        `import { b } from 'viem'`,                                /may not use viem/],
  ['skills know the runner',                        'packages/skills/src/a.ts',       `import { b } from '@chimera/skill/runner'`,               undefined],
  ['and no store',                                  'packages/skills/src/a.ts',       `import { b } from '@chimera/store/open'`,                 /may not import store/],
  ['a runner knows no skill',                       'packages/skill/src/a.ts',        `import { b } from '@chimera/skills/trends'`,              /may not import skills/],
  ['the fleet is a user of agent and skills',       'packages/fleet/src/a.ts',        `import { b } from '@chimera/agent/serve'`,                undefined],
  ['not of the hub',                                'packages/fleet/src/a.ts',        `import { b } from '@chimera/hub/act'`,                    /may not import hub/],
  ['the console takes types of the hub',            'packages/console/src/a.tsx',     `import type { B } from '@chimera/hub/view'`,              undefined],
  ['named one by one too',                          'packages/console/src/a.tsx',     `import { type B } from '@chimera/hub/view'`,              undefined],
  ['never its code',                                'packages/console/src/a.tsx',     `import { type B, c } from '@chimera/hub/view'`,           /may not import hub/],
  ['and no Node',                                   'packages/console/src/a.tsx',     `import { b } from 'node:fs'`,                             /runs in a browser/],
  ['the CLI starts everything',                     'packages/cli/src/a.ts',          `import { b } from '@chimera/store/migrate'`,              undefined],
  ['the harness may import everything of ours',     'packages/harness/src/a.ts',      `import { b } from '@chimera/cli/verb'`,                   undefined],
  ['nothing shipped imports the harness',           'packages/agent/src/a.ts',        `import { b } from '@chimera/harness/network'`,            /may not import harness/],
  ['but tests do',                                  'packages/agent/src/a.test.ts',   `import { b } from '@chimera/harness/network'`,            undefined],
  ['a bench takes its peers from anywhere',         'bench/a.ts',                     `import { b } from 'zod'`,                                 undefined],
  ['no file inside another package by name',        'packages/identity/src/a.ts',     `import { b } from '@chimera/domain/src/ids'`,             /not a file inside it/],
  ['nor with its ending',                           'packages/identity/src/a.ts',     `import { b } from '@chimera/domain/ids.ts'`,              /not a file inside it/],
  ['nor by a path',                                 'packages/identity/src/a.ts',     `import { b } from '../../domain/src/ids.ts'`,             /by its name/],
  ['nor from a test by a path',                     'packages/identity/src/a.test.ts', `import { b } from '../../domain/src/ids.ts'`,            /by its name/],
  ['its own files by a path, not by name',          'packages/identity/src/a.ts',     `import { b } from '@chimera/identity/keys'`,              /relative path/],
  ['a package without a row is not known',          'packages/identity/src/a.ts',     `import { b } from '@chimera/oracle/say'`,                 /not in tools\/tidy\/boundaries\.ts/],
  ['nor may it import',                             'packages/oracle/src/a.ts',       `import { b } from '@chimera/domain/ids'`,                 /give packages\/oracle a row/],
  ['require is an import',                          'packages/domain/src/a.ts',       `export const b = () => require('pg')`,                    /may not use pg/],
]

describe('imports', () => {
  for (const [rule, path, code, stopped] of rows) {
    test(rule, () => {
      const found = advices(path, code)
      assert.equal(found.length, stopped ? 1 : 0, found.join('\n'))
      if (stopped) assert.match(found[0] ?? '', stopped)
    })
  }
})

describe('the boundary table', () => {
  const reached = (name: string): Set<string> => {
    const seen = new Set<string>()
    const visit = (each: string): void => {
      for (const next of BOUNDARIES[each]?.uses ?? []) {
        if (seen.has(next)) continue
        seen.add(next)
        visit(next)
      }
    }
    visit(name)
    return seen
  }

  test('has no circle', () => {
    for (const name of Object.keys(BOUNDARIES)) {
      assert.ok(!reached(name).has(name), `${name} reaches itself`)
    }
  })

  test('names no package that has no row', () => {
    const rows = Object.values(BOUNDARIES)
    const named = rows.flatMap((each) => [...each.uses, ...each.typesOf, ...each.testsUse])
    for (const name of named) assert.ok(name in BOUNDARIES, name)
  })

  test('keeps databases, brokers, models and chains away from an agent', () => {
    const names = ['agent', ...reached('agent')]
    const npm = names.flatMap((each) => BOUNDARIES[each]?.npm ?? [])
    for (const heavy of ['*', 'pg', '@electric-sql/pglite', '@nats-io/*', 'ai', 'viem']) {
      assert.ok(!npm.includes(heavy), heavy)
    }
    assert.ok(!names.includes('store') && !names.includes('bus') && !names.includes('hub'))
  })
})

describe('manifests', () => {
  const manifest = (path: string, parts: object): string[] =>
    inspect({ path, text: JSON.stringify(parts) }, new Set()).map((each) => each.advice)

  // biome-ignore format: a table is read by its columns
  const declared: [rule: string, path: string, parts: object, stopped: RegExp | undefined][] = [
    ['the domain depends on nothing',       'packages/domain/package.json',   { dependencies: { jose: '6.2.17' } },                 /may not depend on jose/],
    ['a row may be depended on',            'packages/dialects/package.json', { dependencies: { ajv: '8.20.0' } },                  undefined],
    ['not what stands above',               'packages/agent/package.json',    { dependencies: { '@chimera/hub': '0.1.0' } },        /may not depend on @chimera\/hub/],
    ['nor as an optional peer outside it',  'packages/agent/package.json',    { peerDependencies: { viem: '2' } },                  /may not depend on viem/],
    ['the hub depends on what it composes', 'packages/hub/package.json',      { dependencies: { '@chimera/store': '0.1.0' } },      undefined],
    ['versions are exact',                  'packages/dialects/package.json', { dependencies: { ajv: '^8.20.0' } },                 /pin ajv/],
    ['those of the tools as well',          'package.json',                   { devDependencies: { vitest: '4' } },                 /pin vitest/],
  ]
  for (const [rule, path, parts, stopped] of declared) {
    test(rule, () => {
      const found = manifest(path, parts)
      assert.equal(found.length, stopped ? 1 : 0, found.join('\n'))
      if (stopped) assert.match(found[0] ?? '', stopped)
    })
  }
})
