/** Batches: what gathers, what waits, what is put off, and who fails alone. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { createBatching, PUT_OFF } from './batching.ts'
import { Failure } from './failure.ts'

test('what arrives together runs together, in order, within the limit', async () => {
  const batches: number[][] = []
  const { add, idle } = createBatching<number, number>({
    most: 4,
    mostWaiting: 100,
    async run(items) {
      batches.push([...items])
      return items.map((item) => item * 2)
    },
  })
  const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => add(at)))
  assert.deepEqual(answers, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
  assert.deepEqual(batches, [
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9],
  ])
  await idle()
})

test('at the limit it is full, and no longer when some have gone', async () => {
  const { add, isFull } = createBatching<number, number>({
    most: 1,
    mostWaiting: 2,
    run: async (items) => items,
  })
  const first = add(1)
  assert.equal(isFull(), false)
  const second = add(2)
  assert.equal(isFull(), true)
  assert.deepEqual(await Promise.all([first, second]), [1, 2])
  assert.equal(isFull(), false)
})

test('what is put off comes before what came later', async () => {
  const order: string[] = []
  const seen = new Set<string>()
  const { add } = createBatching<string, string>({
    most: 3,
    mostWaiting: 100,
    run: async (items) =>
      items.map((item) => {
        if (item === 'b' && !seen.has(item)) {
          seen.add(item)
          return PUT_OFF
        }
        order.push(item)
        return item
      }),
  })
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(add))
  assert.deepEqual(order, ['a', 'c', 'b', 'd', 'e'])
})

test('a wrong item fails alone; with the database away, all do, at once', async () => {
  let runs = 0
  const away = new Failure('database_unreachable', 'gone')
  const { add } = createBatching<string, string>({
    most: 10,
    mostWaiting: 100,
    async run(items) {
      runs += 1
      if (items.includes('away')) throw away
      if (items.includes('wrong')) throw new Error('wrong')
      return items
    },
  })
  const first = await Promise.allSettled(['a', 'wrong', 'b'].map(add))
  assert.deepEqual(
    first.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  runs = 0
  const second = await Promise.allSettled(['a', 'away', 'b'].map(add))
  assert.ok(second.every((each) => each.status === 'rejected' && each.reason === away))
  assert.equal(runs, 1)
})
