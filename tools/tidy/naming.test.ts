/** One row, one name: what a file or folder may be called. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { inspect } from './inspect.ts'

// biome-ignore format: a table is read by its columns
const rows: [rule: string, path: string, stopped: RegExp | undefined][] = [
  ['one word',                              'packages/domain/src/money.ts',                 undefined],
  ['two words',                             'packages/domain/src/skill-version.ts',         undefined],
  ['with its test beside it',               'packages/domain/src/skill-version.test.ts',    undefined],
  ['digits inside a word',                  'packages/hub/src/http/a2a.ts',                 undefined],
  ['a configuration',                       'vitest.config.ts',                             undefined],
  ['declarations',                          'packages/identity/src/sodium-native.d.ts',     undefined],
  ['three words are two too many ideas',    'packages/domain/src/skill-version-order.ts',   /one lower-case word/],
  ['upper case',                            'packages/domain/src/Money.ts',                 /one lower-case word/],
  ['camel case',                            'packages/domain/src/skillVersion.ts',          /one lower-case word/],
  ['an underscore',                         'packages/domain/src/skill_version.ts',         /one lower-case word/],
  ['another dotted ending',                 'packages/domain/src/money.service.ts',         /one lower-case word/],
  ['a folder in upper case',                'packages/hub/src/HTTP/routes.ts',              /one lower-case word/],
  ['utils',                                 'packages/domain/src/utils.ts',                 /says nothing/],
  ['helpers',                               'packages/domain/src/helpers.ts',               /says nothing/],
  ['common',                                'packages/domain/src/common.ts',                /says nothing/],
  ['misc',                                  'packages/domain/src/misc.ts',                  /says nothing/],
  ['manager',                               'packages/domain/src/manager.ts',               /says nothing/],
  ['base',                                  'packages/domain/src/base.ts',                  /says nothing/],
  ['impl',                                  'packages/domain/src/impl.ts',                  /says nothing/],
  ['types',                                 'packages/domain/src/types.ts',                 /says nothing/],
  ['the test of nothing',                   'packages/domain/src/utils.test.ts',            /says nothing/],
  ['a folder of nothing',                   'packages/hub/src/utils/clock.ts',              /says nothing/],
  ['nor may a barrel stand in one',         'packages/hub/src/clock/index.ts',              /no index\.ts/],
  ['the front door of a dialect',           'packages/dialects/src/chorus/index.ts',        undefined],
  ['no other index',                        'packages/domain/src/index.ts',                 /no index\.ts/],
  ['not above the dialects',                'packages/dialects/src/index.ts',               /no index\.ts/],
  ['nor below a front door',                'packages/dialects/src/chorus/jobs/index.ts',   /no index\.ts/],
  ['an example is numbered and titled',     'examples/01-hello-agent/main.ts',              undefined],
  ['a source is not numbered',              'packages/hub/src/01-hello.ts',                 /one lower-case word/],
  ['a migration is',                        'packages/store/src/migrations/0001-agents.ts', undefined],
]

for (const [rule, path, stopped] of rows) {
  test(rule, () => {
    const text = '/** A source for the tests. */\nexport {}\n'
    const found = inspect({ path, text }, new Set()).map((each) => each.advice)
    assert.equal(found.length, stopped ? 1 : 0, found.join('\n'))
    if (stopped) assert.match(found[0] ?? '', stopped)
  })
}
