/** every bound is reached by moving the clock. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createStop, type NotClosed } from './stop.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

const never = (): Promise<void> => new Promise(() => {})
const names = (notClosed: readonly NotClosed[]): readonly string[] =>
  notClosed.map(({ name, why }) => `${name} ${why}`)

function setUp(): { clock: VirtualClock; stop: ReturnType<typeof createStop>; log: string[] } {
  const clock = createVirtualClock({ startAt: 0 })
  return { clock, stop: createStop({ clock }), log: [] }
}

describe('E1 order', () => {
  test('the last opened is closed first, and the next only after it', async () => {
    const { clock, stop, log } = setUp()
    for (const [name, ms] of [
      ['store', 10],
      ['bus', 30],
      ['http', 20],
    ] as const) {
      const close = async (): Promise<void> => {
        log.push(`${name} begins @${clock.now()}`)
        await clock.sleep(ms)
      }
      stop.register({ name, close })
    }
    const report = stop.stop('SIGTERM')
    await clock.advanceBy(100)
    assert.deepEqual(log, ['http begins @0', 'bus begins @20', 'store begins @50'])
    assert.deepEqual(await report, { reason: 'SIGTERM', tookMs: 60, notClosed: [] })
    assert.deepEqual(clock.pending(), [], 'no timer of a bound is left')
  })

  test('what was taken off is not closed', async () => {
    const { stop } = setUp()
    const off = stop.register({ name: 'gone', close: () => assert.fail('closed') })
    off()
    off()
    assert.deepEqual((await stop.stop('test')).notClosed, [])
  })
})

describe('E2 what does not close', () => {
  test('is reported, told by its signal, and does not keep the others', async () => {
    const { clock, stop, log } = setUp()
    stop.register({ name: 'store', close: () => void log.push(`store @${clock.now()}`) })
    stop.register({
      name: 'hangs',
      boundMs: 700,
      close: (signal) => {
        signal.addEventListener('abort', () => log.push(`told @${clock.now()}`))
        return never()
      },
    })
    const rejects = new Error('no')
    stop.register({ name: 'rejects', close: () => Promise.reject(rejects) })
    stop.register({
      name: 'throws',
      close: () => {
        throw new Error('no')
      },
    })
    const report = stop.stop('test')
    await clock.advanceBy(9_000)
    const { notClosed, tookMs } = await report
    assert.deepEqual(names(notClosed), ['throws failed', 'rejects failed', 'hangs late'])
    assert.equal(notClosed[1]?.error, rejects)
    assert.deepEqual(log, ['told @700', 'store @700'])
    assert.equal(tookMs, 700)
  })
})

describe('E3 the total', () => {
  test('is kept however many parts hang, and each is still told', async () => {
    const { clock, stop, log } = setUp()
    stop.register({ name: 'quick', close: () => void log.push('quick') })
    for (let part = 1; part <= 5; part += 1) {
      stop.register({
        name: `p${part}`,
        close: () => {
          log.push(`p${part} @${clock.now()}`)
          return never()
        },
      })
    }
    const report = stop.stop('test')
    await clock.advanceBy(9_000)
    const { notClosed, tookMs } = await report
    assert.equal(tookMs, 9_000)
    assert.deepEqual(log, ['p5 @0', 'p4 @4000', 'p3 @8000', 'p2 @9000', 'p1 @9000', 'quick'])
    assert.deepEqual(names(notClosed), ['p5 late', 'p4 late', 'p3 late', 'p2 late', 'p1 late'])
  })

  test('cannot be set to what platforms do not wait for', () => {
    const clock = createVirtualClock()
    assert.throws(() => createStop({ clock, totalMs: 10_000 }), RangeError)
  })
})

describe('E4 once', () => {
  test('who asks again gets the same report', async () => {
    const { stop } = setUp()
    let closed = 0
    stop.register({
      name: 'one',
      close: () => {
        closed += 1
      },
    })
    const [first, second] = await Promise.all([stop.stop('first'), stop.stop('second')])
    assert.equal(first, second)
    assert.deepEqual([closed, first.reason], [1, 'first'])
  })

  test('everybody is told before the first part closes, and nothing new is opened', async () => {
    const { stop } = setUp()
    let told = false
    stop.register({
      name: 'one',
      close: () => {
        told = stop.stopping.aborted
      },
    })
    await stop.stop('test')
    assert.equal(told, true)
    assert.throws(() => stop.register({ name: 'late', close: () => {} }), /late was opened/)
  })
})
