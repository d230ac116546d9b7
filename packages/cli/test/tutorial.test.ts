/**
 * docs/tutorial.md as a newcomer follows it, step by step and word by word: what the page says to
 * type is typed, and what it says will be seen must be seen.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fillMigrated } from '@chimera/store/testing/embedded'
import { afterAll, beforeAll, test } from 'vitest'
import { chimera, type Going, type Ran, startChimera, writeProject } from './command.ts'
import { createMeanings, readSteps, type Step, wordsOf } from './page.ts'

const PAGE = fileURLToPath(new URL('../../../docs/tutorial.md', import.meta.url))
// So that it speaks of `npm start`, as to whoever typed that.
const BY_NPM = { npm_lifecycle_event: 'start' }
/** Whoever only looks may look again: the page says that it takes a moment. */
const LOOKS = /^npm start -- (review list|campaign|ledger|discover)/

let home: string
const going = new Map<string, Going>()
const meanings = createMeanings()

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-tutorial-'))
  await writeProject(home, {})
  await fillMigrated(join(home, '.chimera/up/hub'))
})
afterAll(async () => {
  for (const each of [...going.values()].toReversed()) await ended(each)
  await rm(home, { recursive: true, force: true })
})

function ended(each: Going): Promise<Ran> {
  each.signal('SIGINT')
  return each.ended
}

/** What goes on until Ctrl-C is all that is typed into the first and the third terminal. */
const goesOn = (terminal: string): boolean => terminal !== 'second'

async function hear(terminal: string, expected: readonly string[]): Promise<void> {
  const talking = going.get(terminal)
  assert.ok(talking, `something runs in the ${terminal} terminal`)
  for (const line of expected) {
    meanings.learn(line, await talking.says(meanings.pattern(line)))
  }
}

/** Each stream in its order; the two of them come as they come. */
function firstMissing(streams: readonly string[], expected: readonly string[]): string | undefined {
  const rests = [...streams]
  for (const line of expected) {
    const pattern = meanings.pattern(line)
    const at = rests.findIndex((rest) => pattern.test(rest))
    const found = pattern.exec(rests[at] ?? '')
    if (found === null) return line
    meanings.learn(line, found)
    rests[at] = rests[at]?.slice(found.index + found[0].length) ?? ''
  }
  return undefined
}

async function type({ command, expected }: Step & { step: 'type' }): Promise<void> {
  const words = wordsOf(meanings.said(command))
  for (;;) {
    const { status, out, err } = await chimera(words, BY_NPM, { cwd: home })
    assert.equal(status, 0, `${command}\n${out}${err}`)
    const missing = firstMissing([out, err], expected)
    if (missing === undefined) return
    assert.match(command, LOOKS, `after ${command}\nexpected ${missing}\ncame\n${out}${err}`)
  }
}

async function follow(step: Step): Promise<void> {
  if (step.step === 'write') return writeFile(join(home, step.file), step.text)
  if (step.step === 'hear') return hear(step.terminal, step.expected)
  if (step.step === 'interrupt') {
    const running = going.get(step.terminal)
    assert.ok(running)
    const { status, out, err } = await ended(running)
    assert.equal(status, 0, `Ctrl-C in the ${step.terminal} terminal:\n${out}${err}`)
    going.delete(step.terminal)
    return
  }
  if (!goesOn(step.terminal)) return type(step)
  assert.ok(!going.has(step.terminal), `the ${step.terminal} terminal is free: ${step.command}`)
  const said = wordsOf(step.command)
  const words = said.length === 0 ? ['up', '--listen', '127.0.0.1:0'] : said
  going.set(step.terminal, startChimera(words, BY_NPM, home))
  return hear(step.terminal, step.expected)
}

test('every step of the tutorial does what the page says', { timeout: 300_000 }, async () => {
  const steps = readSteps(await readFile(PAGE, 'utf8'))
  const verbs = steps.flatMap((each) => (each.step === 'type' ? [each.command.split(' ')[3]] : []))
  // A page of which half is no longer read proves half.
  for (const verb of [undefined, 'review', 'new', 'agent', 'owner', 'hire', 'ledger', 'audit']) {
    assert.ok(verbs.includes(verb), `it has a step with ${verb ?? 'npm start'}`)
  }
  assert.ok(steps.some(({ step }) => step === 'write'))
  for (const step of steps) await follow(step)
  assert.equal(going.size, 0, 'it ends what it began')
})
