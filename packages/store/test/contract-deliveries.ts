/**
 * The outbox, dead letters, alerts and webhooks on every engine: shared between hubs, bounded, and
 * nothing lost with the one who had it.
 */
import assert from 'node:assert/strict'
import type { Alert, Sighted } from '@chimera/domain/alert'
import type { CorrelationId, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { describe, test } from 'vitest'
import { createAlertLog, type Notices } from '../src/alerts.ts'
import { backup, restore } from '../src/backup.ts'
import { createLetters } from '../src/deliveries/letters.ts'
import { createOutbox, enqueueIn, type NewDelivery } from '../src/deliveries/outbox.ts'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { createSealer } from '../src/facts/sealer.ts'
import { sealedAfter } from '../src/facts/trail.ts'
import { createWebhooks } from '../src/webhooks.ts'
import type { Stage } from './contract.ts'
import { createHands, digestOf, START } from './hands.ts'

const correlation = 'c' as CorrelationId

const message = (id: string, more: Partial<NewDelivery> = {}): NewDelivery => ({
  id,
  to: 'https://a.example/in',
  body: '{"a":"ü"}',
  about: { kind: 'work', id: 'w1' },
  correlation,
  ...more,
})
const at = (host: string) => ({ to: `https://${host}/in` })
const idsOf = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id)

let claims = 0
const wanted = (most = 10, except: readonly string[] = []) => {
  claims += 1
  return { claim: `claim-${claims}`, most, except }
}

function tools(database: Database) {
  const hands = createHands()
  const { clock, setNow } = hands
  return {
    clock,
    setNow,
    outbox: createOutbox({ database, clock }),
    letters: createLetters({ database, clock }),
    alerts: createAlertLog({ database, clock }),
    webhooks: createWebhooks({ database, clock }),
  }
}

async function factsIn(database: Database): Promise<readonly string[]> {
  await createSealer({ database, digestOf }).seal()
  const sealed = await sealedAfter(database, 0)
  return sealed.map(({ fact }) => (fact as { type: string }).type)
}

