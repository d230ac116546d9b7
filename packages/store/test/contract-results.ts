/** Results of work: one fact each, their content for a while, and what is owed until it is done. */
import assert from 'node:assert/strict'
import type {
  AgentId,
  CorrelationId,
  Digest,
  HoldId,
  OwnerId,
  TaskId,
  TransferId,
  WorkId,
} from '@chimera/domain/ids'
import type { EndReported, ResultRecorded } from '@chimera/domain/work/result'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { createLedger } from '../src/ledger/ledger.ts'
import { createResults, type KeptResult } from '../src/results.ts'
import { readHoldsFor, readWork } from '../src/work.ts'
import { asked, holdId, open, owner } from './books.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'

const agent = 'agent' as AgentId
const correlation = 'trace' as CorrelationId
const work = (name: string) => name as WorkId
const task = (name: string) => name as TaskId

function resultOf(name: string, more: Partial<KeptResult> = {}): KeptResult {
  const known = {
    agent,
    work: work(name),
    task: task(`t-${name}`),
    how: 'done' as const,
    correlation,
  }
  const report: EndReported = { type: 'work_reported', ...known, output: { 'é"': [1, null] } }
  return {
    ...known,
    owner: 'own' as OwnerId,
    requester: 'ann' as OwnerId,
    endedAt: START,
    recordedAt: START,
    content: `content-${name}` as Digest,
    output: `output-${name}` as Digest,
    transfer: `transfer-${name}` as TransferId,
    report,
    ...more,
  }
}
const factOf = ({ recordedAt: at, work, task }: KeptResult): ResultRecorded => ({
  type: 'result_recorded',
  at,
  agent,
  work,
  task,
  how: 'done',
  endedAt: at,
})
const factsOf = async (database: Database) => (await database.query('SELECT FROM facts', [])).length

export function resultsContract({ fresh }: Stage): void {
  describe('results of work', () => {
    test('OC-17 a result comes back as it was kept, with one fact in all', async () => {
      const { database } = await fresh()
      const results = createResults({ database })
      const result = resultOf('a', { settleAt: START, hold: 'h' as HoldId })
      const firsts = await Promise.all(
        Array.from({ length: 8 }, () => results.record(result, factOf(result))),
      )
      assert.equal(firsts.filter(Boolean).length, 1)
      assert.deepEqual(await results.find(result), result)
      assert.equal(await factsOf(database), 1)
      assert.equal(await results.find({ agent, work: work('none') }), undefined)
    })

    test('a fact that cannot be kept leaves no result behind', async () => {
      const { database } = await fresh()
      const results = createResults({ database })
      const result = resultOf('a')
      await assert.rejects(results.record(result, { ...factOf(result), task: task('\u0000') }))
      assert.equal(await results.find(result), undefined)
    })

    test('OC-23 pages, the latest first, and only those of one party', async () => {
      const { database } = await fresh()
      const results = createResults({ database })
      for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) {
        // Two at one moment, so that the name decides.
        const recordedAt = START + Math.floor(at / 2)
        const requester = (name === 'd' ? 'bea' : 'ann') as OwnerId
        const result = resultOf(name, { recordedAt, requester })
        await results.record(result, factOf(result))
      }
      const names = async (query: object) =>
        (await results.list({ agent, limit: 10, ...query })).map((each) => each.work)
      assert.deepEqual(await names({}), ['d', 'c', 'b', 'a'])
      assert.deepEqual(await names({ limit: 2 }), ['d', 'c'])
      const before = { recordedAt: START + 1, work: work('c') }
      assert.deepEqual(await names({ before }), ['b', 'a'])
      assert.deepEqual(await names({ party: owner('bea') }), ['d'])
      assert.deepEqual(await names({ party: owner('own') }), ['d', 'c', 'b', 'a'])
      assert.deepEqual(await names({ party: owner('eve') }), [])
      assert.deepEqual(await names({ task: 't-b' }), ['b'])
      assert.deepEqual(await names({ work: 'a' }), ['a'])
      assert.deepEqual(await names({ agent: 'other' }), [])
    })

    test('what is owed is found when its time has come, until it is done', async () => {
      const { database } = await fresh()
      const results = createResults({ database })
      const result = resultOf('a', { settleAt: START })
      await results.record(result, factOf(result))
      const owing = async (at: number) => (await results.unsettled(at, 10)).length
      assert.deepEqual([await owing(START - 1), await owing(START)], [0, 1])
      await results.owe(result, { hold: 'h' as HoldId, settleAt: START + 5 })
      assert.deepEqual([await owing(START + 4), await owing(START + 5)], [0, 1])
      await results.owe(result, {})
      assert.equal(await owing(START + 5), 0)
      const kept = await results.find(result)
      assert.deepEqual([kept?.hold, kept?.settleAt], ['h', undefined])
    })

    test('content is deleted by name or by age, and nothing else', async () => {
      const { database } = await fresh()
      const results = createResults({ database })
      const all = ['a', 'b', 'c'].map((name, at) => resultOf(name, { recordedAt: START + at }))
      for (const each of all) await results.record(each, factOf(each))
      assert.equal(await results.deleteContentBefore(START), 0)
      assert.equal(await results.deleteContentBefore(START + 1), 1)
      assert.equal(await results.deleteContentBefore(START + 1), 0)
      await results.deleteContent({ agent, work: work('b') })
      assert.deepEqual(
        (await results.list({ agent, limit: 10 })).map((each) => each.work),
        ['c'],
      )
      const { report: _, ...rest } = resultOf('a')
      assert.deepEqual(await results.find({ agent, work: work('a') }), rest)
      assert.equal(await factsOf(database), 3)
    })

    test('P-3 work is found by its key, for either side, each its own', async () => {
      const { database } = await fresh()
      const ledger = createLedger({ database, ...createHands() })
      for (const name of ['ann', 'bea', 'own']) await ledger.submit(asked(open(name, 1_000)))
      for (const payer of ['ann', 'bea']) {
        const { decision } = await ledger.submit(
          asked({
            type: 'hold_credits',
            hold: holdId(`h-${payer}`),
            payer: owner(payer),
            payee: owner('own'),
            agent,
            task: task('same'),
            amountCents: 5,
            lapsesAt: START + 10,
            by: owner(payer),
          }),
        )
        assert.ok(decision.ok)
      }
      const results = createResults({ database })
      const result = resultOf('w', { task: task('same') })
      await results.record(result, factOf(result))
      const found = async (key: string, party?: string) => {
        const { holds, results: kept } = await readWork(database, {
          task: task(key),
          ...(party !== undefined && { party: owner(party) }),
        })
        return [holds.map(({ id }) => id).sort(), kept.map((each) => each.work)]
      }
      assert.deepEqual(await found('same', 'ann'), [['h-ann'], ['w']])
      assert.deepEqual(await found('same', 'bea'), [['h-bea'], []])
      assert.deepEqual(await found('same', 'own'), [['h-ann', 'h-bea'], ['w']])
      assert.deepEqual(await found('same', 'eve'), [[], []])
      assert.deepEqual(await found('same'), [['h-ann', 'h-bea'], ['w']])
      assert.deepEqual(await found('w', 'ann'), [[], ['w']])
      const held = await readHoldsFor(database, agent, [task('other'), task('same')])
      assert.deepEqual(held.map(({ id }) => id).sort(), ['h-ann', 'h-bea'])
      assert.deepEqual(await readHoldsFor(database, 'x' as AgentId, [task('same')]), [])
    })
  })
}
