/** What a plan makes of the requests that come. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { type Asked, type Plan, readPlan } from './plan.ts'

type What = 'usual' | 'cut' | 503
const asked = (path: string): Asked => ({ method: 'GET', path, headers: {}, body: '' })
const run = (plan: Plan<What>, times: number): readonly What[] => {
  const planned = readPlan<What>(plan, 'usual')
  return Array.from({ length: times }, (_, at) => planned(asked(`/${at}`)))
}

test('one thing for all, a script to its end, or as a function says', () => {
  assert.deepEqual(run('cut', 3), ['cut', 'cut', 'cut'])
  assert.deepEqual(run([503, 'cut'], 4), [503, 'cut', 'usual', 'usual'])
  const second = ({ path }: Asked) => (path === '/1' ? 503 : undefined)
  assert.deepEqual(run(second, 3), ['usual', 503, 'usual'])
})

test('a script is used up once, however often the same list is given', () => {
  const script = [503, 503] as const
  assert.deepEqual(run(script, 3), [503, 503, 'usual'])
  assert.deepEqual(run(script, 3), [503, 503, 'usual'])
})

test('shares are about what they say, and a seed gives the same each time', () => {
  const plan = { shares: [[0.25, 'cut'] as const, [0.25, 503] as const], seed: 3 }
  const drawn = run(plan, 2_000)
  for (const what of ['cut', 503] as const) {
    const share = drawn.filter((each) => each === what).length / drawn.length
    assert.ok(Math.abs(share - 0.25) < 0.04, `${what}: ${share}`)
  }
  assert.deepEqual(run(plan, 2_000), drawn)
  assert.notDeepEqual(run({ ...plan, seed: 4 }, 2_000), drawn)
})

test('shares that cannot be are refused', () => {
  assert.throws(
    () =>
      run(
        {
          shares: [
            [0.9, 'cut'],
            [0.2, 503],
          ],
        },
        1,
      ),
    /at most 1/,
  )
  assert.throws(() => run({ shares: [[-0.1, 'cut']] }, 1), /0 or more/)
})
