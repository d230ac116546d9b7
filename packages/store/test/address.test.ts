/** What an address leads to, and what is said of one that leads nowhere. */
import assert from 'node:assert/strict'
import { afterAll, describe, test } from 'vitest'
import { openDatabase } from '../src/engine/open.ts'
import { hasCode } from '../src/failure.ts'
import { createDirectories } from './embedded.ts'

const directories = createDirectories()
afterAll(directories.removeAll)

describe('addresses', { timeout: 60_000 }, () => {
  test('an unknown kind is refused, and its password not repeated', async () => {
    for (const address of ['', 'pglite:', 'mysql://root:secret@host/db', 'secret']) {
      const opened = openDatabase(address)
      await assert.rejects(opened, (error) => {
        assert.ok(hasCode(error, 'address_malformed'))
        return !/root|@host/.test(error.detail)
      })
    }
  })

  test('a server that is not there is a failure, and soon', async () => {
    const opened = openDatabase('postgres://a:b@127.0.0.1:1/none', { connectMs: 500 })
    await assert.rejects(opened, (error) => hasCode(error, 'database_unreachable'))
  })

  test('in memory everything works, and nothing stays', async () => {
    const database = await openDatabase('pglite:memory')
    const [row] = await database.query('SELECT 1 AS n')
    assert.deepEqual({ ...row }, { n: 1 })
    await database.close()
  })

  test('a data directory is opened by one at a time, and what is none by nobody', async () => {
    const directory = await directories.newDirectory()
    const first = await openDatabase(`pglite:${directory}`)
    await assert.rejects(openDatabase(`pglite:${directory}`), (error) => {
      assert.ok(hasCode(error, 'directory_locked'))
      return error.detail.includes(`process ${process.pid}`)
    })
    await first.close()
    const again = await openDatabase(`pglite:${directory}`)
    await again.close()
    const rubbish = openDatabase('pglite:/dev/null')
    await assert.rejects(rubbish, (error) => hasCode(error, 'directory_unusable'))
  })
})
