/** The contract on a real PostgreSQL. */
import type { Engine } from './contract.ts'
import { storeContract } from './contract.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

let server: PostgresServer | undefined

const engine: Engine = {
  name: 'PostgreSQL',
  async start() {
    server = await startPostgres()
  },
  stop: async () => server?.stop(),
  async newAddress() {
    if (server === undefined) throw new Error('not started')
    return server.newAddress()
  },
}

storeContract(engine)
