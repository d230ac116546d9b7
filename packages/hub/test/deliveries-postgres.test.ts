/** The deliveries contract on a real PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@chimera/store/testing/postgres-server'
import { deliveriesContract } from './deliveries-contract.ts'
import { runHub } from './running.ts'

deliveriesContract(async () => {
  const server = await startPostgres()
  const database = await server.newAddress()
  // The hub's key outlives a restart, as the database does.
  const data = mkdtempSync(join(tmpdir(), 'chimera-deliveries-'))
  return {
    start: (wanted) => runHub({ ...wanted, database, data }),
    end: async () => {
      await server.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
})
