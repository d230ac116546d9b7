/**
 * `chimera init`: what it writes compiles as strictly as our own code, loads and makes sense, as it
 * is and with each of its examples uncommented; and what is there is never touched.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readProviderSettings } from '@chimera/skills/providers/settings'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { SAMPLES } from '../src/campaign-begin.ts'
import { loadCampaign } from '../src/campaign-file.ts'
import { CAMPAIGN_FILE, initialise } from '../src/init.ts'
import { CONFIG_FILE, CONFIG_TEMPLATE } from '../src/init-template.ts'
import { loadModule } from '../src/load-module.ts'
import { readProviders } from '../src/providers-file.ts'
import { writeProject } from './command.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const CODE = /^ *\/\/ /
const uncommented = (text: string): string => text.replace(/^( *)\/\/ /gm, '$1')

/** The parts that begin with words and have code to uncomment. */
const PARTS = CONFIG_TEMPLATE.split('\n\n').filter((part) =>
  part.split('\n').some((line) => CODE.test(line)),
)
const ONE_BY_ONE = PARTS.map((part) => CONFIG_TEMPLATE.replace(part, () => uncommented(part)))
const ALL = uncommented(CONFIG_TEMPLATE)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chimera-init-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const providersOf = async (text: string, name: string) => {
  const path = join(folder, name)
  await writeFile(path, text)
  const { providers }: { readonly providers?: unknown } = Object((await loadModule(path)).default)
  return readProviderSettings(providers)
}

describe('chimera init', () => {
  for (const sample of SAMPLES) {
    test(`writes a network that can be run, with ${sample}`, async () => {
      const place = join(folder, sample)
      const names = await initialise(place, sample)
      assert.deepEqual([...names].sort(), (await readdir(place)).sort())
      const { file } = await readProviders({ config: join(place, CONFIG_FILE) })
      assert.equal(file, join(place, CONFIG_FILE))
      const asked = await loadCampaign(join(place, CAMPAIGN_FILE), { owner: 'me', now: 0 })
      assert.ok(asked.campaign.goals.length > 0)
    })
  }

  test('touches nothing that is there, and says what to do', async () => {
    const place = join(folder, 'taken')
    await initialise(place, 'town-square')
    await writeFile(join(place, CONFIG_FILE), 'mine')
    await rm(join(place, CAMPAIGN_FILE))
    await assert.rejects(initialise(place, 'town-square'), (error: Error) => {
      assert.match(error.message, /^Nothing was written: chimera\.config\.ts, harbour-voice\.yaml /)
      assert.match(error.message, /name another directory: chimera init <directory>$/)
      return true
    })
    assert.equal(await readFile(join(place, CONFIG_FILE), 'utf8'), 'mine')
    assert.ok(!(await readdir(place)).includes(CAMPAIGN_FILE))
  })

  test('says nothing as long as it is commented out', async () => {
    assert.deepEqual(await providersOf(CONFIG_TEMPLATE, 'as-it-is.ts'), {})
  })

  test('has an example of everything that can be said, and all of them together hold', async () => {
    const providers = await providersOf(ALL, 'all.ts')
    assert.equal(PARTS.length, 7)
    assert.deepEqual(
      Object.keys(providers).sort(),
      // The hub is the one that the command belongs to.
      'allowNet content feeds mcp media models perHour publish trends wallet'.split(' '),
    )
  })

  for (const [at, text] of ONE_BY_ONE.entries()) {
    const [, name = ''] = /^ +\/\/ (\w+)/m.exec(PARTS[at] ?? '') ?? []
    test(`holds with only ${name} uncommented`, async () => {
      const providers = await providersOf(text, `only-${at}.ts`)
      assert.ok(name in providers)
    })
  }

  test('compiles under our own settings, as it is and uncommented', async () => {
    const options = {
      noEmit: true,
      composite: false,
      incremental: false,
      customConditions: [],
      target: 'ES2023',
    }
    const place = join(folder, 'typed')
    await writeProject(place, {
      'package.json': '{ "type": "module" }',
      'as-it-is.ts': CONFIG_TEMPLATE,
      'all.ts': ALL,
      'wrong.ts': ALL.replace("kind: 'google'", "kind: 'oracle'"),
      ...Object.fromEntries(ONE_BY_ONE.map((text, at) => [`only-${at}.ts`, text])),
      'tsconfig.json': JSON.stringify({
        extends: join(ROOT, 'tsconfig.base.json'),
        compilerOptions: options,
        include: ['*.ts'],
      }),
    })
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const compiled = promisify(execFile)(process.execPath, [compiler, '-p', place])
    const { stdout } = await compiled.catch((error: { readonly stdout: string }) => error)
    const lines = stdout.split('\n').filter((line) => line.includes('error TS'))
    assert.equal(lines.length, 1, stdout)
    assert.match(lines[0] ?? '', /wrong\.ts.*oracle/)
  })
})
