/** Durable messages on their way, where the broker answers late, wrongly or never. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Failure, type FailureCode } from '../src/failure.ts'
import { createLanes } from '../src/lanes.ts'
import { BUS_LIMITS } from '../src/limits.ts'
import type { Link } from '../src/link.ts'
import { createBroker } from '../src/memory/broker.ts'
import type { DurableMessage, Stored } from '../src/port.ts'
import { createHandClock, durable, evenChance, failing, textOf } from './hands.ts'

const PLAN = { dedupeMs: 60_000 }
const limits = { ...BUS_LIMITS, storedWithinMs: 1_000, redialMs: 100 }

/** What becomes of each try: a failure, or it is kept. */
type Answer = (message: DurableMessage, tries: number) => FailureCode | 'kept'

async function lanesOver(answer: Answer) {
  const clock = createHandClock()
  const lanes = createLanes({ limits, clock, chance: evenChance })
  const real = await createBroker({ clock }).dial({
    plans: { streams: [], buckets: [] },
    messageBytes: 1_000,
    requests: 1,
    forbidden: () => {},
  })
  const tried: string[] = []
  const tries = new Map<string, number>()
  let places = 0
  const link: Link = {
    ...real,
    append: async (message): Promise<Stored> => {
      const text = textOf(message)
      tried.push(text)
      tries.set(text, (tries.get(text) ?? 0) + 1)
      await Promise.resolve()
      const code = answer(message, tries.get(text) ?? 0)
      if (code !== 'kept') throw new Failure(code, 'the test says so')
      places += 1
      return { stream: 's', seq: places, repeated: false }
    },
  }
  return { clock, lanes, link, tried }
}

const store = (lanes: ReturnType<typeof createLanes>, text: string, plan = PLAN) =>
  lanes.store(durable('s', text), plan)

describe('D2 an unanswered message', () => {
  test('is sent again under its id until it is answered', async () => {
    const { clock, lanes, link, tried } = await lanesOver((_, tries) =>
      tries < 4 ? 'request_timeout' : 'kept',
    )
    lanes.use(link)
    const stored = store(lanes, 'a')
    await clock.pass(1_000)
    assert.equal((await stored).seq, 1)
    assert.deepEqual(tried, ['a', 'a', 'a', 'a'])
    assert.equal(lanes.waiting(), 0)
  })

  test('is not sent again once the broker may have forgotten its id', async () => {
    const { clock, lanes, link, tried } = await lanesOver(() => 'answer_lost')
    lanes.use(link)
    const told = assert.rejects(store(lanes, 'a'), failing('outcome_unknown'))
    await clock.pass(0)
    lanes.use(undefined)
    await clock.pass(PLAN.dedupeMs)
    const before = tried.length
    lanes.use(link)
    await told
    assert.equal(tried.length, before)
  })

  test('that was only waiting is sent, however late', async () => {
    const { clock, lanes, link } = await lanesOver(() => 'kept')
    const stored = store(lanes, 'a')
    await clock.pass(PLAN.dedupeMs * 10)
    lanes.use(link)
    assert.equal((await stored).seq, 1)
  })

  test('that is refused in the end may have been kept before', async () => {
    const { clock, lanes, link } = await lanesOver((_, tries) =>
      tries === 1 ? 'answer_lost' : 'stream_refused',
    )
    lanes.use(link)
    const told = assert.rejects(store(lanes, 'a'), failing('outcome_unknown'))
    await clock.pass(1_000)
    await told
  })
})

describe('D1 a message never overtakes another', () => {
  test('what a later one has passed is not sent again', async () => {
    const { clock, lanes, link, tried } = await lanesOver((message) =>
      textOf(message) === 'b' ? 'broker_lacking' : 'kept',
    )
    const [a, b, c] = ['a', 'b', 'c'].map((text) => store(lanes, text))
    const told = assert.rejects(b ?? Promise.resolve(), failing('broker_lacking'))
    lanes.use(link)
    await clock.pass(1_000)
    await told
    assert.deepEqual([(await a)?.seq, (await c)?.seq], [1, 2])
    assert.deepEqual(tried, ['a', 'b', 'c'])
  })

  test('what nothing has passed is sent again, with all behind it', async () => {
    const { clock, lanes, link, tried } = await lanesOver((message, tries) =>
      textOf(message) === 'a' || tries > 1 ? 'kept' : 'answer_lost',
    )
    const stored = ['a', 'b', 'c'].map((text) => store(lanes, text))
    lanes.use(link)
    await clock.pass(1_000)
    assert.deepEqual(
      (await Promise.all(stored)).map(({ seq }) => seq),
      [1, 2, 3],
    )
    assert.deepEqual(tried, ['a', 'b', 'c', 'b', 'c'])
  })

  test('where copies are kept, one is under way at a time', async () => {
    const { clock, lanes, link, tried } = await lanesOver((message, tries) =>
      textOf(message) === 'a' && tries === 1 ? 'nobody_listens' : 'kept',
    )
    const plan = { ...PLAN, replicas: 3 }
    const stored = ['a', 'b'].map((text) => store(lanes, text, plan))
    lanes.use(link)
    await clock.pass(1_000)
    await Promise.all(stored)
    assert.deepEqual(tried, ['a', 'a', 'b'])
  })
})

test('what is refused is told, and does not hold up the rest', async () => {
  const { clock, lanes, link } = await lanesOver((message) =>
    textOf(message) === 'a' ? 'stream_refused' : 'kept',
  )
  const [a, b] = ['a', 'b'].map((text) => store(lanes, text))
  const told = assert.rejects(a ?? Promise.resolve(), failing('stream_refused'))
  lanes.use(link)
  await clock.pass(0)
  await told
  assert.equal((await b)?.seq, 1)
})

test('closing tells apart what was never sent and what nobody knows', async () => {
  const { clock, lanes, link } = await lanesOver(() => 'answer_lost')
  const sent = assert.rejects(store(lanes, 'a'), failing('outcome_unknown'))
  lanes.use(link)
  await clock.pass(0)
  lanes.use(undefined)
  const waiting = assert.rejects(store(lanes, 'b'), failing('bus_closed'))
  lanes.close()
  await Promise.all([sent, waiting])
  assert.equal(lanes.waiting(), 0)
})
