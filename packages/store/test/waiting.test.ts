/** What only a server can do to a caller: let it wait. No wait is without an end. */
import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { openDatabase } from '../src/engine/open.ts'
import { hasCode } from '../src/failure.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

describe('a PostgreSQL that does not answer in time', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  }, 120_000)
  afterAll(() => server.stop(), 60_000)

  test('a statement ends at its limit, and so does the wait for a lock', async () => {
    const limits = { statementMs: 200, connections: 2 }
    const database = await openDatabase(await server.newAddress(), limits)
    await database.query('CREATE TABLE held (id int)')
    const cancelled = (error: unknown) => hasCode(error, 'statement_failed')
    await assert.rejects(database.query('SELECT pg_sleep(60)'), cancelled)
    await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE held')
      await assert.rejects(database.query('SELECT * FROM held'), cancelled)
    })
    assert.deepEqual(await database.query('SELECT * FROM held'), [])
    await database.close()
  })
})
