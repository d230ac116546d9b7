/** Streams and buckets, over any broker. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { BucketPlan, StreamPlan } from '../src/plan.ts'
import type { Bus, Followed } from '../src/port.ts'
import type { Rig } from './contract.ts'
import { bytesOf, durable, failing, iterate, say, take, textOf, texts } from './hands.ts'

const HOUR_MS = 3_600_000

export function planOf(name: string, bounds: Partial<StreamPlan> = {}): StreamPlan {
  return {
    name,
    subjects: [`${name}.>`],
    keepMs: HOUR_MS,
    keepMessages: 10_000,
    keepBytes: 10_000_000,
    dedupeMs: 120_000,
    ...bounds,
  }
}

export function durableContract({ open, name }: Rig): void {
  describe('B2 B3 streams', () => {
    test('keep what they are given, once for each id, each in its place', async () => {
      const stream = name('once')
      const bus = await open({ streams: [planOf(stream)] })
      const first = await bus.store(durable(`${stream}.a`, 'one'))
      assert.deepEqual(first, { stream, seq: 1, repeated: false })
      assert.equal((await bus.store(durable(`${stream}.b`, 'two'))).seq, 2)
      const again = await bus.store(durable(`${stream}.a`, 'one'))
      assert.deepEqual(again, { stream, seq: 1, repeated: true })
      const followed = await take(iterate(bus.follow(stream, { after: 'first' })), 2)
      assert.deepEqual(followed.map(wordOf), ['1 one', '2 two'])
      const [message] = followed
      assert.ok(message?.type === 'message')
      assert.equal(message.message.headers.id, 'one')
      assert.ok(Math.abs(message.at - Date.now()) < 60_000)
    })

    test('are followed from any place, and then live, by several', async () => {
      const stream = name('places')
      const plans = { streams: [planOf(stream)] }
      const [writer, reader] = [await open(plans), await open(plans)]
      for (const text of ['1', '2', '3']) await writer.store(durable(`${stream}.a`, text))
      const all = iterate(reader.follow(stream, { after: 0 }))
      const some = iterate(reader.follow(stream, { after: 2 }))
      const fresh = iterate(reader.follow(stream, { after: 'last' }))
      assert.deepEqual((await take(all, 3)).map(wordOf), ['1 1', '2 2', '3 3'])
      assert.deepEqual((await take(some, 1)).map(wordOf), ['3 3'])
      const heard = { yet: false }
      const next = fresh.next().finally(() => {
        heard.yet = true
      })
      await writer.store(durable(`${stream}.a`, '4'))
      await writer.store(durable(`${stream}.a`, '5'))
      assert.deepEqual((await take(all, 2)).map(wordOf), ['4 4', '5 5'])
      assert.deepEqual((await take(some, 2)).map(wordOf), ['4 4', '5 5'])
      // It hears what comes after it has begun, and when that is nobody but it can tell.
      for (let word = 6; !heard.yet; word += 1) {
        await writer.store(durable(`${stream}.a`, `${word}`))
        await new Promise((turn) => setImmediate(turn))
      }
      const { value } = await next
      assert.ok(value?.type === 'message' && value.seq > 3)
    })

    test('keep the order of those who do not wait', async () => {
      const stream = name('order')
      const bus = await open({ streams: [planOf(stream)] })
      const said = Array.from({ length: 600 }, (_, at) => `${stream}.${at % 3} ${at}`)
      const stored = await Promise.all(
        said.map((text) => bus.store(durable(text.split(' ')[0] ?? '', text))),
      )
      assert.equal(new Set(stored.map(({ seq }) => seq)).size, said.length)
      const followed = await take(iterate(bus.follow(stream, { after: 'first' })), said.length)
      for (const lane of [0, 1, 2]) {
        const mine = (text: string) => text.startsWith(`${stream}.${lane} `)
        assert.deepEqual(followed.map(textIn).filter(mine), said.filter(mine))
      }
    })

    test('P-7 say that there is a gap, when it begins', async () => {
      const stream = name('gap')
      const bus = await open({ streams: [planOf(stream, { keepMessages: 3 })] })
      for (let at = 1; at <= 10; at += 1) await bus.store(durable(`${stream}.a`, `${at}`))
      const followed = await take(iterate(bus.follow(stream, { after: 2 })), 4)
      assert.deepEqual(followed.map(wordOf), ['gap 2-8', '8 8', '9 9', '10 10'])
      const kept = await take(iterate(bus.follow(stream, { after: 'first' })), 3)
      assert.deepEqual(kept.map(wordOf), ['8 8', '9 9', '10 10'])
      const ahead = await take(iterate(bus.follow(stream, { after: 50 })), 4)
      assert.deepEqual(ahead.map(wordOf), ['gap 50-8', '8 8', '9 9', '10 10'])
    })

    test('P-7 say that there is a gap, when a follower falls behind', async () => {
      const stream = name('behind')
      const bus = await open({ streams: [planOf(stream, { keepMessages: 20 })] })
      await bus.store(durable(`${stream}.a`, '1'))
      const follower = iterate(bus.follow(stream, { after: 'first' }))
      assert.deepEqual((await take(follower, 1)).map(wordOf), ['1 1'])
      for (let at = 2; at <= 300; at += 1) await bus.store(durable(`${stream}.a`, `${at}`))
      let [last, gaps] = [1, 0]
      while (last < 300) {
        const [event] = await take(follower, 1)
        assert.ok(event)
        if (event.type === 'gap') {
          assert.equal(event.after, last)
          last = event.resumesAt - 1
          gaps += 1
        } else {
          assert.equal(event.seq, last + 1)
          last = event.seq
        }
      }
      assert.ok(gaps > 0)
    })

    test('stop being followed by the signal, by leaving and by closing', async () => {
      const stream = name('leaving')
      const bus = await open({ streams: [planOf(stream)] })
      await bus.store(durable(`${stream}.a`, '1'))
      const stop = new AbortController()
      const [signalled, left, open2] = [stop.signal, undefined, undefined].map((signal) =>
        iterate(bus.follow(stream, { after: 0, ...(signal && { signal }) })),
      )
      assert.ok(signalled && left && open2)
      for (const each of [signalled, left, open2]) await take(each, 1)
      const next = signalled.next()
      stop.abort()
      assert.equal((await next).done, true)
      await left.return?.()
      const last = open2.next()
      await bus.close()
      assert.equal((await last).done, true)
    })

    test('let plain subscribers hear what is kept, and keep what is said plainly', async () => {
      const stream = name('both')
      const bus = await open({ streams: [planOf(stream)] })
      const subscription = iterate(bus.subscribe(`${stream}.>`))
      await bus.flush()
      await bus.store(durable(`${stream}.a`, 'kept'))
      bus.publish(say(`${stream}.b`, 'said'))
      assert.deepEqual(await texts(subscription, 2), ['kept', 'said'])
      const followed = await take(iterate(bus.follow(stream, { after: 0 })), 2)
      assert.deepEqual(followed.map(wordOf), ['1 kept', '2 said'])
    })

    test('do not take what belongs to none', async () => {
      const bus = await open({ streams: [planOf(name('mine'))] })
      await assert.rejects(bus.store(durable('elsewhere', 'x')), failing('stream_unknown'))
    })

    test('take new limits from whoever dials with a new plan', async () => {
      const stream = name('replanned')
      const bus = await open({ streams: [planOf(stream)] })
      for (let at = 1; at <= 5; at += 1) await bus.store(durable(`${stream}.a`, `${at}`))
      const later = await open({ streams: [planOf(stream, { keepMessages: 2 })] })
      await later.store(durable(`${stream}.a`, '6'))
      const followed = await take(iterate(later.follow(stream, { after: 'first' })), 2)
      assert.deepEqual(followed.map(wordOf), ['5 5', '6 6'])
    })
  })

  describe('plans that cannot be kept to', () => {
    const good = planOf('good')
    // biome-ignore format: a table is read by its columns
    const rows: [rule: string, streams: readonly StreamPlan[], buckets: readonly BucketPlan[]][] = [
      ['a name with a dot',           [planOf('a.b')],                            []],
      ['no subject',                  [planOf('a', { subjects: [] })],            []],
      ['no limit',                    [planOf('a', { keepMessages: Infinity })],  []],
      ['no time',                     [planOf('a', { keepMs: 0 })],               []],
      ['ids that outlive messages',   [planOf('a', { keepMs: 10, dedupeMs: 11 })], []],
      ['six copies',                  [planOf('a', { replicas: 6 })],             []],
      ['one name twice',              [good, good],                               []],
      ['a bucket without time',       [],                                         [{ name: 'b', ttlMs: 0, keepBytes: 9 }]],
    ]
    for (const [rule, streams, buckets] of rows) {
      test(rule, () => assert.rejects(open({ streams, buckets }), failing('plan_malformed')))
    }
  })

  describe('buckets', () => {
    const planned = (word: string, bounds: Partial<BucketPlan> = {}) => ({
      buckets: [{ name: name(word), ttlMs: 60_000, keepBytes: 1_000_000, ...bounds }],
    })

    test('give back the last value of a key, to every bus', async () => {
      const [here, there] = [await open(planned('shared')), await open(planned('shared'))]
      const [put, got] = [here.bucket(name('shared')), there.bucket(name('shared'))]
      assert.equal(await got.get('a.b'), undefined)
      assert.equal((await got.all()).size, 0)
      await put.put('a.b', bytesOf('old'))
      await put.put('a.b', bytesOf('new'))
      await put.put('c', bytesOf('other'))
      assert.deepEqual(await got.get('a.b'), bytesOf('new'))
      const all = [...(await got.all())].sort(([one], [other]) => (one < other ? -1 : 1))
      assert.deepEqual(all, [
        ['a.b', bytesOf('new')],
        ['c', bytesOf('other')],
      ])
    })

    test('take a new key once, also from many at once, and again when it was removed', async () => {
      const bus = await open(planned('claims'))
      const bucket = bus.bucket(name('claims'))
      const tried = await Promise.all(['a', 'b', 'c'].map((each) => bucket.add('k', bytesOf(each))))
      assert.equal(tried.filter((each) => each).length, 1)
      await bucket.remove('k')
      assert.equal(await bucket.get('k'), undefined)
      assert.equal((await bucket.all()).size, 0)
      assert.equal(await bucket.add('k', bytesOf('d')), true)
    })

    test('forget when their time is over', async () => {
      const bus = await open(planned('brief', { ttlMs: 300 }))
      const bucket = bus.bucket(name('brief'))
      await bucket.put('k', bytesOf('v'))
      assert.deepEqual(await bucket.get('k'), bytesOf('v'))
      await gone(bus, name('brief'))
      assert.equal(await bucket.add('k', bytesOf('w')), true)
    })

    test('take no more than they may, and no key that is malformed', async () => {
      const bus = await open(planned('small', { keepBytes: 2_000 }))
      const bucket = bus.bucket(name('small'))
      await bucket.put('a', new Uint8Array(500))
      await assert.rejects(bucket.put('b', new Uint8Array(1_600)), failing('bucket_full'))
      assert.equal(await bucket.get('b'), undefined)
      await assert.rejects(bucket.put('a b', bytesOf('x')), failing('subject_malformed'))
      await assert.rejects(bucket.get('*'), failing('subject_malformed'))
    })
  })
}

/** Asks until it is, as nobody tells when a broker forgets. */
async function gone(bus: Bus, bucket: string): Promise<void> {
  while ((await bus.bucket(bucket).get('k')) !== undefined) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function textIn(event: Followed): string {
  return event.type === 'message' ? textOf(event.message) : 'gap'
}

export function wordOf(event: Followed): string {
  if (event.type === 'gap') return `gap ${event.after}-${event.resumesAt}`
  return `${event.seq} ${textOf(event.message)}`
}
