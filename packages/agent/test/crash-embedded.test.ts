/** A hire that is cut at every step, on the embedded database. */
import { createDirectories } from '@chimera/store/testing/embedded'
import { afterAll } from 'vitest'
import { crashContract, cutsOf } from './contract-crash.ts'

const directories = createDirectories()
afterAll(directories.removeAll)

crashContract({
  name: 'embedded',
  hub: async () => ({}),
  database: directories.newMigrated,
  cuts: cutsOf('before', 'after'),
})
