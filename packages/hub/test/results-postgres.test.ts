/** Results and work by its key, on a real PostgreSQL. */
import { startPostgres } from '@chimera/store/testing/postgres-server'
import { resultsContract } from './results-contract.ts'
import { runHub } from './running.ts'
import { workContract } from './work-contract.ts'

async function engine() {
  const server = await startPostgres()
  const database = await server.newAddress()
  const wanted = { database, auth: 'required', data: ':memory:' } as const
  return { start: (seed: number) => runHub({ ...wanted, seed }), end: server.stop }
}

resultsContract(engine)
workContract(engine)
