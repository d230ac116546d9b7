/** Settings as a program gets them; the files are in memory, and once real. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, test } from 'vitest'
import { optional, required, requiredSecret, secret, setting } from './declare.ts'
import { list, place, text, url, whole } from './kinds.ts'
import { describeProblem } from './problems.ts'
import { describeSettings, printSettings } from './reference.ts'
import { resolveSettings, type SettingsOptions } from './resolve.ts'

const port = whole({ least: 0, most: 65_535 })
const planted = `chm_${'a1B2c3D4e5F6g7H8'}`

const declared = {
  listen: setting(place(), {
    fallback: { host: '127.0.0.1', port: 4_600 },
    about: 'Where the hub listens.',
  }),
  extraPorts: setting(list(port, 4), { fallback: [], about: 'More ports | for old clients.' }),
  region: optional(text(), { about: 'Where it runs.', variable: 'REGION' }),
  token: secret(text({ least: 8, most: 99 }), { about: 'The token.', reload: true }),
  database: secret(url('postgres'), { about: 'The database.' }),
}

/** No file is there but those given. */
function resolve(options: SettingsOptions, files: Readonly<Record<string, string>> = {}) {
  const read = async (path: string): Promise<string> => {
    const found = files[path]
    if (found === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
    return found
  }
  return resolveSettings(declared, { env: {}, read, ...options })
}

async function valuesOf(...args: Parameters<typeof resolve>) {
  const resolved = await resolve(...args)
  assert.ok(resolved.ok, JSON.stringify(resolved))
  return resolved.values
}

async function problemsOf(...args: Parameters<typeof resolve>): Promise<readonly string[]> {
  const resolved = await resolve(...args)
  return resolved.ok ? [] : resolved.problems.map(describeProblem)
}

describe('R1 the strongest source wins', () => {
  const flags = { extraPorts: '1' }
  const env = { CHIMERA_EXTRA_PORTS: '2' }
  const files = { 'chimera.config.json': '{"extraPorts":[3]}' }

  // biome-ignore format: a table is read by its columns
  const rows = [
    ['a flag over all',          { flags, env },                            files, [1], 'the flag --extra-ports'],
    ['a variable over the file', { env },                                   files, [2], 'the variable CHIMERA_EXTRA_PORTS'],
    ['the file over the default', {},                                       files, [3], '"extraPorts" in chimera.config.json'],
    ['the default last',         {},                                        {},    [],  'default'],
    ['an empty variable is none', { env: { CHIMERA_EXTRA_PORTS: '' } },     {},    [],  'default'],
    ['an absent flag is none',   { flags: { extraPorts: undefined }, env }, {},    [2], 'the variable CHIMERA_EXTRA_PORTS'],
  ] as const
  for (const [rule, options, given, value, origin] of rows) {
    test(rule, async () => {
      const resolved = await resolve(options, given)
      assert.ok(resolved.ok)
      assert.deepEqual(resolved.values.extraPorts, value)
      assert.equal(resolved.origins.extraPorts, origin)
    })
  }

  test('a setting can have a variable of another name', async () => {
    assert.equal((await valuesOf({ env: { REGION: 'eu' } })).region, 'eu')
    assert.equal((await valuesOf({ env: { CHIMERA_REGION: 'eu' } })).region, undefined)
  })

  test('R4 what is overruled is not looked at', async () => {
    const wrong = { CHIMERA_LISTEN: 'nowhere' }
    const values = await valuesOf({ flags: { listen: '[::1]:80' }, env: wrong })
    assert.deepEqual(values.listen, { host: '::1', port: 80 })
  })

  test('R3 what is resolved is frozen', async () => {
    assert.ok(Object.isFrozen(await valuesOf({})))
  })
})

describe('R2 problems', () => {
  test('are reported all at once, in plain words', async () => {
    const problems = await problemsOf(
      {
        flags: { listen: 'here', lisen: 'x' },
        env: { CHIMERA_EXTRA_PORTS: '80,99999', CHIMERA_TOKEN: 'short' },
      },
      // The part `providers` is that of the skills, and passed over here.
      {
        'chimera.config.json': '{"region":7,"database":"mysql://x","verbose":true,"providers":{}}',
      },
    )
    // biome-ignore format: one line for each problem, as a person reads it
    assert.deepEqual(problems, [
      'listen, from the flag --listen: expected a host and a port, such as 127.0.0.1:4600 or [::1]:4600; came "here".',
      `extraPorts, from the variable CHIMERA_EXTRA_PORTS: expected ${list(port, 4).expected}; came "80,99999".`,
      'region, from "region" in chimera.config.json: expected a text of 1 to 1024 characters; came 7.',
      'token, from the variable CHIMERA_TOKEN: expected a text of 8 to 99 characters; came something else, which is not shown.',
      'database, from "database" in chimera.config.json: expected an address that begins with postgres://; came something else, which is not shown.',
      'lisen, from the flag --lisen: expected the name of a setting; came one that nobody reads.',
      'verbose, from chimera.config.json: expected the name of a setting; came one that nobody reads.',
    ])
  })

  test('X-5 show no secret, wherever it was put by mistake', async () => {
    const problems = await problemsOf(
      { flags: { listen: planted }, env: { CHIMERA_DATABASE: planted } },
      { 'chimera.config.json': `{"extraPorts":["${planted}"],"token":["${planted}"]}` },
    )
    assert.equal(problems.length, 4)
    assert.ok(!problems.join().includes('a1B2c3'), problems.join('\n'))
  })

  test('a required setting that nobody gave', async () => {
    const needs = {
      data: required(text(), { about: 'x' }),
      key: requiredSecret(text(), { about: 'x' }),
    }
    const read = () => Promise.reject(Object.assign(new Error(), { code: 'ENOENT' }))
    const resolved = await resolveSettings(needs, { env: {}, read })
    assert.ok(!resolved.ok)
    assert.deepEqual(resolved.problems.map(describeProblem), [
      'data: expected a text of 1 to 1024 characters; came nothing.',
      'key: expected a text of 1 to 1024 characters; came nothing.',
    ])
  })

  test('O1 the usual settings file may be missing, a named one may not', async () => {
    assert.deepEqual(await problemsOf({ config: 'mine.json' }), [
      'config, from the file mine.json: expected a file that can be read; came ENOENT.',
    ])
    const values = await valuesOf({ config: 'mine.json' }, { 'mine.json': '{"region":"eu"}' })
    assert.equal(values.region, 'eu')
  })

  test('O1 a settings file that is no object, and nothing of it is shown', async () => {
    for (const content of ['', `{"token":"${planted}`, `["${planted}"]`, `"${planted}"`, 'null']) {
      const problems = await problemsOf({}, { 'chimera.config.json': content })
      assert.equal(problems.length, 1, content)
      assert.match(problems[0] ?? '', /expected one JSON object/)
      assert.ok(!problems.join().includes('a1B2c3'))
    }
  })

  test('names of every object are not settings', async () => {
    const files = { 'chimera.config.json': '{"__proto__":{"region":"eu"},"constructor":1}' }
    assert.equal((await problemsOf({}, files)).length, 2)
  })
})

describe('secrets', () => {
  test('SF-6 come by file, by each source, without the line break at their end', async () => {
    const files = { f: `${planted}\n`, 'chimera.config.json': '{"tokenFile":"f"}' }
    for (const options of [
      { flags: { tokenFile: 'f' } },
      { env: { CHIMERA_TOKEN_FILE: 'f' } },
      {},
    ]) {
      assert.equal((await valuesOf(options, files)).token?.reveal(), planted)
    }
  })

  test('by a stronger source win, whether by value or by file', async () => {
    const env = { CHIMERA_TOKEN_FILE: 'f' }
    const values = await valuesOf({ flags: { token: 'by value' }, env }, { f: planted })
    assert.equal(values.token?.reveal(), 'by value')
  })

  test('by value and by file at once are a problem', async () => {
    const env = { CHIMERA_TOKEN: planted, CHIMERA_TOKEN_FILE: 'f' }
    // biome-ignore format: one line for each problem, as a person reads it
    assert.deepEqual(await problemsOf({ env }, { f: planted }), [
      'token, from the variable CHIMERA_TOKEN: expected this or a file, not both; came the variable CHIMERA_TOKEN_FILE.',
    ])
  })

  test('a file that is missing, wrong or no path is a problem', async () => {
    const env = { CHIMERA_TOKEN_FILE: 'gone', CHIMERA_DATABASE_FILE: 'd' }
    // biome-ignore format: one line for each problem, as a person reads it
    assert.deepEqual(await problemsOf({ env }, { d: planted }), [
      'token, from the variable CHIMERA_TOKEN_FILE: expected a file that can be read; came ENOENT.',
      'database, from the variable CHIMERA_DATABASE_FILE: expected a file that holds an address that begins with postgres://; came something else, which is not shown.',
    ])
    assert.equal((await problemsOf({ flags: { tokenFile: 5 } })).length, 1)
  })

  test('only secrets come by file', async () => {
    assert.equal((await problemsOf({ flags: { regionFile: 'f' } }, { f: 'eu' })).length, 1)
    assert.equal((await valuesOf({ env: { REGION_FILE: 'f' } }, { f: 'eu' })).region, undefined)
  })

  test('X-5 S1 are not shown by accident', async () => {
    const values = await valuesOf({ flags: { token: planted, database: 'postgres://u:p4ss@d/c' } })
    const shown = [
      JSON.stringify(values),
      inspect(values, { depth: 9, showHidden: true }),
      `${values.token}`,
      String(values.database),
    ].join('\n')
    assert.ok(!shown.includes('a1B2c3') && !shown.includes('p4ss'), shown)
    assert.equal(values.database?.reveal(), 'postgres://u:p4ss@d/c')
  })
})

test('real files are read, up to a bound', async () => {
  const home = mkdtempSync(join(tmpdir(), 'chimera-settings-'))
  try {
    const [config, token, huge] = ['c.json', 'token', 'huge'].map((name) => join(home, name))
    assert.ok(config && token && huge)
    writeFileSync(config, JSON.stringify({ region: 'eu', tokenFile: token }))
    writeFileSync(token, `${planted}\r\n`)
    writeFileSync(huge, 'x'.repeat(1024 * 1024 + 1))
    const resolved = await resolveSettings(declared, { env: {}, config })
    assert.ok(resolved.ok)
    assert.equal(resolved.values.token?.reveal(), planted)
    assert.equal(resolved.values.region, 'eu')
    const other = await resolveSettings(declared, { env: { CHIMERA_TOKEN_FILE: huge }, config })
    assert.match(other.ok ? '' : describeProblem(other.problems[0] ?? assert.fail()), /EFBIG/)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})

describe('for people', () => {
  test('the reference page says all names, bounds, defaults and how a secret is rotated', () => {
    const page = describeSettings('Settings of the hub', declared)
    // biome-ignore format: one line for each line of the page
    const expected = [
      '# Settings of the hub',
      '## extraPorts',
      'More ports | for old clients.',
      '| flag | `--extra-ports` |',
      '| variable | `CHIMERA_EXTRA_PORTS` |',
      '| file | `"extraPorts"` |',
      `| accepts | ${list(port, 4).expected} |`,
      '| default | `127.0.0.1:4600` |',
      '| default | not set |',
      '| variable | `REGION` |',
      '| secret | never shown; better by file: `--token-file`, `CHIMERA_TOKEN_FILE`, `"tokenFile"` |',
      '| rotation | a changed file takes effect by itself |',
      '| rotation | needs a restart |',
    ]
    for (const line of expected) {
      assert.ok(page.split('\n').includes(line), `${line} in\n${page}`)
    }
  })

  test('X-5 the print-out of --check shows what holds and why, and no secret', async () => {
    const resolved = await resolve(
      { flags: { token: planted, region: `eu ${planted}` }, env: { CHIMERA_DATABASE_FILE: 'd' } },
      { d: 'postgres://u:p4ss@d/c' },
    )
    assert.ok(resolved.ok)
    assert.deepEqual(printSettings(declared, resolved).split('\n'), [
      'listen      127.0.0.1:4600  (default)',
      'extraPorts    (default)',
      'region      eu [secret removed]  (the flag --region)',
      'token       [secret removed]  (the flag --token)',
      'database    [secret removed]  (the variable CHIMERA_DATABASE_FILE)',
      '',
    ])
  })
})
