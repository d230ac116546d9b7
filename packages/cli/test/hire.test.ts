/**
 * `chimera hire`, `reserve` and `work` as people run them, against a hub that asks for proof and an
 * agent that is started here: what they read, what programs get, and with which status it ends.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, type AgentOptions, createAgent, defineSkill, Type } from '@chimera/agent'
import { createClock } from '@chimera/host/clock'
import { createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { chimera, type Given, type Ran, startChimera } from './command.ts'

const PATIENCE = { timeout: 180_000 }
const TEXT = Type.Object({ text: Type.String() })

const count = defineSkill({
  name: 'word_count',
  version: '1.0',
  price: 0.05,
  input: TEXT,
  output: Type.Object({ words: Type.Integer() }),
  run: ({ text }, { progress }) => {
    progress(0.5, 'half of it')
    return { words: text.split(/\s+/).length }
  },
})
/** Runs until it is called off. */
const endless = defineSkill({
  name: 'endless',
  version: '1.0',
  price: 0.01,
  timeout: '1h',
  duration: '1ms',
  input: Type.Object({}),
  output: TEXT,
  run: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    }),
})
const broken = defineSkill({
  name: 'broken',
  version: '1.0',
  price: 0.01,
  input: Type.Object({}),
  output: TEXT,
  run: () => {
    throw new Error('an inside that nobody sees')
  },
})
const plan = defineSkill({
  name: 'plan',
  version: '1.0',
  input: Type.Object({}),
  output: Type.Object({}),
  run: () => ({}),
})
const careful = defineSkill({
  name: 'careful',
  version: '1.0',
  price: 1,
  approval: true,
  input: Type.Object({}),
  output: TEXT,
  run: () => ({ text: 'as you wish' }),
})

let home = ''
let hub: TestHub
let agent: Agent
let planner: Agent
let hirer = { owner: '', token: '' }
let stranger = { owner: '', token: '' }
const agents: Agent[] = []
const folder = (name: string) => join(home, '.chimera', name)

async function startAgent(name: string, skills: AgentOptions['skills']): Promise<Agent> {
  await mkdir(folder(name), { recursive: true, mode: 0o700 })
  const { owner, token } = await createAsker(hub, createClock()).newOwner()
  const started = createAgent({
    name,
    owner,
    token,
    hub: hub.address,
    skills,
    directory: folder(name),
    signals: false,
    log: 'silent',
  })
  await started.start()
  agents.push(started)
  return started
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-hire-'))
  hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'] })
  const asker = createAsker(hub, createClock())
  hirer = await asker.newOwner()
  stranger = await asker.newOwner()
  await writeFile(join(home, 'hirer.token'), hirer.token)
  agent = await startAgent('chimera-counter', [count, endless, broken, careful])
  planner = await startAgent('chimera-planner', [plan])
}, PATIENCE.timeout)

afterAll(async () => {
  for (const each of agents) await each.stop()
  await hub?.stop()
  await rm(home, { recursive: true, force: true })
}, PATIENCE.timeout)

const surroundings = () => ({ CHIMERA_HUB: hub.address })
const run = (words: readonly string[], given: Given = {}): Promise<Ran> =>
  chimera(words, surroundings(), { cwd: home, ...given })
const asHirer = () => ['--owner', hirer.owner, '--token-file', 'hirer.token']
const hire = (words: readonly string[], given: Given = {}) =>
  run(['hire', ...words, ...asHirer()], given)
const work = (...words: readonly string[]) => run(['work', ...words, ...asHirer()])

