/** Plain messages, questions and closing, over any broker. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { BUS_LIMITS } from '../src/limits.ts'
import type { Bus, Message, Subscription } from '../src/port.ts'
import type { Rig } from './contract.ts'
import { bytesOf, eventOf, failing, iterate, say, take, textOf, texts } from './hands.ts'

export function plainContract({ open, name }: Rig): void {
  describe('B1 plain messages', () => {
    test('reach every subscriber, in order, with their headers', async () => {
      const [here, there] = [await open(), await open()]
      const subject = name('news')
      const subscribed = [here.subscribe(subject), there.subscribe(subject)]
      await Promise.all([here.flush(), there.flush()])
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
      const { headers } = say(subject, '', 'c-1')
      here.publish({ ...say(subject, 'one'), headers: { ...headers, traceparent } })
      assert.equal(here.publish(say(subject, 'two')), 'sent')
      for (const each of subscribed) {
        const [one, two] = await take(iterate(each), 2)
        assert.deepEqual(one, {
          subject,
          bytes: bytesOf('one'),
          headers: { correlation: 'c-1', traceparent },
        })
        assert.deepEqual(two, { subject, bytes: bytesOf('two'), headers: {} })
      }
    })

    test('are found by pattern: one word for *, the rest for >', async () => {
      const bus = await open()
      const root = name('tree')
      const patterns = [`${root}.*.leaf`, `${root}.>`, `${root}.oak.leaf`, `${root}.*`]
      const subscribed = patterns.map((each) => bus.subscribe(each))
      await bus.flush()
      const said = [`${root}.oak.leaf`, `${root}.oak`, `${root}.oak.leaf.vein`, `${root}.elm.leaf`]
      for (const subject of said) bus.publish(say(subject, ''))
      const heard = await Promise.all([
        subjects(subscribed[0], 2),
        subjects(subscribed[1], 4),
        subjects(subscribed[2], 1),
        subjects(subscribed[3], 1),
      ])
      assert.deepEqual(heard, [[said[0], said[3]], said, [said[0]], [said[1]]])
    })

    test('go to one of a queue, and to everybody else', async () => {
      const [one, other] = [await open(), await open()]
      const subject = name('posts')
      const members = [one, other].map((bus) => bus.subscribe(subject, { queue: 'hubs' }))
      const all = one.subscribe(subject)
      await Promise.all([one.flush(), other.flush()])
      const said = Array.from({ length: 100 }, (_, at) => `${at}`)
      for (const text of said) one.publish(say(subject, text))
      assert.deepEqual(await texts(iterate(all), 100), said)
      await Promise.all([one.flush(), other.flush()])
      const heard = await Promise.all(members.map(rest))
      assert.deepEqual(heard.flat().sort(byNumber), said)
      for (const each of heard) assert.ok(each.length > 0, 'both have a share')
    })

    test('can be taken as many as wait at once', async () => {
      const bus = await open()
      const subscription = bus.subscribe(name('batch'))
      await bus.flush()
      for (const text of ['a', 'b', 'c', 'd', 'e']) bus.publish(say(name('batch'), text))
      await bus.flush()
      const batches = await take(iterate(subscription.batches(3)), 2)
      assert.deepEqual(
        batches.map((batch) => batch.map(textOf)),
        [
          ['a', 'b', 'c'],
          ['d', 'e'],
        ],
      )
    })

    test('are not heard any more by whoever closed or left', async () => {
      const bus = await open()
      const [closed, left] = [bus.subscribe(name('end')), bus.subscribe(name('end'))]
      await bus.flush()
      bus.publish(say(name('end'), 'first'))
      for await (const received of left) {
        assert.equal(textOf(received), 'first')
        break
      }
      closed.close()
      bus.publish(say(name('end'), 'second'))
      await bus.flush()
      assert.deepEqual(await rest(closed), ['first'])
      assert.equal(bus.figures().subscriptions, 0)
    })
  })

  test('B4 a slow subscriber gets what waits, and is cut off and told so', async () => {
    const bus = await open()
    const subject = name('slow')
    const slow = iterate(bus.subscribe(subject, { pendingMessages: 3 }))
    const heavy = iterate(bus.subscribe(subject, { pendingBytes: 4 }))
    const steady = bus.subscribe(subject)
    await bus.flush()
    const cut = eventOf(bus, 'cut')
    for (const text of ['10', '20', '30', '40', '50']) bus.publish(say(subject, text))
    assert.deepEqual(await texts(iterate(steady), 5), ['10', '20', '30', '40', '50'])
    assert.deepEqual(await texts(slow, 3), ['10', '20', '30'])
    await assert.rejects(slow.next(), failing('subscriber_slow'))
    assert.deepEqual(await texts(heavy, 2), ['10', '20'])
    await assert.rejects(heavy.next(), failing('subscriber_slow'))
    assert.equal((await cut).pattern, subject)
    assert.equal(bus.figures().cut, 2)
  })

  describe('questions', () => {
    test('are answered, also by one of a queue, and by each for itself', async () => {
      const [asker, answerer] = [await open(), await open()]
      const subject = name('ask')
      void answerAll(answerer.subscribe(subject, { queue: 'q' }))
      await answerer.flush()
      const answers = await Promise.all(
        ['a', 'b', 'c'].map((text) => asker.request(say(subject, text), { timeoutMs: 5_000 })),
      )
      assert.deepEqual(answers.map(textOf), ['a!', 'b!', 'c!'])
    })

    test('that nobody hears are told so at once', async () => {
      const bus = await open()
      const asked = bus.request(say(name('void'), ''), { timeoutMs: 60_000 })
      await assert.rejects(asked, failing('nobody_listens'))
    })

    test('end at their time or when given up, and a late answer harms nobody', async () => {
      const bus = await open()
      const subject = name('mute')
      const heard = iterate(bus.subscribe(subject))
      await bus.flush()
      const late = bus.request(say(subject, ''), { timeoutMs: 20 })
      await assert.rejects(late, failing('request_timeout'))
      const stop = new AbortController()
      const given = bus.request(say(subject, ''), { timeoutMs: 60_000, signal: stop.signal })
      stop.abort(new Error('enough'))
      await assert.rejects(given, { message: 'enough' })
      for (const { reply } of await take(heard, 2)) reply?.(bytesOf('late'))
      await bus.flush()
      await assert.rejects(
        bus.request(say(subject, ''), { timeoutMs: 60_000, signal: stop.signal }),
        { message: 'enough' },
      )
    })

    test('wait only so many at once', async () => {
      const bus = await open({ limits: { requests: 2 } })
      const subject = name('crowd')
      const heard = iterate(bus.subscribe(subject))
      await bus.flush()
      const asked = ['a', 'b'].map((text) => bus.request(say(subject, text), { timeoutMs: 60_000 }))
      const third = bus.request(say(subject, 'c'), { timeoutMs: 60_000 })
      await assert.rejects(third, failing('requests_full'))
      for (const { reply, bytes } of await take(heard, 2)) reply?.(bytes)
      assert.deepEqual((await Promise.all(asked)).map(textOf), ['a', 'b'])
    })
  })

  describe('A5 what is too much or malformed is refused', () => {
    const big: Message = { subject: 'a', bytes: new Uint8Array(BUS_LIMITS.messageBytes + 1) }
    const longHeader = say('a', '', 'x'.repeat(257))
    // biome-ignore format: a table is read by its columns
    const rows: [rule: string, code: Parameters<typeof failing>[0], does: (bus: Bus) => unknown][] = [
      ['a message that is too large',    'message_too_large',  (bus) => bus.publish(big)],
      ['a question that is too large',   'message_too_large',  (bus) => bus.request(big, { timeoutMs: 1 })],
      ['a wildcard said',                'subject_malformed',  (bus) => bus.publish(say('a.*', ''))],
      ['an empty word',                  'subject_malformed',  (bus) => bus.publish(say('a..b', ''))],
      ['a blank in a subject',           'subject_malformed',  (bus) => bus.publish(say('a b', ''))],
      ['a subject of the broker itself', 'subject_malformed',  (bus) => bus.publish(say('$SYS.x', ''))],
      ['> in the middle of a pattern',   'subject_malformed',  (bus) => bus.subscribe('a.>.b')],
      ['a queue with a blank',           'subject_malformed',  (bus) => bus.subscribe('a', { queue: 'a b' })],
      ['a header with a line break',     'header_malformed',   (bus) => bus.publish(say('a', '', 'x\r\ny'))],
      ['a header that is too long',      'header_malformed',   (bus) => bus.publish(longHeader)],
      ['a third subscription of two',    'subscriptions_full', (bus) => [1, 2, 3].map(() => bus.subscribe('a'))],
      ['a bucket that nobody planned',   'bucket_unknown',     (bus) => bus.bucket('x')],
      ['a stream that nobody planned',   'stream_unknown',     (bus) => bus.follow('x', { after: 0 })],
    ]
    for (const [rule, code, does] of rows) {
      test(rule, async () => {
        const bus = await open({ limits: { subscriptions: 2 } })
        await assert.rejects(async () => does(bus), failing(code))
      })
    }

    test('the largest message passes', async () => {
      const bus = await open()
      const subscription = bus.subscribe(name('large'))
      await bus.flush()
      bus.publish({ subject: name('large'), bytes: new Uint8Array(BUS_LIMITS.messageBytes) })
      const [received] = await take(iterate(subscription), 1)
      assert.equal(received?.bytes.length, BUS_LIMITS.messageBytes)
    })
  })

  describe('closing', () => {
    test('hands out what came, ends all iteration, and takes nothing more', async () => {
      const bus = await open()
      const subscription = bus.subscribe(name('close'))
      await bus.flush()
      bus.publish(say(name('close'), 'last'))
      const closed = Promise.all([bus.close(), bus.close()])
      assert.throws(() => bus.publish(say('a', '')), failing('bus_closed'))
      await closed
      assert.deepEqual(await rest(subscription), ['last'])
      assert.equal(bus.state().type, 'closed')
      assert.throws(() => bus.subscribe('a'), failing('bus_closed'))
      await assert.rejects(bus.request(say('a', ''), { timeoutMs: 9 }), failing('bus_closed'))
      await assert.rejects(bus.flush(), failing('bus_closed'))
    })

    test('waits for an answer that is under way', async () => {
      const [asker, answerer] = [await open(), await open()]
      const heard = iterate(answerer.subscribe(name('busy')))
      await answerer.flush()
      const asked = asker.request(say(name('busy'), ''), { timeoutMs: 60_000 })
      const [{ reply } = {}] = await take(heard, 1)
      const closed = asker.close()
      reply?.(bytesOf('done'))
      assert.equal(textOf(await asked), 'done')
      await closed
    })
  })
}

async function subjects(from: Subscription | undefined, count: number): Promise<string[]> {
  assert.ok(from)
  return (await take(iterate(from), count)).map(({ subject }) => subject)
}

/** Closes, and gives what still waited. */
async function rest(subscription: Subscription): Promise<string[]> {
  subscription.close()
  const found: string[] = []
  for await (const received of subscription) found.push(textOf(received))
  return found
}

async function answerAll(subscription: Subscription): Promise<void> {
  for await (const received of subscription) received.reply?.(bytesOf(`${textOf(received)}!`))
}

const byNumber = (one: string, other: string): number => Number(one) - Number(other)
