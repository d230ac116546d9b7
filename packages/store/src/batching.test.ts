/** Batches: what gathers, what waits, what is put off, and who fails alone. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
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

type Job = { readonly id: number; readonly names: readonly string[] }

/** Runs jobs in three lanes, and notes what was under way at the same time, and in which order. */
async function inLanes(jobs: readonly Job[], putOff: ReadonlySet<number> = new Set()) {
  const underWay = new Set<Job>()
  const batches: number[][] = []
  const order: Job[] = []
  const once = new Set<number>()
  let most = 0
  const { add, idle } = createBatching<Job, number>({
    most: 4,
    mostWaiting: 1_000,
    lanes: { count: 3, namesOf: ({ names }) => names },
    async run(items) {
      const beside = [...underWay]
      for (const item of items) {
        const shared = beside.find(({ names }) => names.some((name) => item.names.includes(name)))
        assert.equal(shared, undefined, `${item.id} shares a name with what is under way`)
        underWay.add(item)
      }
      batches.push(items.map(({ id }) => id))
      most = Math.max(most, underWay.size)
      // Batches end in another order than they began in.
      for (let turns = 1 + ((items[0]?.id ?? 0) % 5); turns > 0; turns -= 1) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      for (const item of items) underWay.delete(item)
      return items.map((item) => {
        if (putOff.has(item.id) && !once.has(item.id)) {
          once.add(item.id)
          return PUT_OFF
        }
        order.push(item)
        return item.id
      })
    },
  })
  const answers = await Promise.all(jobs.map(add))
  await idle()
  assert.equal(underWay.size, 0)
  return { answers, batches, order, most }
}

const jobsOf = (...names: readonly (readonly string[])[]): readonly Job[] =>
  names.map((each, id) => ({ id, names: each }))

test('batches go side by side if they have no name in common', async () => {
  const names = Array.from({ length: 12 }, (_, at) => [`n${at}`])
  const { most, batches } = await inLanes(jobsOf(...names))
  assert.equal(most, 12)
  assert.deepEqual(batches, [
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9, 10, 11],
  ])
})

test('what shares a name goes into one batch, or waits for its turn', async () => {
  const { most, batches } = await inLanes(jobsOf(...Array.from({ length: 9 }, () => ['one'])))
  assert.equal(most, 4)
  assert.deepEqual(batches, [[0, 1, 2, 3], [4, 5, 6, 7], [8]])
})

test('fewer than are worth a batch do not go beside another', async () => {
  const { batches } = await inLanes(jobsOf(['a'], ['b'], ['c'], ['d'], ['e'], ['f']))
  assert.deepEqual(batches, [
    [0, 1, 2, 3],
    [4, 5],
  ])
})

test('whatever is put off or has to wait, what shares a name keeps its order', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g')
  const some = fc.array(fc.uniqueArray(name, { maxLength: 3 }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(some, fc.uniqueArray(fc.nat(59)), async (names, putOff) => {
      const jobs = jobsOf(...names)
      const { answers, order } = await inLanes(jobs, new Set(putOff.filter((id) => id % 4 === 0)))
      assert.deepEqual(
        answers,
        jobs.map(({ id }) => id),
      )
      for (const each of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
        const ids = order.filter((job) => job.names.includes(each)).map(({ id }) => id)
        const kept = ids.filter((id) => !putOff.includes(id))
        assert.deepEqual(
          kept,
          kept.toSorted((one, other) => one - other),
        )
      }
    }),
    { numRuns: 60 },
  )
})
