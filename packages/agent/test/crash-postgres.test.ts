/** A hire that is cut at every step, on PostgreSQL: the hub's database and the agent's. */
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll } from 'vitest'
import { crashContract, cutsOf } from './contract-crash.ts'

let server: PostgresServer | undefined
async function newAddress(): Promise<string> {
  server ??= await startPostgres()
  return server.newAddress()
}
afterAll(() => server?.stop())

crashContract({
  name: 'on PostgreSQL',
  hub: async () => ({ database: await newAddress() }),
  database: newAddress,
  cuts: cutsOf('after', 'before'),
})
