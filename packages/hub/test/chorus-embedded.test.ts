/** The Chorus contract on the embedded database. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chorusContract } from './chorus-contract.ts'
import { runHub } from './running.ts'

chorusContract(async () => {
  const data = mkdtempSync(join(tmpdir(), 'chimera-hub-'))
  return {
    start: (seed) => runHub({ data, seed }),
    end: async () => rmSync(data, { recursive: true, force: true }),
  }
})
