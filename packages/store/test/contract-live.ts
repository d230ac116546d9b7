/** Facts and posts as one sequence: the same however it is read, and no late commit skipped. */
import assert from 'node:assert/strict'
import type { CorrelationId } from '@chimera/domain/ids'
import { LIVE_BEGINNING, type LiveEntry, type LivePlace } from '@chimera/domain/live'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { appendFacts } from '../src/facts/append.ts'
import { createSealer } from '../src/facts/sealer.ts'
import { readLive, readSpan } from '../src/live.ts'
import { createPresenceLog } from '../src/presence.ts'
import type { Stage } from './contract.ts'
import { event } from './contract-presence.ts'
import { createHands, digestOf, START } from './hands.ts'

const HOUR_MS = 60 * 60 * 1_000

function createWriter(database: Database) {
  const hands = createHands()
  const log = createPresenceLog({ database, clock: hands.clock })
  const { seal } = createSealer({ database, digestOf })
  return {
    ...hands,
    log,
    post: (id: string) => log.append(event(id)),
    fact: async (name: string) => {
      const recorded = { fact: { type: 'tested', name }, recordedAt: 1 }
      await database.transaction((tx) =>
        appendFacts(tx, [{ ...recorded, correlation: 'c' as CorrelationId }]),
      )
      await seal()
    },
  }
}

const nameOf = ({ sealed, place }: LiveEntry) =>
  sealed === undefined ? place.event : (sealed.fact as { name: string }).name

async function readAll(database: Database, from: LivePlace, limit?: number, posts = true) {
  const all: LiveEntry[] = []
  for (let place = from; ; ) {
    const page = await readLive(database, place, { posts, ...(limit && { limit }) })
    all.push(...page.entries)
    if (page.entries.length === 0) return all
    place = page.through
  }
}

export function liveContract({ engine, fresh }: Stage): void {
  describe('facts and posts in one order', () => {
    test('P-7 AV-10 any page size and any cut give the same sequence', async () => {
      const { database } = await fresh()
      const { post, fact } = createWriter(database)
      for (let at = 0; at < 12; at += 1) {
        await (at % 3 === 0 ? fact(`f${at}`) : Promise.all([post(`p${at}a`), post(`p${at}b`)]))
      }
      const whole = await readAll(database, LIVE_BEGINNING)
      assert.equal(whole.length, 20)
      assert.deepEqual(whole.filter(({ post }) => !post).map(nameOf), ['f0', 'f3', 'f6', 'f9'])
      for (const limit of [1, 2, 3, 7]) {
        assert.deepEqual(await readAll(database, LIVE_BEGINNING, limit), whole, `by ${limit}`)
      }
      for (const [at, { place }] of whole.entries()) {
        assert.deepEqual(await readAll(database, place), whole.slice(at + 1), `cut at ${at}`)
      }
      const facts = await readAll(database, LIVE_BEGINNING, 2, false)
      assert.deepEqual(
        facts,
        whole.filter(({ post }) => !post),
        'without posts the places of facts are the same',
      )
      const { now } = await readSpan(database)
      assert.deepEqual(await readAll(database, now), [])
    })

    test('a post that is not believed is not told', async () => {
      const { database } = await fresh()
      const { log, post } = createWriter(database)
      await log.append({ ...event('bad'), verification: 'signature_invalid' })
      await post('good')
      assert.deepEqual((await readAll(database, LIVE_BEGINNING)).map(nameOf), ['good'])
    })

    test('a post of an earlier version, which knows no order, is told too', async () => {
      const { database } = await fresh()
      const { post } = createWriter(database)
      await post('new')
      await database.query(
        `INSERT INTO presence_events
         SELECT * FROM json_populate_recordset(NULL::presence_events, (
           SELECT json_agg(to_jsonb(old) - 'tx' || '{"event_id": "old"}')
           FROM presence_events AS old))`,
        [],
      )
      assert.deepEqual((await readAll(database, LIVE_BEGINNING)).map(nameOf), ['new', 'old'])
    })

    test('AV-10 what was dropped with its day is known', async () => {
      const { database } = await fresh()
      const { log, post, setNow } = createWriter(database)
      await post('e1')
      assert.equal((await readSpan(database)).droppedTx, -1)
      const [entry] = await readAll(database, LIVE_BEGINNING)
      setNow(START + 49 * HOUR_MS)
      assert.equal(await log.dropBefore(START + 25 * HOUR_MS), 1)
      assert.equal((await readSpan(database)).droppedTx, entry?.place.tx)
    })

    if (engine.name === 'PostgreSQL') lateCommit(fresh)
  })
}

/** The embedded database runs one transaction after another. */
function lateCommit(fresh: Stage['fresh']): void {
  test('P-7 AV-10 a late commit is waited for and not skipped', async () => {
    const { database } = await fresh()
    const { post, fact } = createWriter(database)
    await post('before')
    const [{ place } = { place: LIVE_BEGINNING }] = await readAll(database, LIVE_BEGINNING)
    let commit = () => {}
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    let written = () => {}
    const isWritten = new Promise<void>((resolve) => {
      written = resolve
    })
    const late = database.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO presence_events
         SELECT * FROM json_populate_recordset(NULL::presence_events, (
           SELECT json_agg(to_jsonb(old) - 'tx' || '{"event_id": "late"}')
           FROM presence_events AS old WHERE event_id = 'before'))`,
        [],
      )
      written()
      await held
    })
    await isWritten
    await post('after')
    await fact('fact')
    const waiting = await readLive(database, place, { posts: true })
    assert.deepEqual([waiting.entries, waiting.more], [[], true], 'there is more to come')
    commit()
    await late
    const names = (await readAll(database, waiting.through)).map(nameOf)
    assert.deepEqual(names, ['late', 'after', 'fact'])
  })
}
