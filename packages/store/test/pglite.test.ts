/** The contract on the embedded database. */
import type { Engine } from './contract.ts'
import { storeContract } from './contract.ts'
import { createDirectories } from './embedded.ts'

const directories = createDirectories()

const engine: Engine = {
  name: 'PGlite',
  start: async () => undefined,
  stop: directories.removeAll,
  newAddress: async () => `pglite:${await directories.newDirectory()}`,
}

storeContract(engine)
