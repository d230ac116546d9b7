/** Results and work by its key, on the embedded database. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resultsContract } from './results-contract.ts'
import { runHub } from './running.ts'
import { workContract } from './work-contract.ts'

async function engine() {
  const data = mkdtempSync(join(tmpdir(), 'chimera-results-'))
  return {
    start: (seed: number) => runHub({ data, seed, auth: 'required' }),
    end: async () => rmSync(data, { recursive: true, force: true }),
  }
}

resultsContract(engine)
workContract(engine)
