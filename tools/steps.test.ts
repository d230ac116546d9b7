/** How the steps of a check are run: all of them, a few at a time, reported in their order. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { runSteps } from './steps.mjs'

/** Steps that end when the test says so. */
function bench() {
  const begun: string[] = []
  const ends = new Map<string, (ok: boolean) => void>()
  const printed: string[] = []
  const hands = { atOnce: 2, now: () => 0, print: (text: string) => printed.push(text) }
  const step = (name: string) => ({
    name,
    run: () => {
      begun.push(name)
      return new Promise<{ ok: boolean; output: string }>((resolve) => {
        ends.set(name, (ok) => resolve({ ok, output: `${name} says\nso\n` }))
      })
    },
  })
  const end = async (name: string, ok = true) => {
    ends.get(name)?.(ok)
    // Everything that follows from it is a chain of promises; one turn of the loop lets it run.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { begun, printed, hands, step, end }
}

test('two at a time, started and printed in order', async () => {
  const { begun, printed, hands, step, end } = bench()
  const done = runSteps([step('a'), step('b'), step('c')], hands)
  assert.deepEqual(begun, ['a', 'b'])
  await end('b')
  assert.deepEqual(begun, ['a', 'b', 'c'])
  assert.deepEqual(printed, [])
  await end('a')
  assert.deepEqual(printed, ['✓ a (0.0 s)', '✓ b (0.0 s)'])
  await end('c')
  assert.deepEqual(await done, [])
})

test('goes on after a failure, and names all that failed', async () => {
  const { begun, printed, hands, step, end } = bench()
  const done = runSteps([step('a'), step('b'), step('c')], hands)
  await end('a', false)
  await end('b')
  await end('c', false)
  assert.deepEqual(begun, ['a', 'b', 'c'])
  assert.deepEqual(await done, ['a', 'c'])
  assert.equal(printed[0], '✗ a (0.0 s)\n    a says\n    so')
  assert.equal(printed[1], '✓ b (0.0 s)')
})

test('a step that cannot be started has failed', async () => {
  const { printed, hands } = bench()
  const run = () => Promise.reject(new Error('not installed'))
  assert.deepEqual(await runSteps([{ name: 'a', run }], hands), ['a'])
  assert.match(printed.join(), /not installed/)
})

test('a skipped step says why, and is not run', async () => {
  const { begun, printed, hands, step } = bench()
  const failed = await runSteps([{ ...step('a'), skip: 'nothing to check yet' }], hands)
  assert.deepEqual([failed, begun], [[], []])
  assert.deepEqual(printed, ['– a: skipped, nothing to check yet'])
})

test('the time is the time of the step', async () => {
  const { printed, hands } = bench()
  let now = 0
  const run = async () => {
    now += 2_345
    return { ok: true, output: '' }
  }
  await runSteps([{ name: 'a', run }], { ...hands, now: () => now })
  assert.deepEqual(printed, ['✓ a (2.3 s)'])
})
