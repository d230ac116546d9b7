/**
 * The fan-out alone, on a log in memory and under a virtual clock: whoever joins, whenever and
 * wherever, hears the one sequence (L1), and nobody waits for a slow one (L3).
 */
import assert from 'node:assert/strict'
import type { CorrelationId, Digest } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { comparePlaces, type LiveEntry, type LivePlace } from '@chimera/domain/live'
import { createLog } from '@chimera/host/log'
import { createMetrics } from '@chimera/host/metrics'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createGuard } from '../guard.ts'
import type { LiveLog } from '../ports/live.ts'
import { createLive, type LiveListener, type LiveSink } from './live.ts'

/** Facts and posts by turns, each in a transaction of its own. */
function createMemory(most: number) {
  const entries: LiveEntry[] = []
  let seq = 0
  const end = (): LivePlace => ({ seq, tx: entries.length + 1, event: '' })
  const isPast = (place: LivePlace, { place: at, post }: LiveEntry) =>
    post === undefined ? at.seq <= place.seq : at.tx < place.tx || comparePost(at, place) <= 0
  const log: LiveLog = {
    span: async () => ({ now: end(), droppedTx: -1 }),
    async after(place, { posts }) {
      // As a database does: the answer is of the moment at which it was asked.
      const rest = entries.filter((each) => (posts || !each.post) && !isPast(place, each))
      const through = end()
      await Promise.resolve()
      const page = rest.slice(0, most)
      const isCut = rest.length > most
      return {
        entries: page,
        through: isCut ? (page.at(-1)?.place ?? through) : through,
        more: isCut,
      }
    },
  }
  return {
    log,
    fact: (fact: object = { type: 'account_opened', owner: 'ann' }) => {
      seq += 1
      const sealed = {
        seq,
        prev: '0'.repeat(64) as Digest,
        hash: '1'.repeat(64) as Digest,
        fact,
        recordedAt: 1,
        correlation: 'c' as CorrelationId,
      }
      entries.push({ place: { seq, tx: entries.length + 1, event: '' }, sealed, kin: {} })
    },
    post: () => {
      const tx = entries.length + 1
      const event = `0190b5e7-7c3a-7d21-9a4b-${String(tx).padStart(12, '0')}`
      const post = {
        agent: 'a' as never,
        instance: 'i' as never,
        availability: 'available',
        slotsTotal: 1,
        slotsFree: 1,
        at: 1,
      } as const
      entries.push({ place: { seq, tx, event }, post })
    },
    entries,
  }
}
const comparePost = (a: LivePlace, b: LivePlace) =>
  comparePlaces({ ...a, seq: 0 }, { ...b, seq: 0 })

function createSink(takes = true) {
  let heard = ''
  let waiting = 0
  let over = false
  const sink: LiveSink = {
    waiting: () => waiting,
    write: (bytes) => {
      heard += bytes.toString()
      if (!takes) waiting += bytes.length
    },
    room: () => (takes ? Promise.resolve() : new Promise(() => undefined)),
    end: (last) => {
      heard += last.toString()
      over = true
    },
    gone: () => over,
  }
  const ids = () => [...heard.matchAll(/id: (\S+)\nevent: (?!gap)/g)].map(([, id]) => id)
  return { sink, ids, text: () => heard, over: () => over }
}

/** Pages are small, so that much is read in several. */
function createFeed(page = 3) {
  const memory = createMemory(page)
  const clock = createVirtualClock()
  const metrics = createMetrics()
  const logger = createLog({ clock, name: 'test', level: 'silent' })
  const live = createLive({
    log: memory.log,
    guard: createGuard({ metrics, log: logger }),
    clock,
    metrics,
    logger,
    settle: () => live.pull(),
    most: 3,
  })
  const listener = (more: Partial<LiveListener> = {}): LiveListener => ({
    audience: { topics: ['presence', 'ledger'], all: true, filter: {} },
    from: { seq: 0, tx: 0, event: '' },
    name: 'somebody',
    endsAt: Number.POSITIVE_INFINITY,
    ...more,
  })
  /** Until nothing more is under way: everything here is made of promises alone. */
  const quiet = async () => {
    for (let at = 0; at < 200; at += 1) await Promise.resolve()
  }
  return { ...memory, clock, live, listener, quiet }
}