describe('chimera hire', PATIENCE, () => {
  test('shows how it goes, gives the output to a pipe, and says what it cost', async () => {
    const asked = ['word_count', '--input', '{"text":"one two three"}', '--budget', '0.10']
    const { status, out, err } = await hire(asked)
    assert.equal(status, 0, err)
    assert.deepEqual(JSON.parse(out), { words: 3 })
    assert.match(
      err,
      /^Looking for word_count …\n1 found …\nAsking chimera-counter, 0\.05 credits …\n/,
    )
    assert.match(
      err,
      /Done in [\d.]+ s by chimera-counter \(\S{36}\) for 0\.05 credits\.\nTask \S{36}\n$/,
    )
  })

  test('takes its input from a file and from standard input, and tells programs all', async () => {
    await writeFile(join(home, 'input.json'), '{"text":"from a file"}')
    const more = ['--budget', '1', '--json', '--quiet']
    const [file, piped] = await Promise.all([
      hire(['word_count', '--input', '@input.json', ...more]),
      hire(['word_count@v1', '--input', '-', ...more], { input: '{"text":"a b c d"}' }),
    ])
    const told = JSON.parse(file.out)
    assert.deepEqual([told.output, told.cost, told.agent_id], [{ words: 3 }, 0.05, agent.id()])
    assert.deepEqual([file.err, piped.err], ['', ''])
    assert.deepEqual(JSON.parse(piped.out).output, { words: 4 })
  })

  test('the same --key finds the same work, and pays once', async () => {
    const asked = ['word_count', '--input', '{"text":"x"}', '--budget', '1', '--key', 'monday']
    const [one, again] = [await hire([...asked, '--json']), await hire([...asked, '--json'])]
    assert.equal(again.status, 0, again.err)
    assert.equal(JSON.parse(one.out).task_id, JSON.parse(again.out).task_id)
    assert.equal(JSON.parse(one.out).hold_id, JSON.parse(again.out).hold_id)
  })

  test('ends with a status that a script can use', async () => {
    // Its deadline passes while the others are looked at.
    const late = hire(['endless', '--budget', '1', '--deadline', '10s'])
    // biome-ignore format: a table is read by its columns
    const rows: [why: string, ran: () => Promise<Ran>, status: number, says: RegExp][] = [
      ['nobody for so little', () => hire(['word_count']),                                    3, /One offers it for 0\.05: --budget 0\.05/],
      ['an input that is none', () => hire(['word_count', '--budget', '1']),                  3, /refused: The input does not match.*\n.*\n.*agents show \S{36} --json/],
      ['it fails',             () => hire(['broken', '--budget', '1', '--json']),             4, /INTERNAL_ERROR: (?!.*an inside)/],
      ['nobody pays',          () => run(['hire', 'word_count', '--budget', '1']),            1, /--token-file or CHIMERA_TOKEN/],
      ['no hub',               () => run(['hire', 'x', '--hub', 'http://127.0.0.1:9']),       1, /^Looking.*\nNo hub answers on http:\/\/127\.0\.0\.1:9\.\nStart one/],
    ]
    for (const [why, ran, status, says] of rows) {
      const { status: got, err, out } = await ran()
      assert.equal(got, status, `${why}: ${err}`)
      assert.match(err, says, why)
      if (why === 'it fails') assert.equal(JSON.parse(out).code, 'work_failed')
    }
    const { status, err } = await late
    assert.equal(status, 5, err)
    assert.match(err, /not done by its deadline/)
  })

  test('OC-18 Ctrl-C calls it off', async () => {
    const words = ['hire', 'endless', '--budget', '1', '--deadline', '10m', ...asHirer()]
    const going = startChimera(words, surroundings(), home)
    await going.says(/is at work/)
    going.signal('SIGINT')
    const { status, err } = await going.ended
    assert.equal(status, 130, err)
    assert.match(err, /Calling it off.*\n.*Nothing was paid\./s)
    const listed = JSON.parse((await work('list', '--json')).out)
    assert.equal(listed.holds[0].state, 'released')
  })

  test('words that make no sense are all named at once, and nothing is tried', async () => {
    // biome-ignore format: a table is read by its columns
    const wrong = [
      '--budget', '1.234', '--deadline', '5', '--key', '', '--min-reputation', '101',
      '--priority', '11', '--hub', 'hub', '--owner', '', '--token-file', 'nowhere', '--as', '',
    ]
    const { status, err } = await run(['hire', 'word_count', ...wrong])
    assert.equal(status, 2)
    for (const [at, flag] of wrong.entries()) {
      if (at % 2 === 0) assert.match(err, new RegExp(`from the flag ${flag}: expected .*; came `))
    }
    const nobody = await run(['hire', 'word_count', '--as', 'nowhere'])
    assert.equal(nobody.status, 2)
    const expected = '--as: expected the directory where an agent keeps'
    assert.ok(nobody.err.startsWith(expected), nobody.err)
    assert.match(nobody.err, /came "nowhere"\./)
  })
})

