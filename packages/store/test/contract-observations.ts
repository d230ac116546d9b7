/**
 * Observations: the latest of each, whoever writes at once, bounded and forgotten by whom they are
 * about.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { hasCode } from '../src/failure.ts'
import { createObservations, type Observation } from '../src/observations.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'

const said = (subject: string, at: number, more: Partial<Observation> = {}): Observation => ({
  kind: 'status',
  subject,
  about: 'all',
  at: START + at,
  heardAt: START + at,
  body: { at, text: 'ü "\n' },
  ...more,
})

const opened = (database: Database) => createObservations({ database, ...createHands() })

async function all(database: Database, kind: string): Promise<readonly Observation[]> {
  const found: Observation[] = []
  for await (const page of opened(database).loadAll(kind)) found.push(...page)
  return found
}

export function observationsContract({ fresh, shared }: Stage): void {
  describe('observations', () => {
    test('A3 are read back as they were put, by kind, the longest unheard first', async () => {
      const { database } = await fresh()
      const observations = opened(database)
      const [one, two, other] = [said('a', 2), said('b', 1), said('a', 9, { kind: 'identity' })]
      assert.deepEqual(await Promise.all([one, two, other].map(observations.put)), [
        one,
        two,
        other,
      ])
      assert.deepEqual(await all(database, 'status'), [two, one])
      assert.deepEqual(await all(database, 'identity'), [other])
      const named = await observations.load([other, { kind: 'status', subject: 'nobody' }, two])
      assert.deepEqual(new Set(named), new Set([other, two]))
      assert.deepEqual(await observations.load([]), [])
    })

    // biome-ignore format: a table is read by its columns
    const rows: [rule: string, second: Partial<Observation>, wins: boolean][] = [
      ['a newer one takes its place',                       { at: START + 6 },                         true],
      ['an older one does not, though it was heard later',  { at: START + 4, heardAt: START + 9 },     false],
      ['of two with one time the one heard later is kept',  { at: START + 5, heardAt: START + 6 },     true],
      ['and the one heard earlier is not',                  { at: START + 5, heardAt: START + 4 },     false],
      ['one about somebody else does not',                  { at: START + 6, about: 'other' },         false],
    ]
    for (const [rule, second, wins] of rows) {
      test(`A4 ${rule}, and its sender is told what is kept`, async () => {
        const subject = `row ${rule}`
        const [here, there] = [opened(shared()), opened(shared())]
        const first = said(subject, 5)
        const next = said(subject, 5, { ...second, body: 'next' })
        assert.deepEqual(await here.put(first), first)
        assert.deepEqual(await there.put(next), wins ? next : first)
      })
    }

    test('A4 in any order, by two writers at once, the newest is what is left', async () => {
      const [here, there] = [opened(shared()), opened(shared())]
      let run = 0
      const times = fc.array(fc.tuple(fc.nat(1), fc.nat(2), fc.nat(9)), { minLength: 1 })
      await fc.assert(
        fc.asyncProperty(times, async (posts) => {
          run += 1
          const kind = `run ${run}`
          const puts = posts.map(([writer, subject, at], place) => {
            const post = said(`s${subject}`, at, { kind, heardAt: START, body: place })
            return writer === 0 ? here.put(post) : there.put(post)
          })
          const answers = await Promise.all(puts)
          for (const [place, [, , at]] of posts.entries()) {
            assert.ok((answers[place]?.at ?? 0) >= START + at, 'acknowledged is kept')
          }
          for (const kept of await all(shared(), kind)) {
            const own = posts.filter(([, subject]) => `s${subject}` === kept.subject)
            assert.equal(kept.at, START + Math.max(...own.map(([, , at]) => at)))
          }
        }),
        { numRuns: 15 },
      )
    })

    test('A5 so many are kept about each, those heard last, and all go at once', async () => {
      const { database } = await fresh()
      const observations = opened(database)
      const of = (about: string, at: number) => said(`${about}${at}`, at, { about })
      await Promise.all(
        [1, 2, 3, 4].flatMap((at) => [of('a', at), of('b', at)].map(observations.put)),
      )
      await observations.put(said('x', 1, { kind: 'identity', about: 'a' }))
      assert.equal(await observations.prune('status', 2), 4)
      assert.equal(await observations.prune('status', 2), 0)
      const left = async (kind: string) => (await all(database, kind)).map(({ subject }) => subject)
      assert.deepEqual(await left('status'), ['a3', 'b3', 'a4', 'b4'])
      await observations.forget('a')
      assert.deepEqual([await left('status'), await left('identity')], [['b3', 'b4'], []])
    })

    test('500 at once are all kept, and one that cannot be is refused alone', async () => {
      const { database } = await fresh()
      const observations = opened(database)
      const many = Array.from({ length: 500 }, (_, at) => observations.put(said(`m${at}`, 7)))
      const bad = observations.put(said('bad', 1, { body: 'nul \u0000' }))
      await assert.rejects(bad, (error) => hasCode(error, 'fact_unstorable'))
      const wrong = observations.put(said('wrong', 1, { at: 0.5 }))
      await assert.rejects(wrong, (error) => hasCode(error, 'statement_failed'))
      await Promise.all(many)
      assert.equal((await all(database, 'status')).length, 500)
    })
  })
}