describe('the fan-out', { timeout: 60_000 }, () => {
  test('P-7 L1 any reader hears the whole sequence behind its place, once', async () => {
    const step = fc.oneof(
      fc.constant('fact'),
      fc.constant('post'),
      fc.constant('pull'),
      fc.constant('turn'),
      fc.record({ join: fc.nat({ max: 30 }), posts: fc.boolean() }),
      fc.record({ leave: fc.nat({ max: 3 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { live, listener, quiet, entries, ...make } = createFeed()
        const joined: {
          ids: () => unknown
          from: LivePlace
          posts: boolean
          leave: () => void
          left: boolean
        }[] = []
        for (const each of steps) {
          if (each === 'fact') make.fact()
          else if (each === 'post') make.post()
          else if (each === 'pull') void live.pull()
          else if (each === 'turn') await Promise.resolve()
          else if ('leave' in each) {
            const one = joined[each.leave]
            one?.leave()
            if (one) one.left = true
          } else {
            const from = entries[each.join]?.place ?? { seq: 0, tx: 0, event: '' }
            const { sink, ids } = createSink()
            const topics = each.posts ? (['presence', 'ledger'] as const) : (['ledger'] as const)
            const audience = { topics, all: true, filter: {} }
            const leave = live.open(sink, listener({ audience, from }))
            joined.push({ ids, from, posts: each.posts, leave, left: false })
          }
        }
        await quiet()
        await live.pull()
        await quiet()
        for (const { ids, from, posts, left } of joined) {
          const all = entries.filter(({ place }) => comparePlaces(place, from) > 0)
          const wanted = all
            .filter(({ post }) => posts || !post)
            .map(({ place: { seq, tx, event } }) => `${seq}.${tx}.${event || '0'}`)
          const heard = ids() as string[]
          // Who has left heard a beginning of it.
          assert.deepEqual(heard, left ? wanted.slice(0, heard.length) : wanted)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('L3 who takes nothing is cut off with a place to resume at; the others go on', async () => {
    const { live, listener, quiet, fact } = createFeed(50)
    const [stuck, quick] = [createSink(false), createSink()]
    live.open(stuck.sink, listener())
    live.open(quick.sink, listener())
    await quiet()
    let facts = 0
    for (; !stuck.over() && facts < 20_000; facts += 1) {
      fact({ type: 'account_opened', owner: 'x'.repeat(100) })
      if (facts % 50 === 0) await live.pull()
    }
    assert.ok(stuck.over())
    assert.ok(stuck.text().length < LIMITS.liveBufferBytes + 100_000, 'bounded')
    const [, after] = /event: cut\ndata: \{"why":"slow","after":"(\d+)\./.exec(stuck.text()) ?? []
    assert.ok(Number(after) > 0)
    await live.pull()
    assert.equal(quick.ids().length, facts)
  })

  test('L3 who takes nothing while it catches up is cut off after a while', async () => {
    const { live, listener, quiet, fact, clock } = createFeed(50)
    for (let at = 0; at < 4_000; at += 1) fact({ type: 'account_opened', owner: 'x'.repeat(100) })
    const stuck = createSink(false)
    live.open(stuck.sink, listener())
    for (let at = 0; at < 40; at += 1) await quiet()
    assert.ok(!stuck.over() && stuck.text().length < LIMITS.liveBufferBytes)
    await clock.advanceBy(LIMITS.livePatienceMs)
    assert.match(stuck.text(), /event: cut\ndata: \{"why":"slow"/)
    assert.equal(live.size(), 0)
  })

  test('more than is at hand is read from the store', async () => {
    const { live, listener, quiet, fact, entries } = createFeed(500)
    const first = createSink()
    live.open(first.sink, listener())
    await quiet()
    for (let at = 0; at < LIMITS.liveRing + 50; at += 1) fact()
    await live.pull()
    const late = createSink()
    live.open(late.sink, listener({ from: { seq: 10, tx: 11, event: '' } }))
    for (let at = 0; at < 40; at += 1) await quiet()
    assert.equal(first.ids().length, entries.length)
    assert.equal(late.ids().length, entries.length - 10)
  })

  test('L5 a revoked token or a changed key ends what it opened, and nothing else', async () => {
    const { live, listener, quiet, fact } = createFeed()
    const [token, agent, other] = [createSink(), createSink(), createSink()]
    live.open(token.sink, listener({ token: 't1' }))
    live.open(agent.sink, listener({ agent: 'a1' as never }))
    live.open(other.sink, listener({ token: 't2', agent: 'a2' as never }))
    await quiet()
    fact({ type: 'token_revoked', id: 't1' })
    fact({ type: 'key_changed', id: 'a1', change: { type: 'key_rotated' } })
    await live.pull()
    assert.deepEqual([token.over(), agent.over(), other.over()], [true, true, false])
    assert.match(token.text(), /"why":"revoked"/)
  })

  test('beats say how far it has come; a stream has its time; places are bounded', async () => {
    const { live, listener, quiet, fact, clock } = createFeed()
    const [lasting, short] = [createSink(), createSink()]
    live.open(lasting.sink, listener({ audience: { topics: ['work'], all: true, filter: {} } }))
    live.open(short.sink, listener({ endsAt: clock.now() + LIMITS.liveBeatMs }))
    assert.ok(live.hasRoom('x'))
    live.open(createSink().sink, listener())
    assert.ok(!live.hasRoom('x'))
    await quiet()
    fact()
    await live.pull()
    await clock.advanceBy(LIMITS.liveBeatMs)
    live.beat()
    assert.match(lasting.text(), /: alive\nid: 1\.2\.0\n\n$/, 'behind what it did not want')
    assert.match(short.text(), /event: cut\ndata: \{"why":"time"/)
    live.close()
    assert.match(lasting.text(), /"why":"stopping"/)
    assert.equal(live.size(), 0)
    assert.ok(!live.hasRoom('x'))
  })

  test('a secret in a fact is withheld, and the place is told', async () => {
    const { live, listener, quiet, fact } = createFeed()
    const one = createSink()
    live.open(one.sink, listener({ audience: { topics: ['audit'], all: true, filter: {} } }))
    await quiet()
    fact({ type: 'novel', note: `chm_operator_${'a'.repeat(43)}` })
    await live.pull()
    assert.equal(one.ids().length, 1)
    assert.doesNotMatch(one.text(), /aaaaaaaa/)
  })
})
