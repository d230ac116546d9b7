/**
 * The port itself: values, transactions, roles, and what the database refuses to the application.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { openDatabase } from '../src/engine/open.ts'
import { hasCode } from '../src/failure.ts'
import type { Stage } from './contract.ts'

const denied = (error: unknown) => hasCode(error, 'statement_failed') && error.sqlState === '42501'

export function engineContract({ engine, shared }: Stage): void {
  describe('the port', () => {
    test('numbers, truth, text, JSON and nothing come back as they went', async () => {
      const [row] = await shared().query(
        'SELECT $1::bigint AS n, $2::boolean AS b, $3::text AS t, $4::json AS j, $5::text AS z',
        [9_007_199_254_740_991, true, 'ü\n"', '{"a":[1,null]}', null],
      )
      const j = { a: [1, null] }
      assert.deepEqual({ ...row }, { n: 9_007_199_254_740_991, b: true, t: 'ü\n"', j, z: null })
    })

    test('a number that is not exact is a failure and not another number', async () => {
      const asked = shared().query('SELECT $1::bigint + 1 AS n', ['9007199254740991'])
      await assert.rejects(asked, (error) => hasCode(error, 'statement_failed'))
    })

    test('of many statements at once each is answered, and a wrong one is alone', async () => {
      const asked = Array.from({ length: 300 }, async (_, at) => {
        if (at === 150) return shared().query('SELECT 1 / $1::bigint AS n', [0])
        return shared().query<{ n: number }>('SELECT $1::bigint AS n', [at])
      })
      const answers = await Promise.allSettled(asked)
      for (const [at, each] of answers.entries()) {
        if (at === 150) assert.equal(each.status, 'rejected')
        else assert.deepEqual(each.status === 'fulfilled' && each.value[0]?.n, at)
      }
    })

    test('a transaction that throws has not happened', async () => {
      const trouble = new Error('trouble')
      const asked = shared().transaction(async (tx) => {
        await tx.query('INSERT INTO accounts VALUES ($1, 5)', ['thrown'])
        throw trouble
      })
      await assert.rejects(asked, trouble)
      const rows = await shared().query('SELECT 1 FROM accounts WHERE owner = $1', ['thrown'])
      assert.equal(rows.length, 0)
    })

    test('an error that was passed over does not end in a commit', async () => {
      const asked = shared().transaction(async (tx) => {
        await tx.query('INSERT INTO accounts VALUES ($1, 5)', ['passed-over'])
        await tx.query('SELECT 1 / $1::bigint', [0]).catch(() => undefined)
      })
      await assert.rejects(asked, (error) => hasCode(error, 'statement_failed'))
      const rows = await shared().query('SELECT 1 FROM accounts WHERE owner = $1', ['passed-over'])
      assert.equal(rows.length, 0)
    })

    test('when one of several statements fails, those behind it fail for its reason', async () => {
      const failures: unknown[] = []
      const asked = shared().transaction(async (tx) => {
        const statements = [1, 0, 2].map((by) =>
          tx.query('SELECT 1 / $1::bigint', [by]).catch((error: unknown) => failures.push(error)),
        )
        await Promise.all(statements)
      })
      await assert.rejects(asked, (error) => hasCode(error, 'statement_failed'))
      assert.deepEqual(
        failures.map((error) => hasCode(error, 'statement_failed') && error.sqlState),
        ['22012', '22012'],
      )
      assert.equal((await shared().query('SELECT 1', [])).length, 1, 'the connection goes on')
    })

    test('a statement that fails at first, and now and then, answers whenever it can', async () => {
      const sql = 'SELECT 1000 / $1::bigint AS n'
      for (let at = 0; at < 250; at += 1) {
        const asked = shared().query<{ n: number }>(sql, [at % 50])
        if (at % 50 === 0) await assert.rejects(asked, (e) => hasCode(e, 'statement_failed'))
        else assert.equal((await asked)[0]?.n, Math.floor(1_000 / (at % 50)))
      }
    })

    // On a server a step of the schema ends what was prepared: hubs are started anew for it.
    if (engine.name === 'PGlite')
      test('a statement answers with what its table has become', async () => {
        const rows = await shared().transaction(
          async (tx) => {
            await tx.query('CREATE TEMP TABLE grown (a bigint) ON COMMIT DROP')
            await tx.query('INSERT INTO grown VALUES ($1)', [1])
            const before = await tx.query('SELECT * FROM grown WHERE a = $1', [1])
            await tx.query('ALTER TABLE grown ADD COLUMN b bigint DEFAULT 2')
            return [...before, ...(await tx.query('SELECT * FROM grown WHERE a = $1', [1]))]
          },
          { role: 'owner' },
        )
        assert.deepEqual(rows, [{ a: 1 }, { a: 1, b: 2 }])
      })

    test('after close nothing is asked any more', async () => {
      const database = await openDatabase(await engine.newAddress())
      await database.close()
      await assert.rejects(database.query('SELECT 1'), (e) => hasCode(e, 'database_closed'))
    })
  })

  describe('the application may only append', () => {
    // biome-ignore format: a table is read by its columns
    const rows = [
      ['AV-10', 'presence_events', 'UPDATE presence_events SET state = state'],
      ['AV-10', 'presence_events', 'DELETE FROM presence_events'],
      ['AV-10', 'presence_events', 'TRUNCATE presence_events'],
      ['P-10',  'facts',           'UPDATE facts SET correlation = correlation'],
      ['P-10',  'facts',           'DELETE FROM facts'],
      ['P-10',  'facts',           'TRUNCATE facts, seals'],
      ['P-10',  'seals',           'UPDATE seals SET hash = prev'],
      ['P-10',  'seals',           'DELETE FROM seals'],
    ] as const

    for (const [id, table, sql] of rows) {
      test(`${id} ${sql.slice(0, 8).trim()} on ${table} is refused, to the owner too`, async () => {
        await putOneRow(shared())
        await assert.rejects(shared().query(sql), denied)
        const byOwner = shared().transaction((tx) => tx.query(sql), { role: 'owner' })
        await assert.rejects(byOwner, denied)
      })
    }

    test('P-10 nor may it disarm the trigger or drop the table', async () => {
      const sql = 'ALTER TABLE facts DISABLE TRIGGER ALL'
      await assert.rejects(shared().query(sql), denied)
      await assert.rejects(shared().query('DROP TABLE facts CASCADE'), denied)
    })

    test('AV-10 nor drop a day', async () => {
      await assert.rejects(shared().query('SELECT chimera_presence_drop($1)', [0]), denied)
    })
  })
}

/** A trigger for each row needs a row. */
async function putOneRow(database: ReturnType<Stage['shared']>): Promise<void> {
  await database.transaction(async (tx) => {
    const [fact] = await tx.query<{ id: number }>(
      `INSERT INTO facts (fact, recorded_at, correlation)
       SELECT $1::json, 0, 'row' WHERE NOT EXISTS (SELECT FROM seals) RETURNING id`,
      ['{}'],
    )
    if (fact !== undefined) {
      await tx.query(`INSERT INTO seals VALUES (1, 'p', 'h', $1)`, [fact.id])
    }
    await tx.query('SELECT chimera_presence_day($1)', [0])
    await tx.query(
      `INSERT INTO presence_events SELECT 'e', 'a', 'i', 'available', $1::json, 1, 1, 0, 0, 't',
       0, 0, 0, 'verified', 's', 'r' WHERE NOT EXISTS (SELECT FROM presence_events)`,
      ['[]'],
    )
  })
}
