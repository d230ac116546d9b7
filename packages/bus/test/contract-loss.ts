/** The broker goes away and comes back, over any broker. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Rig } from './contract.ts'
import { planOf, wordOf } from './contract-durable.ts'
import {
  away,
  bytesOf,
  connected,
  durable,
  eventOf,
  failing,
  iterate,
  say,
  take,
  textOf,
  texts,
} from './hands.ts'

export function lossContract({ open, name, stopBroker, startBroker }: Rig): void {
  describe('B5 the broker goes away', () => {
    test('no durable message is lost, doubled or out of order', async () => {
      const stream = name('restart')
      const plans = { streams: [planOf(stream)] }
      const [writer, reader] = [await open(plans), await open(plans)]
      const follower = iterate(reader.follow(stream, { after: 'first' }))
      const said = Array.from({ length: 900 }, (_, at) => `${at}`)
      const store = (text: string) =>
        writer.store(durable(`${stream}.${Number(text) % 2}`, text, `${stream}-${text}`))
      const stored: Promise<unknown>[] = []
      // Some are kept, some under way and some only waiting when the broker is killed, twice.
      for (const from of [0, 300]) {
        const before = said.slice(from, from + 200).map(store)
        stored.push(...before)
        await before[20]
        await stopBroker()
        await away(writer)
        stored.push(...said.slice(from + 200, from + 300).map(store))
        await startBroker()
        await connected(writer)
      }
      stored.push(...said.slice(600).map(store))
      await Promise.all(stored)
      assert.equal(writer.figures().unconfirmed, 0)

      const events = await take(follower, said.length)
      const seen = events.map((event) => (event.type === 'gap' ? 'gap' : textOf(event.message)))
      for (const lane of [0, 1]) {
        const mine = (text: string) => Number(text) % 2 === lane
        assert.deepEqual(seen.filter(mine), said.filter(mine))
      }
      assert.deepEqual(
        events.map((event) => (event.type === 'gap' ? 0 : event.seq)),
        said.map((_, at) => at + 1),
      )
    })

    test('subscriptions go on, and what was said meanwhile is said then, in order', async () => {
      const [speaker, listener] = [await open(), await open()]
      const subject = name('resumed')
      const heard = iterate(listener.subscribe(subject))
      await listener.flush()
      speaker.publish(say(subject, 'before'))
      assert.deepEqual(await texts(heard, 1), ['before'])

      await stopBroker()
      await Promise.all([away(speaker), away(listener)])
      const { type, since } = speaker.state()
      assert.ok(type === 'away' && since <= Date.now())
      // The speaker must not be back before the listener listens again.
      for (const text of ['one', 'two', 'three']) {
        assert.equal(listener.publish(say(subject, text)), 'buffered')
      }
      assert.equal(listener.figures().buffered, 3)
      await startBroker()
      assert.deepEqual(await texts(heard, 3), ['one', 'two', 'three'])
      await connected(speaker)
      assert.equal(speaker.publish(say(subject, 'after')), 'sent')
      assert.deepEqual(await texts(heard, 1), ['after'])
      assert.equal(listener.figures().buffered, 0)
    })

    test('questions are refused at once, and those under way are told', async () => {
      const bus = await open({ buckets: [{ name: name('b'), ttlMs: 60_000, keepBytes: 1_000 }] })
      const heard = iterate(bus.subscribe(name('asked')))
      await bus.flush()
      const asked = bus.request(say(name('asked'), ''), { timeoutMs: 60_000 })
      await take(heard, 1)
      const lost = assert.rejects(asked, failing('answer_lost'))
      await stopBroker()
      await lost
      await away(bus)
      await assert.rejects(bus.request(say('x', ''), { timeoutMs: 60_000 }), failing('broker_away'))
      await assert.rejects(bus.flush(), failing('broker_away'))
      await assert.rejects(bus.bucket(name('b')).get('k'), failing('broker_away'))
      await startBroker()
      await connected(bus)
      await bus.bucket(name('b')).put('k', bytesOf('v'))
    })

    test('B1 of plain messages the latest are kept, and the rest is counted', async () => {
      const bus = await open({ limits: { bufferedMessages: 2 } })
      const heard = iterate(bus.subscribe(name('latest')))
      await stopBroker()
      await away(bus)
      const dropped = eventOf(bus, 'dropped')
      for (const text of ['1', '2', '3', '4']) bus.publish(say(name('latest'), text))
      assert.equal((await dropped).messages, 1)
      assert.equal(bus.figures().dropped, 2)
      await startBroker()
      assert.deepEqual(await texts(heard, 2), ['3', '4'])
    })

    test('B2 durable messages beyond the limit are refused, and none is dropped', async () => {
      const stream = name('limit')
      const bus = await open({ streams: [planOf(stream)], limits: { bufferedMessages: 2 } })
      await stopBroker()
      await away(bus)
      const kept = ['1', '2'].map((text) => bus.store(durable(`${stream}.a`, text)))
      await assert.rejects(bus.store(durable(`${stream}.a`, '3')), failing('buffer_full'))
      assert.equal(bus.figures().unconfirmed, 2)
      await startBroker()
      await Promise.all(kept)
      assert.equal((await bus.store(durable(`${stream}.a`, '3'))).seq, 3)
      const followed = await take(iterate(bus.follow(stream, { after: 0 })), 3)
      assert.deepEqual(followed.map(wordOf), ['1 1', '2 2', '3 3'])
    })

    test('a bus that is closed meanwhile says what was not kept', async () => {
      const stream = name('given-up')
      const bus = await open({ streams: [planOf(stream)], limits: { drainMs: 10 } })
      await stopBroker()
      await away(bus)
      const waiting = bus.store(durable(`${stream}.a`, '1'))
      const told = assert.rejects(waiting, failing('bus_closed'))
      const follower = iterate(bus.follow(stream, { after: 'first' })).next()
      await bus.close()
      await told
      assert.equal((await follower).done, true)
      await startBroker()
    })
  })
}
