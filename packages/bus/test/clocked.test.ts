/** What time alone does to a bus, under a clock that is moved by hand. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { openBus } from '../src/bus.ts'
import { Failure } from '../src/failure.ts'
import type { Dial, Link } from '../src/link.ts'
import { createBroker } from '../src/memory/broker.ts'
import { planOf, wordOf } from './contract-durable.ts'
import {
  bytesOf,
  createHandClock,
  durable,
  evenChance,
  failing,
  iterate,
  say,
  take,
  texts,
} from './hands.ts'

const chance = evenChance

describe('X-8 dialling', () => {
  test('waits longer after each failure, up to a limit, and less after a success', async () => {
    const clock = createHandClock()
    const broker = createBroker({ clock })
    const at: number[] = []
    let down = true
    const dial: Dial = async (options) => {
      at.push(clock.now())
      if (down) throw new Failure('broker_away', 'the test says so')
      return broker.dial(options)
    }
    const events: string[] = []
    const limits = { redialMs: 100, redialMostMs: 1_000 }
    const bus = openBus({ dial, clock, chance, limits })
    bus.watch(({ type }) => events.push(type))
    await clock.pass(5_000)
    const waits = at.slice(1, 7).map((each, index) => each - (at[index] ?? 0))
    // Three quarters of the longest, where chance is in the middle.
    assert.deepEqual(waits, [150, 300, 600, 750, 750, 750])
    assert.deepEqual(events, ['away'])
    const state = bus.state()
    assert.ok(state.type === 'away' && state.since === at[0])
    assert.match(state.reason, /the test says so/)
    down = false
    await clock.pass(750)
    assert.deepEqual(events, ['away', 'connected'])
    at.length = 0
    broker.stop()
    down = true
    await clock.pass(75)
    assert.equal(at.length, 1, 'after a loss the first try is soon')
    assert.deepEqual(events, ['away', 'connected', 'away'])
    await Promise.all([bus.close(), clock.pass(10_000)])
  })
})

describe('the in-process broker', () => {
  test('forgets ids and messages at their time', async () => {
    const clock = createHandClock()
    const { dial } = createBroker({ clock })
    const plan = planOf('s', { keepMs: 10_000, dedupeMs: 1_000 })
    const bus = openBus({ dial, clock, chance, streams: [plan] })
    await clock.pass(0)
    assert.equal((await bus.store(durable('s.a', '1'))).seq, 1)
    await clock.pass(999)
    assert.equal((await bus.store(durable('s.a', '1'))).repeated, true)
    await clock.pass(1)
    assert.deepEqual(await bus.store(durable('s.a', '1')), {
      stream: 's',
      seq: 2,
      repeated: false,
    })
    await clock.pass(9_000)
    const followed = await take(iterate(bus.follow('s', { after: 0 })), 2)
    assert.deepEqual(followed.map(wordOf), ['gap 0-2', '2 1'])
    await clock.pass(1_000)
    const gap = await take(iterate(bus.follow('s', { after: 0 })), 1)
    assert.deepEqual(gap.map(wordOf), ['gap 0-3'], 'told at once, though nothing is left')
    await bus.close()
  })

  test('forgets values at their time, counted from when they were put last', async () => {
    const clock = createHandClock()
    const { dial } = createBroker({ clock })
    const buckets = [{ name: 'b', ttlMs: 100, keepBytes: 1_000 }]
    const bus = openBus({ dial, clock, chance, buckets })
    await clock.pass(0)
    const bucket = bus.bucket('b')
    await bucket.put('old', bytesOf('1'))
    await bucket.put('kept', bytesOf('1'))
    await clock.pass(60)
    await bucket.put('old', bytesOf('2'))
    await clock.pass(40)
    assert.deepEqual([...(await bucket.all()).keys()], ['old'])
    await clock.pass(60)
    assert.equal(await bucket.get('old'), undefined)
    await bus.close()
  })

  test('a sender may use its buffer again', async () => {
    const clock = createHandClock()
    const { dial } = createBroker({ clock })
    const bus = openBus({ dial, clock, chance })
    await clock.pass(0)
    const heard = iterate(bus.subscribe('a'))
    const bytes = Buffer.from('first')
    bus.publish({ subject: 'a', bytes })
    bytes.write('later')
    assert.deepEqual(await texts(heard, 1), ['first'])
    await bus.close()
  })
})

describe('a broker that does not read', () => {
  test('O2 gets only so much at once, and the rest when it has read', async () => {
    const clock = createHandClock()
    const broker = createBroker({ clock })
    const reads: (() => void)[] = []
    const sent: string[] = []
    const dial: Dial = async (options) => {
      const link = await broker.dial(options)
      const slow: Link = {
        ...link,
        send: ({ subject }) => sent.push(subject),
        flush: () => new Promise((resolve) => reads.push(resolve)),
      }
      return slow
    }
    const limits = { sendingBytes: 10, drainMs: 1 }
    const bus = openBus({ dial, clock, chance, limits })
    await clock.pass(0)
    const said = ['a', 'b', 'c', 'd'].map((subject) => bus.publish(say(subject, '1234')))
    assert.deepEqual(said, ['sent', 'sent', 'buffered', 'buffered'])
    assert.deepEqual(sent, ['a', 'b'])
    reads.shift()?.()
    await clock.pass(0)
    assert.deepEqual(sent, ['a', 'b', 'c'])
    await Promise.all([bus.close(), clock.pass(10)])
  })

  test('closing does not wait for it for ever', async () => {
    const clock = createHandClock()
    const broker = createBroker({ clock })
    const dial: Dial = async (options) => ({
      ...(await broker.dial(options)),
      append: () => new Promise(() => {}),
    })
    const limits = { drainMs: 5_000 }
    const bus = openBus({ dial, clock, chance, limits, streams: [planOf('s')] })
    await clock.pass(0)
    const told = assert.rejects(bus.store(durable('s.a', '1')), failing('outcome_unknown'))
    const closed = bus.close()
    await clock.pass(5_000)
    await Promise.all([closed, told])
  })
})
