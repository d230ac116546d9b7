/**
 * Remembered answers outside the ledger: work that is done once, whatever it is.
 */
import assert from 'node:assert/strict'
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { createAnswers } from '../src/answers.ts'
import { openDatabase } from '../src/engine/open.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'

const scope = (key: string) => ({
  requester: 'r',
  responder: 's',
  key: key as IdempotencyKey,
})
const digest = (text: string) => text as Digest

export function answersContract({ engine, shared, fresh }: Stage): void {
  describe('answers', () => {
    test('P-4 work under one key is done once, and other content is a conflict', async () => {
      const { database, address } = await fresh()
      const second = engine.name === 'PostgreSQL' ? await openDatabase(address) : undefined
      const all = [database, second ?? database].map((each) =>
        createAnswers({ database: each, ...createHands() }),
      )
      const tried = await Promise.all(
        Array.from({ length: 20 }, async (_, at) =>
          all[at % 2]?.once({
            scope: scope('k'),
            content: digest('c'),
            async work(tx) {
              await tx.query('INSERT INTO accounts VALUES ($1, 0)', [`once-${at}`])
              return { answer: { at } }
            },
          }),
        ),
      )
      assert.equal(tried.filter((each) => each?.kind === 'new').length, 1)
      assert.equal(new Set(tried.map((each) => JSON.stringify(each?.answer))).size, 1)
      assert.equal((await database.query('SELECT 1 FROM accounts', [])).length, 1)
      const found = await all[0]?.find(scope('k'), digest('other'))
      assert.deepEqual(found, { kind: 'conflict', refusal: 'key_conflict' })
      await second?.close()
    })

    test('P-4 work that fails leaves no answer behind', async () => {
      const answers = createAnswers({ database: shared(), ...createHands() })
      const ask = { scope: scope('failing'), content: digest('c') }
      const failing = answers.once({ ...ask, work: () => Promise.reject(new Error('no')) })
      await assert.rejects(failing, /no/)
      assert.deepEqual(await answers.find(ask.scope, ask.content), { kind: 'new' })
    })

    test('OC-12 an answer is forgotten at its time, and purged some at a time', async () => {
      const { database } = await fresh()
      const hands = createHands()
      const answers = createAnswers({ database, ...hands })
      for (const key of ['a', 'b', 'c', 'kept']) {
        const work = async () => ({ answer: key })
        await answers.once({ scope: scope(key), content: digest('d'), work })
      }
      for (const key of ['a', 'b', 'c']) await answers.forgetAt(scope(key), START + 10)
      const is = async (key: string) => (await answers.find(scope(key), digest('d'))).kind
      hands.setNow(START + 9)
      assert.equal(await is('a'), 'same')
      assert.equal(await answers.purge(), 0)
      hands.setNow(START + 10)
      assert.equal(await is('a'), 'new')
      assert.deepEqual([await answers.purge(2), await answers.purge(2)], [2, 1])
      assert.equal(await is('kept'), 'same')
    })
  })
}