describe('chimera work', PATIENCE, () => {
  test('a hirer sees its own, each by its task, and calls off what runs', async () => {
    const nothing = await run(['work', 'list'], {})
    assert.equal(nothing.status, 1)
    assert.match(nothing.err, /--token-file or CHIMERA_TOKEN/)
    await writeFile(join(home, 'stranger.token'), stranger.token)
    const empty = await run(['work', 'list', '--token-file', 'stranger.token'])
    assert.deepEqual([empty.status, empty.out], [0, ''])
    assert.match(empty.err, /No credits are put aside for work\.\n`chimera hire <skill>`/)

    const words = ['hire', 'endless', '--budget', '1', '--deadline', '10m', ...asHirer()]
    const going = startChimera(words, surroundings(), home)
    await going.says(/is at work/)
    const listed = await work('list', '--limit', '1')
    const task = /^(\S{36}) {2}accepted {2}(\S+) +(\S{36}) +0\.01 {2}in [789]m.*$/m.exec(listed.out)
    assert.deepEqual(task?.slice(2), [hirer.owner, agent.id()], listed.out)
    const id = task?.[1] ?? ''
    const shown = await work('show', id)
    assert.match(shown.out, /^state +accepted\n/m)
    const foreign = await run(['work', 'show', id, '--token-file', 'stranger.token'])
    assert.deepEqual([foreign.status, foreign.out], [1, ''])

    const cancelled = await work('cancel', id)
    assert.equal(cancelled.status, 0, cancelled.err)
    assert.match(cancelled.err, /^Called off\. Nothing is owed/)
    assert.equal((await going.ended).status, 4)
    assert.match((await work('show', id)).out, /^state +cancelled, nothing paid\n/m)

    const done = JSON.parse(
      (await hire(['word_count', '--input', '{"text":"a"}', '--budget', '1', '--json'])).out,
    )
    const paid = await work('show', done.task_id)
    assert.match(
      paid.out,
      /^state +done, settled\n.*^paid +0\.05, .*\n\n\{\n {2}"words": 1\n\}\n$/ms,
    )
    const late = await work('cancel', done.task_id)
    assert.match(late.err, /done already/)

    const [unknown, noTask] = [await work('cancel', randomUUID()), await work('cancel', 'x')]
    assert.deepEqual([unknown.status, noTask.status], [1, 2])
    assert.match(unknown.err, /knows no work of yours/)
    assert.match(noTask.err, /<task>: expected a task id, a uuid; came "x"\./)
  })

  test('OC-19 whoever has the key of the agent sees what waits, and agrees to it', async () => {
    const at = ['--agent', '.chimera/chimera-counter']
    const idle = await run(['work', 'list', ...at])
    assert.deepEqual([idle.status, idle.out], [0, ''], idle.err)
    assert.match(idle.err, /^Nothing is under way there/)

    const hiring = hire(['careful', '--budget', '1', '--deadline', '5m', '--json'])
    let row: RegExpExecArray | null = null
    for (let listed = idle; row === null; listed = await run(['work', 'list', ...at])) {
      row =
        /^(\S{36}) {2}awaiting +[\dms ]+ {2}(\S+) {2}careful +1\.00 {2}in \dm.* {2}waits on you$/m.exec(
          listed.out,
        )
    }
    const [, task = '', requester] = row
    assert.equal(requester, hirer.owner)

    const [forged, which, nobody] = await Promise.all([
      run([
        'work',
        'approve',
        task,
        '--agent',
        '.chimera/chimera-planner',
        '--at',
        agent.address(),
      ]),
      run(['work', 'approve', task]),
      run(['work', 'approve', randomUUID(), ...at]),
    ])
    assert.deepEqual([forged.status, which.status, nobody.status], [1, 2, 1])
    assert.match(forged.err, /That is another agent than the key is of/)
    assert.match(which.err, /Which agent\? Say one of --agent \.chimera\/chimera-counter, /)
    assert.match(nobody.err, /No work is known/)

    const approved = await run(['work', 'approve', task.slice(0, 8), ...at])
    assert.equal(approved.status, 0, approved.err)
    assert.match(approved.err, new RegExp(`^Approved: careful for ${hirer.owner}, task ${task}`))
    const hired = JSON.parse((await hiring).out)
    assert.deepEqual([hired.task_id, hired.output], [task, { text: 'as you wish' }])
    const shown = await run(['work', 'show', task, ...at])
    assert.match(shown.out, /^TASK +\S{36}\nstate +done\n/)
    const gone = await run(['work', 'approve', task, ...at])
    assert.equal(gone.status, 1)
    const away = await run(['work', 'list', ...at, '--at', 'http://127.0.0.1:9'])
    assert.match(away.err, /^No agent answers on http:\/\/127\.0\.0\.1:9\.\nIs it running\?/)
  })
})

