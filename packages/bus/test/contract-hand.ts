/** Streams that are handed out to a group, over any broker. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Bus, Handed } from '../src/port.ts'
import type { Rig } from './contract.ts'
import { planOf } from './contract-durable.ts'
import { connected, durable, failing, iterate, take, textOf } from './hands.ts'

export function handContract({ open, name, stopBroker, startBroker }: Rig): void {
  const handed = (bus: Bus, stream: string, group = 'hubs', word = 'a') =>
    iterate(bus.handOut(stream, { group, pattern: `${stream}.${word}` }))
  const wordOf = ({ seq, message }: Handed): string => `${seq} ${textOf(message)}`
  async function deal(from: AsyncIterator<Handed>, count: number): Promise<string[]> {
    const words: string[] = []
    while (words.length < count) {
      const [each] = await take(from, 1)
      assert.ok(each)
      words.push(wordOf(each))
      each.done()
    }
    return words
  }

  describe('B6 what is handed out', () => {
    test('goes to one of a group, to every group, and only what was asked for', async () => {
      const stream = name('groups')
      const plans = { streams: [planOf(stream)] }
      const [one, two] = [await open(plans), await open(plans)]
      const [first, second] = [handed(one, stream), handed(two, stream)]
      const dealt: string[] = []
      const dealing = [first, second].map(async (from) => {
        for (;;) {
          const { done, value } = await from.next()
          if (done) return
          dealt.push(wordOf(value))
          value.done()
        }
      })
      await one.store(durable(`${stream}.b`, 'not for them'))
      for (let at = 2; at <= 40; at += 1) await one.store(durable(`${stream}.a`, `${at}`))
      const others = await deal(handed(one, stream, 'others'), 39)
      assert.equal(others[0], '2 2')
      while (dealt.length < 39) await one.flush()
      assert.deepEqual(new Set(dealt), new Set(others))
      assert.equal(dealt.length, 39)
      await Promise.all([one.close(), two.close()])
      await Promise.all(dealing)
    })

    test('comes again when it was not dealt with, and not when it was', async () => {
      const stream = name('again')
      const bus = await open({ streams: [planOf(stream)] })
      for (const text of ['1', '2']) await bus.store(durable(`${stream}.a`, text))
      const from = handed(bus, stream)
      const [one] = await take(from, 1)
      one?.again(1)
      assert.deepEqual((await deal(from, 2)).toSorted(), ['1 1', '2 2'])
      await bus.store(durable(`${stream}.a`, '3'))
      assert.deepEqual(await deal(from, 1), ['3 3'])
    })

    test('waits while nobody is there, and while the broker is away', async () => {
      const stream = name('away')
      const plans = { streams: [planOf(stream)] }
      const gone = await open(plans)
      await gone.store(durable(`${stream}.a`, '1'))
      assert.deepEqual(await deal(handed(gone, stream), 1), ['1 1'])
      await gone.flush()
      await gone.close()
      const bus = await open(plans)
      await bus.store(durable(`${stream}.a`, '2'))
      await stopBroker()
      const next = deal(handed(bus, stream), 2)
      await startBroker()
      await connected(bus)
      await bus.store(durable(`${stream}.a`, '3'))
      assert.deepEqual(await next, ['2 2', '3 3'])
    })

    test('is of a stream that was planned, to a group with a name', async () => {
      const stream = name('named')
      const bus = await open({ streams: [planOf(stream)] })
      assert.throws(() => handed(bus, 'elsewhere'), failing('stream_unknown'))
      assert.throws(() => handed(bus, stream, 'a b'), failing('plan_malformed'))
      assert.throws(() => handed(bus, stream, 'hubs', '..'), failing('subject_malformed'))
    })
  })
}
