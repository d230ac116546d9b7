/** The Chorus contract on a real PostgreSQL. */
import { startPostgres } from '@chimera/store/testing/postgres-server'
import { chorusContract } from './chorus-contract.ts'
import { runHub } from './running.ts'

chorusContract(async () => {
  const server = await startPostgres()
  const database = await server.newAddress()
  return { start: (seed) => runHub({ database, seed }), end: server.stop }
})