describe('chimera reserve', PATIENCE, () => {
  const as = ['--as', '.chimera/chimera-planner']

  test('AV-8 takes a slot and the credits, which are given back or used', async () => {
    const [reserved, atAgent] = [
      await run(['reserve', 'word_count', ...as, '--budget', '0.10', '--deadline', '5m']),
      await run(['reserve', agent.id(), ...as, '--json']),
    ]
    assert.equal(reserved.status, 0, reserved.err)
    const [, task = ''] = /^TASK +(\S{36})\nagent +/.exec(reserved.out) ?? []
    assert.match(reserved.out, /^held +0\.10\nlapses +\S+ \(in \d+s\)$/m)
    assert.equal(atAgent.status, 0, atAgent.err)
    assert.equal(JSON.parse(atAgent.out).agent_id, agent.id())
    const back = await run(['work', 'cancel', task, ...as])
    assert.equal(back.status, 0, back.err)
    const { holds } = JSON.parse((await run(['work', 'list', ...as, '--json'])).out)
    assert.deepEqual(
      holds
        .filter((each: { task_id: string }) => each.task_id === task)
        .map((each: { state: string }) => each.state),
      ['released'],
    )

    const used = await run([
      'reserve',
      'word_count',
      ...as,
      '--budget',
      '1',
      '--input',
      '{"text":"a b"}',
    ])
    assert.deepEqual([used.status, JSON.parse(used.out)], [0, { words: 2 }], used.err)
    assert.match(used.err, /^Done by \S{36} for 0\.05 credits\./)
  })

  test('says what is wrong', async () => {
    // biome-ignore format: a table is read by its columns
    const rows: [words: string[], status: number, says: RegExp][] = [
      [['word_count'],                                                2, /--as: expected the directory of the agent that reserves; came nothing/],
      [['word_count', ...as, '--slots', '0', '--budget', '-1', '--deadline', '1'], 2, /--budget: expected.*--deadline: expected.*--slots: expected a whole number/s],
      [[agent?.id() ?? randomUUID(), ...as, '--input', '{}'],         2, /--input: expected a skill to ask for; came the id of an agent/],
      [['fly', ...as],                                                3, /Nobody who has a slot free offers that/],
    ]
    for (const [words, status, says] of rows) {
      const ran = await run(['reserve', ...words])
      assert.equal(ran.status, status, ran.err)
      assert.match(ran.err, says)
    }
    assert.notEqual(planner.id(), agent.id())
  })
})