export function deliveriesContract({ engine, fresh, empty }: Stage): void {
  describe('the outbox', () => {
    test('P-8 a message is claimed whole, once, and is gone when it is delivered', async () => {
      const { database } = await fresh()
      const { outbox } = tools(database)
      const full = message('m', { owner: 'o' as OwnerId, traceparent: '00-1-2-01' })
      assert.deepEqual(await outbox.enqueue(full), { ok: true })
      await outbox.enqueue({ ...full, body: 'again' })
      const [claimed, ...more] = await outbox.claim(wanted())
      assert.ok(claimed)
      assert.deepEqual(more, [])
      const { host, attempts, enqueuedAt, claim: _, ...same } = claimed
      assert.deepEqual(same, full)
      assert.deepEqual([host, attempts, enqueuedAt], ['a.example', 1, START])
      assert.deepEqual(await outbox.claim(wanted()), [])
      await outbox.record(claimed, { type: 'message_delivered', at: START, status: 204 })
      assert.deepEqual(await database.query('SELECT FROM deliveries', []), [])
    })

    test('P-8 a failed attempt waits for its time, and its last one makes a letter', async () => {
      const { database } = await fresh()
      const { outbox, letters, setNow } = tools(database)
      await outbox.enqueue(message('m'))
      const [first] = await outbox.claim(wanted())
      assert.ok(first)
      const failed = { at: START, trouble: 'timeout' } as const
      await outbox.record(first, { type: 'attempt_failed', ...failed, nextAt: START + 1_000 })
      setNow(START + 999)
      assert.deepEqual(await outbox.claim(wanted()), [])
      setNow(START + 1_000)
      const [second] = await outbox.claim(wanted())
      assert.equal(second?.attempts, 2)
      assert.ok(second)
      const died = { at: START + 1_001, trouble: 'gone', status: 410 } as const
      await outbox.record(second, { type: 'delivery_given_up', ...died })
      setNow(START + LIMITS.letterMs)
      assert.deepEqual(await outbox.claim(wanted()), [])
      const letter = await letters.read('m')
      const { diedAt, trouble, status, attempts, body } = letter ?? {}
      assert.deepEqual([diedAt, trouble, status], [START + 1_001, 'gone', 410])
      assert.deepEqual([attempts, body], [2, '{"a":"ü"}'])
    })

    test('P-8 a claim of a killed hub comes back, and the late one changes nothing', async () => {
      const { database } = await fresh()
      const { outbox, setNow } = tools(database)
      await outbox.enqueue(message('m'))
      const [lost] = await outbox.claim(wanted())
      assert.ok(lost)
      setNow(START + LIMITS.deliveryClaimMs - 1)
      assert.deepEqual(await outbox.claim(wanted()), [])
      setNow(START + LIMITS.deliveryClaimMs)
      const [again] = await outbox.claim(wanted())
      assert.deepEqual([again?.id, again?.attempts], ['m', 2])
      assert.ok(again)
      await outbox.record(lost, { type: 'message_delivered', at: START, status: 200 })
      await outbox.giveBack(lost)
      assert.deepEqual(await outbox.claim(wanted()), [])
      await outbox.giveBack(again)
      const [third] = await outbox.claim(wanted())
      assert.deepEqual([third?.id, third?.attempts], ['m', 2])
    })

    test('hosts take turns, those with enough to do are left out', async () => {
      const { database } = await fresh()
      const { outbox, setNow } = tools(database)
      for (const [place, host] of ['a', 'a', 'b', 'c'].entries()) {
        setNow(START + place)
        await outbox.enqueue(message(`${host}${place}`, at(host)))
      }
      setNow(START + 10)
      const claim = async (...args: Parameters<typeof wanted>) =>
        idsOf(await outbox.claim(wanted(...args))).sort()
      assert.deepEqual(await claim(2), ['a0', 'b2'])
      assert.deepEqual(await claim(10, ['a']), ['c3'])
      assert.deepEqual(await claim(), ['a1'])
    })

    test('several hubs share the work, and no message is claimed twice', async () => {
      const { database, address } = await fresh()
      const second = engine.name === 'PostgreSQL' ? await openDatabase(address) : undefined
      const hubs = [tools(database).outbox, tools(second ?? database).outbox]
      const count = 40
      for (let each = 0; each < count; each += 1) {
        await hubs[0]?.enqueue(message(`m${each}`, at(`h${each % 8}`)))
      }
      const seen: string[] = []
      for (let round = 0; round < count && seen.length < count; round += 1) {
        const taken = await Promise.all(hubs.map((hub) => hub.claim(wanted(4))))
        seen.push(...taken.flatMap(idsOf))
      }
      assert.deepEqual([seen.length, new Set(seen).size], [count, count])
      await second?.close()
    })

    test('is as long as it may be, for one address, and no longer', async () => {
      const { database } = await fresh()
      const { outbox } = tools(database)
      await database.query(
        `INSERT INTO deliveries (id, target, host, body, about_kind, about_id, correlation,
           enqueued_at, due_at)
         SELECT 'n' || n, $2, 'h', '{}', 'k', 'i', 'c', 0, 0 FROM generate_series(1, $1) AS n`,
        [LIMITS.deliveriesPerTarget, at('h').to],
      )
      const full = await outbox.enqueue(message('m', at('h')))
      assert.deepEqual(full.ok || full.refusal, 'queue_full')
      assert.deepEqual(await outbox.enqueue(message('m', at('other'))), { ok: true })
      const large = await outbox.enqueue(message('l', { body: 'ü'.repeat(LIMITS.bodyBytes) }))
      assert.deepEqual(large.ok || large.refusal, 'message_oversized')
    })

    test('a message is there with what caused it, or not at all', async () => {
      const { database } = await fresh()
      const failing = database.transaction(async (tx) => {
        await enqueueIn(tx, message('m'), { now: START })
        throw new Error('no')
      })
      await assert.rejects(failing, /no/)
      assert.deepEqual(await database.query('SELECT FROM deliveries', []), [])
    })
  })

  test('a backup holds what waits, what was given up, what stands and who is told', async () => {
    const { database } = await fresh()
    const { alerts, outbox, webhooks } = tools(database)
    await outbox.enqueue(message('waits', { owner: 'o' as OwnerId }))
    const [claimed] = await outbox.claim(wanted())
    assert.ok(claimed)
    await outbox.record(claimed, { type: 'delivery_given_up', at: START, trouble: 'tls' })
    await outbox.enqueue(message('claimed', at('b')))
    await outbox.claim(wanted())
    const kinds = ['database_away'] as const
    await webhooks.make({ id: 'w', url: 'https://w.example/', kinds }, correlation)
    const sighted = { raisedAt: START, seenAt: START, count: 1, words: 'so' }
    await alerts.uphold({ id: 'a', kind: 'books_stalled', subject: 'hub', ...sighted }, () => [])
    const linesOf = async (of: Database) => {
      const lines: string[] = []
      await backup(of, (line) => void lines.push(line))
      return lines
    }
    const lines = await linesOf(database)
    for (const table of ['deliveries', 'alerts', 'webhooks']) {
      assert.ok(
        lines.some((line) => line.startsWith(`{"table":"${table}"`)),
        table,
      )
    }
    const copy = await empty()
    await restore(copy, lines, { now: START })
    assert.deepEqual(await linesOf(copy), lines)
    assert.equal((await tools(copy).letters.read('waits'))?.trouble, 'tls')
  })

  describe('dead letters', () => {
    const owner = (name: string) => name as OwnerId
    async function filled(count: number) {
      const { database } = await fresh()
      const made = tools(database)
      for (let each = 0; each < count; each += 1) {
        const mine = { owner: owner(`o${each % 2}`), about: { kind: `k${each % 3}`, id: 'i' } }
        await made.outbox.enqueue(message(`m${each}`, { ...mine, ...at(`h${each}`) }))
      }
      for (const claimed of await made.outbox.claim(wanted(count))) {
        const when = START + Number(claimed.id.slice(1)) * 10
        const fact = { type: 'delivery_given_up', at: when, trouble: 'network' } as const
        await made.outbox.record(claimed, fact)
      }
      return { database, ...made }
    }

    test('P-8 are listed, the latest first, of one owner, of one kind, page by page', async () => {
      const { letters } = await filled(6)
      const find = async (query: Omit<Parameters<typeof letters.find>[0], 'limit'>, limit = 10) =>
        idsOf(await letters.find({ ...query, limit }))
      assert.deepEqual(await find({}), ['m5', 'm4', 'm3', 'm2', 'm1', 'm0'])
      assert.deepEqual(await find({ owner: owner('o1') }), ['m5', 'm3', 'm1'])
      assert.deepEqual(await find({ about: 'k0' }), ['m3', 'm0'])
      const after = { diedAt: START + 40, id: 'm4' }
      assert.deepEqual(await find({ after }, 2), ['m3', 'm2'])
      assert.equal(await letters.read('nobody'), undefined)
    })

    test('P-8 redelivered by hand, one is no letter until that fails', async () => {
      const { letters, outbox } = await filled(2)
      const tried = await Promise.all([
        outbox.claimLetter('m0', 'x'),
        outbox.claimLetter('m0', 'y'),
      ])
      const [claimed] = tried.flatMap((each) => (typeof each === 'object' ? each : []))
      assert.ok(claimed)
      assert.equal(tried.filter((each) => each === 'waiting').length, 1)
      assert.deepEqual([claimed.id, claimed.attempts], ['m0', 2])
      assert.equal(await letters.read('m0'), undefined)
      assert.equal(await letters.remove('m0'), false)
      const fact = { type: 'delivery_given_up', at: START, trouble: 'tls' } as const
      await outbox.record(claimed, fact)
      assert.equal((await letters.read('m0'))?.trouble, 'tls')
      assert.equal(await letters.remove('m0'), true)
      assert.equal(await letters.remove('m0'), false)
      assert.equal(await outbox.claimLetter('m0', 'z'), undefined)
    })

    test('are kept for their time and in their number, the latest', async () => {
      const { database, letters, setNow } = await filled(3)
      await database.query(
        `INSERT INTO deliveries (id, target, host, body, about_kind, about_id, correlation,
           enqueued_at, due_at, owner, died_at, trouble)
         SELECT 'n' || n, 't', 'h', '{}', 'k', 'i', 'c', 0, 0, 'many', $1::bigint + n, 'network'
         FROM generate_series(1, $2) AS n`,
        [START, LIMITS.lettersPerOwner + 2],
      )
      assert.equal(await letters.purge(), 2)
      assert.equal(await letters.read('n2'), undefined)
      assert.ok(await letters.read('n3'))
      setNow(START + LIMITS.letterMs + 11)
      await letters.purge()
      assert.deepEqual(
        [await letters.read('m1'), (await letters.read('m2'))?.id],
        [undefined, 'm2'],
      )
    })
  })

  describe('alerts', () => {
    const sighted = (id: string, more: Partial<Sighted> = {}): Sighted & { id: string } => ({
      id,
      kind: 'books_stalled',
      subject: 'hub',
      words: `said by ${id}`,
      raisedAt: START,
      seenAt: START,
      count: 1,
      ...more,
    })
    const nobody: Notices = () => []
    const told =
      (seen: string[]): Notices =>
      (alert, change) => {
        seen.push(`${alert.id} ${change}`)
        return [message(`${alert.id}-${change}`)]
      }

    test('one stands for all hubs, and is raised, told and cleared once', async () => {
      const { database } = await fresh()
      const { alerts, outbox, setNow } = tools(database)
      const seen: string[] = []
      const raised = await Promise.all(
        ['x', 'y', 'z'].map((id) => alerts.uphold(sighted(id), told(seen))),
      )
      assert.equal(new Set(idsOf(raised)).size, 1)
      const id = raised[0]?.id
      const last = await alerts.uphold(sighted('w', { seenAt: START + 30_000 }), told(seen))
      assert.deepEqual([last.id, last.count, last.words], [id, 4, 'said by w'])

      setNow(START + 30_000 + LIMITS.alertLeaseMs)
      assert.deepEqual(await alerts.clearLapsed(told(seen)), [])
      setNow(START + 30_001 + LIMITS.alertLeaseMs)
      const cleared = await Promise.all([
        alerts.clearLapsed(told(seen)),
        alerts.clearLapsed(told(seen)),
      ])
      assert.deepEqual(idsOf(cleared.flat()), [id])
      assert.deepEqual(seen, [`${id} raised`, `${id} cleared`])
      assert.deepEqual(await factsIn(database), ['alert_raised', 'alert_cleared'])
      assert.equal((await outbox.claim(wanted())).length, 1)
      assert.equal((await outbox.claim(wanted())).length, 1)

      // By a hub that had said so before, and has nothing new to count.
      const next = await alerts.uphold(sighted('v', { count: 0 }), nobody)
      assert.equal(next.count, 1)
      assert.equal(next.id, 'v')
    })

    test('what stands is listed, and what is over if it is asked for', async () => {
      const { database } = await fresh()
      const { alerts, setNow } = tools(database)
      const list = async (all: boolean, more: object = {}) =>
        idsOf(await alerts.find({ all, limit: 10, ...more }))
      await alerts.uphold(sighted('a'), nobody)
      setNow(START + 2 * LIMITS.alertLeaseMs)
      await alerts.clearLapsed(nobody)
      const later = { raisedAt: START + 5, seenAt: START + 2 * LIMITS.alertLeaseMs }
      await alerts.uphold(sighted('b', later), nobody)
      await alerts.uphold(sighted('c', { ...later, kind: 'database_away' }), nobody)
      assert.deepEqual(await list(false), ['c', 'b'])
      assert.deepEqual(await list(true), ['c', 'b', 'a'])
      assert.deepEqual(await list(true, { kind: 'books_stalled' }), ['b', 'a'])
      assert.deepEqual(await list(true, { after: { raisedAt: START + 5, id: 'b' } }), ['a'])
    })

    test('one is acknowledged once, by the first', async () => {
      const { database } = await fresh()
      const { alerts } = tools(database)
      await alerts.uphold(sighted('a'), nobody)
      const by = (who: string): Promise<Alert | undefined> =>
        alerts.acknowledge({ id: 'a', correlation }, who)
      assert.equal((await by('ann'))?.acknowledgedBy, 'ann')
      assert.equal((await by('bob'))?.acknowledgedBy, 'ann')
      assert.equal(await alerts.acknowledge({ id: 'b', correlation }, 'ann'), undefined)
      assert.deepEqual(await factsIn(database), ['alert_raised', 'alert_acknowledged'])
    })

    test('the history is kept for its time; what stands is kept anyway', async () => {
      const { database } = await fresh()
      const { alerts, setNow } = tools(database)
      await alerts.uphold(sighted('a'), nobody)
      setNow(START + 2 * LIMITS.alertLeaseMs)
      await alerts.clearLapsed(nobody)
      await alerts.uphold(sighted('b'), nobody)
      assert.equal(await alerts.purge(), 0)
      setNow(START + 2 * LIMITS.alertLeaseMs + LIMITS.alertMs + 1)
      assert.equal(await alerts.purge(), 1)
      assert.deepEqual(idsOf(await alerts.find({ all: true, limit: 10 })), ['b'])
    })
  })

  describe('webhooks', () => {
    test('an address has one, and there are only so many, however many ask at once', async () => {
      const { database } = await fresh()
      const { outbox, webhooks } = tools(database)
      const make = (id: string) => webhooks.make({ id, url: `https://${id}.example/` }, correlation)
      const made = await Promise.all(
        Array.from({ length: LIMITS.webhooks + 5 }, (_, each) => make(`w${each}`)),
      )
      assert.equal(made.filter(({ ok }) => ok).length, LIMITS.webhooks)
      const [first] = await webhooks.list()
      assert.ok(first)
      const kinds = ['database_away'] as const
      const again = await webhooks.make({ id: 'new', url: first.url, kinds }, correlation)
      assert.deepEqual(again, { ok: true, webhook: { ...first, kinds } })
      const about = { kind: 'webhook', id: first.id }
      await outbox.enqueue(message('waits', { about }))
      await outbox.enqueue(message('other', { about: { ...about, id: 'other' } }))
      assert.equal(await webhooks.remove(first.id, correlation), true)
      assert.deepEqual(await database.query('SELECT id FROM deliveries', []), [{ id: 'other' }])
      assert.equal(await webhooks.remove(first.id, correlation), false)
      assert.equal((await webhooks.list()).length, LIMITS.webhooks - 1)
      assert.equal((await make('room')).ok, true)
      const facts = await database.query<{ fact: string }>('SELECT fact::text FROM facts', [])
      assert.ok(facts.every(({ fact }) => !fact.includes('https:')))
    })
  })
}
