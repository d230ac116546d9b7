/** The real clock, with Node's own timers replaced, so that a wait of months takes no time. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test, vi } from 'vitest'
import { createClock } from './clock.ts'

const DAY_MS = 86_400_000

beforeEach(() => {
  vi.useFakeTimers({ now: 5_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('T1 a timer', () => {
  test('runs once, at its time and not before', () => {
    const clock = createClock()
    const ran: number[] = []
    clock.after(100, () => ran.push(clock.now()))
    vi.advanceTimersByTime(99)
    assert.deepEqual(ran, [])
    vi.advanceTimersByTime(500)
    assert.deepEqual(ran, [5_100])
  })

  test('of no time does not run inside the call that set it', () => {
    let ran = 0
    createClock().after(-5, () => {
      ran += 1
    })
    assert.equal(ran, 0)
    vi.advanceTimersByTime(1)
    assert.equal(ran, 1)
  })

  test('longer than Node can wait is not cut short', () => {
    const clock = createClock()
    let ranAt = 0
    clock.after(60 * DAY_MS, () => {
      ranAt = clock.now()
    })
    vi.advanceTimersByTime(60 * DAY_MS - 1)
    assert.equal(ranAt, 0)
    vi.advanceTimersByTime(1)
    assert.equal(ranAt, 5_000 + 60 * DAY_MS)
  })

  test('without a time is a mistake', () => {
    assert.throws(() => createClock().after(Number.NaN, () => {}), RangeError)
  })
})

test('T2 a cancelled timer does not run, in any of its pieces', () => {
  const clock = createClock()
  let ran = 0
  const timer = clock.after(60 * DAY_MS, () => {
    ran += 1
  })
  vi.advanceTimersByTime(40 * DAY_MS)
  timer.cancel()
  timer.cancel()
  vi.advanceTimersByTime(90 * DAY_MS)
  assert.equal(ran, 0)
  assert.equal(vi.getTimerCount(), 0)
})

describe('T3 a sleep', () => {
  test('ends at its time', async () => {
    const slept = createClock().sleep(1_000)
    vi.advanceTimersByTime(1_000)
    await slept
  })

  test('that is aborted rejects with the reason, and leaves no timer', async () => {
    const stop = new AbortController()
    const slept = createClock().sleep(1_000, stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(slept, { message: 'enough' })
    assert.equal(vi.getTimerCount(), 0)
  })

  test('under a signal that is aborted already does not begin', async () => {
    await assert.rejects(createClock().sleep(1_000, AbortSignal.abort(new Error('no'))), {
      message: 'no',
    })
    assert.equal(vi.getTimerCount(), 0)
  })
})

test('only an unreferenced clock lets the process end while a timer waits', () => {
  vi.useRealTimers()
  const waiting = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = waiting()
  const loose = createClock({ unref: true }).after(60_000, () => {})
  assert.equal(waiting(), before)
  const firm = createClock().after(60_000, () => {})
  assert.equal(waiting(), before + 1)
  loose.cancel()
  firm.cancel()
})
