/** The deliveries contract on the embedded database. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deliveriesContract } from './deliveries-contract.ts'
import { runHub } from './running.ts'

deliveriesContract(async () => {
  const data = mkdtempSync(join(tmpdir(), 'chimera-deliveries-'))
  return {
    start: (wanted) => runHub({ ...wanted, data }),
    end: async () => rmSync(data, { recursive: true, force: true }),
  }
})
