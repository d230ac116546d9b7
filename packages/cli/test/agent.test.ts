/** `chimera agent` and `chimera new agent` as an author runs them, against a real hub process. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import {
  chimera,
  type Going,
  type HubProcess,
  type Ran,
  startChimera,
  startHubProcess,
  writeProject,
} from './command.ts'

const PATIENCE = { timeout: 180_000 }

const SKILL = `
import { defineSkill, Type } from '@chimera/agent'
import { shouted } from './words.ts'

export const shout = defineSkill({
  name: 'shout',
  version: '1.0',
  price: 0.05,
  input: Type.Object({ text: Type.String() }),
  output: Type.Object({ text: Type.String() }),
  run: async ({ text }: { text: string }, { log }) => {
    console.log('printed by the skill')
    log.info('shouting', { chars: text.length })
    if (text === '') throw new Error('nothing to shout')
    return { text: shouted(text) }
  },
})
`
const WORDS = 'export const shouted = (text: string): string => text.toUpperCase()\n'
const PLAIN = `
import { defineSkill, Type } from '@chimera/agent'
const echo = defineSkill({
  name: 'echo', version: '2.1', input: Type.Object({}), output: Type.Object({}), run: () => ({}),
})
export default { owner: 'acme', name: 'chimera-echo', skills: [echo] }
`

let home = ''
let hub: HubProcess

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-agent-'))
  await writeProject(home, {
    'package.json': '{ "type": "module" }',
    'skills.ts': SKILL,
    'words.ts': WORDS,
    'echo.mjs': PLAIN,
  })
  hub = await startHubProcess(['--listen', '127.0.0.1:0', '--data', join(home, 'data')])
}, PATIENCE.timeout)

afterAll(async () => {
  await hub?.stop()
  await rm(home, { recursive: true, force: true })
}, PATIENCE.timeout)

const inHome = (...words: readonly string[]): Promise<Ran> =>
  chimera(words, { CHIMERA_HUB: hub.address }, { cwd: home })
const startAgent = (...words: readonly string[]): Going =>
  startChimera(['agent', ...words], { CHIMERA_HUB: hub.address }, home)
const shout = (text: string) =>
  inHome('hire', 'shout', '--input', JSON.stringify({ text }), '--budget', '0.1', '--owner', 'ann')

async function stopped(agent: Going): Promise<Ran> {
  agent.signal('SIGINT')
  const ran = await agent.ended
  assert.equal(ran.status, 0, ran.err)
  return ran
}

test(
  'serves a TypeScript file, anew after each change, and drains by Ctrl-C',
  PATIENCE,
  async () => {
    const agent = startAgent('skills.ts', '--owner', 'acme', '--watch')
    try {
      const [, address = ''] = await agent.says(/is at work on (http:\S+), at the hub/)
      await agent.says(/shout@v1\.0 {2}0\.05 credits a call\n/)
      const first = await shout('hi')
      assert.deepEqual([first.status, JSON.parse(first.out)], [0, { text: 'HI' }], first.err)
      assert.match(first.err, /Done in .* by chimera-skills \(\S{36}\) for 0\.05 credits\./)
      await agent.says(/asked {6}\S{8} {2}shout@v1\.0 {2}0\.05 {2}by ann\n/)
      await agent.says(/done {7}\S{8} {2}shout@v1\.0 {2}in \d+ ms\n/)
      await agent.says(/paid {7}\S{8} {2}shout@v1\.0 {2}0\.05 {2}by ann\n/)
      await agent.says(/info {6}shout@v1\.0 {2}shouting {2}\{"chars":2\}\n/)

      // What it threw is for its author, with the place; the hirer reads a code.
      assert.equal((await shout('')).status, 4)
      await agent.says(
        /threw {5}shout@v1\.0 {2}Error: nothing to shout\n {2}at .*skills\.ts:14:\d+\n/,
      )
      await agent.says(/failed {5}\S{8} {2}shout@v1\.0 {2}after \d+ ms {2}INTERNAL_ERROR: /)

      // A mistake in what it imports: said with the place, and the one before goes on.
      await writeFile(join(home, 'words.ts'), 'export const shouted = (text: string) => text.\n')
      await agent.says(/words\.ts:2:0: ERROR: .*\nThe one before goes on\./)
      assert.deepEqual(JSON.parse((await shout('still here')).out), { text: 'STILL HERE' })

      await writeFile(join(home, 'words.ts'), 'export const shouted = () => "changed"\n')
      const [, again] = await agent.says(/is back on (http:\S+),/)
      assert.equal(again, address, 'where it was before')
      assert.deepEqual(JSON.parse((await shout('hi')).out), { text: 'changed' })
    } finally {
      const { out, err } = await stopped(agent)
      assert.doesNotMatch(out, /printed by the skill/, 'standard output is for work alone')
      assert.match(err, /printed by the skill/)
      await writeFile(join(home, 'words.ts'), WORDS)
    }
  },
)

test('a plain module with options; JSON lines; work that is kept', PATIENCE, async () => {
  const agent = startAgent('echo.mjs', '--json', '--keep', join(home, 'kept'), '--port', '0')
  const [line] = await agent.says(/^\{"event":"started".*\}$/m)
  const started = JSON.parse(line) as Record<string, unknown>
  assert.deepEqual(
    [started.name, started.owner_id, started.durable, started.skills],
    ['chimera-echo', 'acme', true, [{ skill: 'echo@v2.1', price: 0 }]],
  )
  const hired = await inHome('hire', 'echo', '--json', '--quiet')
  assert.equal(hired.status, 0, hired.err)
  assert.equal(hired.err, '')
  const [done] = await agent.says(/^\{"event":"done".*\}$/m)
  assert.equal(JSON.parse(done).request_id, JSON.parse(hired.out).task_id)
  const { out } = await stopped(agent)
  for (const each of out.trim().split('\n')) JSON.parse(each)
  assert.deepEqual((await readdir(join(home, 'kept'))).includes('work.jsonl'), true)
})

test('says that the hub does not answer, and when it does', PATIENCE, async () => {
  const { host } = new URL(hub.address)
  await hub.stop()
  const agent = startAgent('echo.mjs')
  try {
    await agent.says(/is ready on http:\S+, for the hub .*\nThat hub does not answer: nobody finds/)
    hub = await startHubProcess(['--listen', host, '--data', join(home, 'data')])
    await agent.says(/The hub has answered: it is at work, and can be found\.\n/)
  } finally {
    const { err } = await stopped(agent)
    assert.doesNotMatch(err, /is at work on/)
  }
})

// biome-ignore format: a table is read by its columns
const WRONG_FLAGS = [
  'skills.ts', '--port', 'x', '--hub', 'ftp://x', '--token-file', 'nowhere', '--owner', '',
  '--name', '', '--keep', '',
]
const ALL_WRONG = new RegExp(
  [
    '--token-file: expected a file',
    '--hub: expected an address that begins with http://.*came "ftp://x"',
    '--owner: expected a text of 1 to 128 characters; came ""',
    '--name: expected a text',
    '--keep: expected a text',
    '--port: expected a whole number from 0 to 65535; came "x"',
  ].join('.*'),
  's',
)

describe('what it cannot run', PATIENCE, () => {
  test('is told, with what to do', async () => {
    await writeFile(join(home, 'empty.mjs'), 'export const a = 1\n')
    await writeFile(join(home, 'broken.mjs'), 'export const a = 1\nconst b = = 2\n')
    await writeFile(join(home, 'lost.ts'), "import './nowhere.ts'\n")
    await writeFile(join(home, 'bad.ts'), SKILL.replace("name: 'shout'", "name: 'sh out'"))
    // biome-ignore format: a table is read by its columns
    const rows: [words: string[], status: number, says: RegExp][] = [
      [['nowhere.ts', '--owner', 'a'],                   2, /<file>: expected a module that exports skills.*came "nowhere\.ts", which is not there/],
      [['package.json', '--owner', 'a'],                 2, /<file>: expected .*came "package\.json"/],
      [['empty.mjs', '--owner', 'a'],                    2, /exports a: none of them is a skill\.\nExport skills/],
      [['skills.ts'],                                    2, /owner: expected who is paid.*came nothing\.\nSay --owner/],
      [['broken.mjs', '--owner', 'a'],                   1, /broken\.mjs:2\nconst b = = 2/],
      [['lost.ts', '--owner', 'a'],                      1, /nowhere\.ts/],
      [['bad.ts', '--owner', 'a'],                       1, /name.*\n {2}at .*bad\.ts:5:/],
      [WRONG_FLAGS,                                      2, ALL_WRONG],
      [['echo.mjs', '--port', new URL(hub.address).port], 1, /EADDRINUSE.*\nName another port with --port/],
      [['echo.mjs', '--keep', 'postgres://a@127.0.0.1:9/x'], 1, /The database does not answer\.\n.*--keep/],
    ]
    const runs = await inTurns(rows, 2, ([words]) => inHome('agent', ...words))
    for (const [at, [words, status, says]] of rows.entries()) {
      const ran = runs[at]
      assert.deepEqual([words, ran?.status], [words, status], ran?.err)
      assert.match(ran?.err ?? '', says)
    }
  })
})

test('chimera new agent: its test passes, it starts, and can be hired', PATIENCE, async () => {
  const made = await inHome('new', 'agent', 'starter', '--owner', "o'neill")
  assert.equal(made.status, 0, made.err)
  assert.match(made.err, /^chimera-starter is in starter\. Next:\n {2}cd starter\n/)
  const folder = join(home, 'starter')
  const before = await readFile(join(folder, 'skills.ts'), 'utf8')
  const again = await inHome('new', 'agent', 'starter')
  assert.equal(again.status, 1)
  assert.match(again.err, /^Nothing was written: skills\.ts, /)
  assert.equal(await readFile(join(folder, 'skills.ts'), 'utf8'), before)
  const wrong = await inHome('new', 'agent', 'x', '--name', 'Mine')
  assert.equal(wrong.status, 2)
  assert.match(wrong.err, /--name: expected chimera- and small letters.*came "Mine"/)

  await writeProject(folder, {})
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const [node, ...words] = String(scripts.test).split(' ')
  assert.equal(node, 'node')
  const testing = spawn(process.execPath, words, { cwd: folder, stdio: 'pipe' })
  const agent = startChimera(['agent', 'skills.ts'], { CHIMERA_HUB: hub.address }, folder)
  let told = ''
  for (const stream of [testing.stdout, testing.stderr]) {
    stream.on('data', (text) => {
      told += String(text)
    })
  }
  const [status] = await once(testing, 'close')
  assert.equal(status, 0, told)
  assert.match(told, /^# pass 2$/m)

  await agent.says(/chimera-starter is at work .*, for o'neill\./)
  const input = '{"text":"one two"}'
  const hired = await inHome(
    'hire',
    'word_count',
    '--input',
    input,
    '--budget',
    '1',
    '--owner',
    'a',
  )
  assert.deepEqual([hired.status, JSON.parse(hired.out)], [0, { words: 2 }], hired.err)
  await stopped(agent)
})

/** So many at a time: each is a process of its own. */
async function inTurns<Row, Made>(
  rows: readonly Row[],
  most: number,
  run: (row: Row) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = []
  const waiting = [...rows.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      made[next[0]] = await run(next[1])
  }
  await Promise.all(Array.from({ length: most }, work))
  return made
}
