/** The harness as an author uses it: a network in a test, with time in hand. */
import assert from 'node:assert/strict'
import { defineSkill, HireFailure, Type } from '@chimera/agent'
import { createDirectories } from '@chimera/store/testing/embedded'
import { afterAll, beforeAll, test } from 'vitest'
import { createHarness, type Harness, type Hirer, type Member } from '../src/index.ts'

let net: Harness
let acme: Hirer
let counter: Member
let runs = 0

const wordCount = defineSkill({
  name: 'word_count',
  version: '1.0',
  price: 0.05,
  input: Type.Object({ text: Type.String() }),
  output: Type.Object({ words: Type.Integer() }),
  timeout: '5s',
  run: async ({ text }) => {
    runs += 1
    return { words: text.split(/\s+/).length }
  },
})
/** Takes ten seconds of the network's time, and says so. */
const slowly = defineSkill({
  name: 'slowly',
  version: '1.0',
  price: 1,
  input: Type.Object({}),
  output: Type.Object({ ok: Type.Boolean() }),
  timeout: '1m',
  run: async (_, { signal, progress }) => {
    progress(0.5, 'half of it')
    await net.clock.sleep(10_000, signal)
    return { ok: true }
  },
})
const TERMS = { budget: 0.1, deadline: '30s' } as const
const directories = createDirectories()

beforeAll(async () => {
  // A copy starts sooner than a database in memory; an author leaves `data` away.
  const data = await directories.newMigrated()
  net = await createHarness({ skills: [wordCount, slowly], data, bus: true })
  const [first] = net.agents
  assert.ok(first)
  counter = first
  acme = await net.hirer('acme', { credits: 10 })
})
afterAll(async () => {
  await net?.close()
  await directories.removeAll()
})

test('a hire takes no time by itself, and the books say what it cost', async () => {
  const began = net.clock.now()
  const { output, cost } = await acme.hire('word_count', { text: 'one two' }, TERMS)
  assert.deepEqual([output, cost, runs], [{ words: 2 }, 0.05, 1])
  assert.ok(net.clock.now() - began < 1_000)
  const { balances, held, minted, scores } = await net.books()
  assert.deepEqual([balances, held, minted], [{ acme: 9.95, agents: 0.05 }, 0, 10])
  assert.deepEqual(scores, { 'chimera-agent-1': 51 })
  assert.equal(await acme.balance(), 9.95)
})

test('what takes its time lets as much of it pass', async () => {
  const began = net.clock.now()
  const { output } = await acme.hire('slowly', {}, { budget: 1, deadline: '1m' })
  assert.deepEqual(output, { ok: true })
  const tookMs = net.clock.now() - began
  assert.ok(tookMs >= 10_000 && tookMs < 25_000, `${tookMs} ms`)
})

test('AV-6 who is cut off is offline after three posts are missed, and back later', async () => {
  const found = async () => (await acme.discover('word_count')).length
  assert.equal(await found(), 1)
  counter.cutOff()
  await net.pass('20s')
  assert.equal(await found(), 1)
  await net.pass('15s')
  assert.equal(await found(), 0)
  await assert.rejects(acme.hire('word_count', { text: 'one' }, TERMS), { code: 'nobody_found' })
  counter.reconnect()
  await net.pass('90s')
  assert.equal(await found(), 1)
})

test('P-3 an answer that is lost costs nothing twice: the same key finds the work', async () => {
  const before = runs
  counter.hears(['lose_answer'])
  const terms = { ...TERMS, key: 'lost once' }
  const { output, cost } = await acme.hire('word_count', { text: 'one two three' }, terms)
  const again = await acme.hire('word_count', { text: 'one two three' }, terms)
  assert.deepEqual([output, again.output, cost], [{ words: 3 }, { words: 3 }, 0.05])
  assert.equal(runs, before + 1)
  assert.equal((await net.books()).held, 0)
})

test('P-3 killed in the middle of work and started again: nothing is paid twice', async () => {
  const before = await net.books()
  const hiring = acme.network.hire('slowly', {}, { budget: 1, deadline: '5m', key: 'killed' })
  const ended = hiring.then(
    () => 'done',
    (error: unknown) => (error instanceof HireFailure ? error.code : 'something else'),
  )
  await net.pass('5s')
  assert.equal((await net.books()).held, 1)
  counter.crash()
  assert.throws(() => counter.agent(), { code: 'not_running' })
  await net.pass('1m')
  await counter.restart()
  const how = await net.until(ended)
  const { balances, held } = await net.books()
  const paid = how === 'done' ? 1 : 0
  assert.ok(['done', 'work_failed'].includes(how), how)
  assert.equal(held, 0)
  assert.equal(Math.round(((before.balances.acme ?? 0) - (balances.acme ?? 0)) * 100), paid * 100)
})

test('P-3 messages lost, late and doubled by a seed, and a crash: done and paid once', async () => {
  const before = { runs, books: await net.books() }
  const mix = (seed: string) => ({
    seed,
    shares: [
      [0.15, 'lose_answer'],
      [0.15, 'double'],
      [0.15, { late: '2s' }],
      [0.05, 'cut'],
    ] as const,
  })
  const trouble = (): void => {
    counter.hears(mix('hears'))
    counter.says(mix('says'))
  }
  trouble()
  acme.says(mix('asks'))
  const hire = (each: number) =>
    acme
      .hire('word_count', { text: `${each}` }, { budget: 0.05, deadline: '2m', key: `no ${each}` })
      .then(
        ({ cost }) => `done for ${cost}`,
        (error: unknown) => (error instanceof HireFailure ? error.code : String(error)),
      )
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8]
  for (const each of numbers) {
    await hire(each)
    if (each !== 4) continue
    counter.crash()
    await counter.restart()
    trouble()
  }
  counter.reconnect()
  acme.says('pass')
  // Under its key, whatever was begun is found again, and what never was is done now.
  for (const each of numbers) assert.equal(await hire(each), 'done for 0.05')
  assert.equal(runs - before.runs, numbers.length, 'none ran twice')
  const { balances, held } = await net.books()
  const spent = (before.books.balances.acme ?? 0) - (balances.acme ?? 0)
  assert.equal(held, 0)
  assert.equal(Math.round(spent * 100), numbers.length * 5)
})

test('mistakes are told in a sentence', async () => {
  await assert.rejects(net.pass('soon' as '1s'), { code: 'options_invalid' })
  await assert.rejects(net.until(new Promise(() => undefined), '10s'), { code: 'too_long' })
  await assert.rejects(acme.hire('nothing_like_it', {}, TERMS), { code: 'nobody_found' })
})
