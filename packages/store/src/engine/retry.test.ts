/** Trying again: what is worth it, how often, and how long it waits. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { Failure } from '../failure.ts'
import { retrying } from './retry.ts'

function run(failures: readonly Error[]) {
  const waits: number[] = []
  let tries = 0
  const hands = {
    fraction: () => 0,
    sleep: async (ms: number) => void waits.push(ms),
  }
  const attempt = async () => {
    const failure = failures[tries]
    tries += 1
    if (failure !== undefined) throw failure
    return 'done'
  }
  return { hands, attempt, waits, count: () => tries }
}
const conflict = (sqlState: string) => new Failure('statement_failed', '', { sqlState })

test('serialization failures and deadlocks are tried again, with growing waits', async () => {
  const { attempt, hands, waits } = run([conflict('40001'), conflict('40P01'), conflict('40001')])
  assert.equal(await retrying(attempt, hands), 'done')
  assert.deepEqual(waits, [4, 8, 16])
})

test('not for ever', async () => {
  const { attempt, hands, count } = run(Array.from({ length: 99 }, () => conflict('40001')))
  await assert.rejects(retrying(attempt, hands, { most: 5 }), Failure)
  assert.equal(count(), 5)
})

test('anything else is not, unless the caller says so', async () => {
  const away = new Failure('database_unreachable', '')
  for (const error of [conflict('23505'), away, new Error('bug')]) {
    const { attempt, hands, count } = run([error])
    await assert.rejects(retrying(attempt, hands), error)
    assert.equal(count(), 1)
  }
  const { attempt, hands } = run([away])
  const also = ({ code }: Failure) => code === 'database_unreachable'
  assert.equal(await retrying(attempt, hands, { also }), 'done')
})

test('chance only shortens a wait', async () => {
  const { attempt, hands, waits } = run([conflict('40001'), conflict('40001')])
  await retrying(attempt, { ...hands, fraction: () => 0.999 })
  assert.deepEqual(waits, [1, 2])
})
