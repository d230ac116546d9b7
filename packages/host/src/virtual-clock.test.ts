/** what waits is tested by moving a clock. Here the clock itself, against a simple model. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createVirtualClock } from './virtual-clock.ts'

describe('X-8 timers under a virtual clock', () => {
  test('V1 run by time, then in the order in which they were set', async () => {
    const clock = createVirtualClock({ startAt: 0 })
    const ran: string[] = []
    for (const [name, ms] of Object.entries({ late: 20, first: 10, second: 10, now: 0 })) {
      clock.after(ms, () => ran.push(name))
    }
    assert.deepEqual(clock.pending(), [0, 10, 10, 20])
    await clock.advanceBy(15)
    assert.deepEqual(ran, ['now', 'first', 'second'])
    assert.deepEqual(clock.pending(), [20])
  })

  test('V2 see their own time, and the mover sees the end', async () => {
    const clock = createVirtualClock({ startAt: 1_000 })
    const seen: number[] = []
    for (const ms of [30, 10, 20]) clock.after(ms, () => seen.push(clock.now()))
    await clock.advanceTo(1_500)
    assert.deepEqual(seen, [1_010, 1_020, 1_030])
    assert.equal(clock.now(), 1_500)
  })

  test('V3 that are set by timers, after awaits too, take their place', async () => {
    const clock = createVirtualClock({ startAt: 0 })
    const seen: string[] = []
    const work = async (name: string, everyMs: number): Promise<void> => {
      for (let round = 1; round <= 3; round += 1) {
        await clock.sleep(everyMs)
        await Promise.resolve().then(() => Promise.resolve())
        seen.push(`${name}@${clock.now()}`)
      }
    }
    const all = Promise.all([work('a', 10), work('b', 15)])
    await clock.advanceBy(100)
    await all
    assert.deepEqual(seen, ['a@10', 'b@15', 'a@20', 'b@30', 'a@30', 'b@45'])
  })

  test('what was started before the move is settled before the first timer', async () => {
    const clock = createVirtualClock({ startAt: 0 })
    let woke = -1
    const work = async (): Promise<void> => {
      await Promise.resolve()
      await clock.sleep(5)
      woke = clock.now()
    }
    void work()
    await clock.advanceBy(5)
    assert.equal(woke, 5)
  })

  test('can be cancelled, also by each other at the same instant', async () => {
    const clock = createVirtualClock()
    const ran: string[] = []
    clock.after(10, () => {
      ran.push('first')
      second.cancel()
    })
    const second = clock.after(10, () => ran.push('second'))
    const third = clock.after(10, () => ran.push('third'))
    await clock.advanceBy(10)
    third.cancel()
    assert.deepEqual(ran, ['first', 'third'])
  })

  test('an aborted sleep leaves nothing pending', async () => {
    const clock = createVirtualClock()
    const stop = new AbortController()
    const slept = clock.sleep(10, stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(slept, { message: 'enough' })
    assert.deepEqual(clock.pending(), [])
  })

  test('V3 a settle of one’s own is awaited between timers', async () => {
    const order: string[] = []
    const clock = createVirtualClock({
      settle: async () => {
        order.push('settled')
      },
    })
    clock.after(1, () => order.push('one'))
    clock.after(2, () => order.push('two'))
    await clock.advanceBy(2)
    assert.deepEqual(order, ['settled', 'one', 'settled', 'two', 'settled'])
  })
})

describe('mistakes are told', () => {
  test('moving back', async () => {
    await assert.rejects(createVirtualClock().advanceBy(-1), RangeError)
    await assert.rejects(createVirtualClock().advanceTo(Number.NaN), RangeError)
  })

  test('moving twice at once', async () => {
    const clock = createVirtualClock()
    const first = clock.advanceBy(1)
    await assert.rejects(clock.advanceBy(1), /already being moved/)
    await first
  })

  test('a timer that throws ends the move, and the clock can be moved again', async () => {
    const clock = createVirtualClock({ startAt: 0 })
    clock.after(1, () => {
      throw new Error('broken')
    })
    await assert.rejects(clock.advanceBy(5), { message: 'broken' })
    await clock.advanceTo(5)
    assert.equal(clock.now(), 5)
  })

  test('timers that hold time still', async () => {
    const clock = createVirtualClock({ settle: async () => {} })
    const again = (): void => {
      clock.after(0, again)
    }
    again()
    await assert.rejects(clock.advanceBy(1), /same instant/)
  })
})

test('X-8 V4 any timers, cancelled or not, run as a sorted list would say', async () => {
  const timer = fc.record({ ms: fc.integer({ min: 0, max: 50 }), cancelled: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(timer), fc.array(fc.nat(20)), async (timers, steps) => {
      const clock = createVirtualClock({ startAt: 0, settle: async () => {} })
      const ran: number[] = []
      const set = timers.map(({ ms }, index) => clock.after(ms, () => ran.push(index)))
      timers.forEach(({ cancelled }, index) => {
        if (cancelled) set[index]?.cancel()
      })
      for (const step of steps) await clock.advanceBy(step)
      const expected = timers
        .map(({ ms, cancelled }, index) => ({ ms, cancelled, index }))
        .filter(({ ms, cancelled }) => !cancelled && ms <= clock.now())
        .sort((one, other) => one.ms - other.ms || one.index - other.index)
      const due = steps.length > 0 ? expected.map(({ index }) => index) : []
      assert.deepEqual(ran, due)
    }),
  )
})
