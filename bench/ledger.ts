/** Transfers through the hub's own act on PostgreSQL, against pgbench on the same server. */
import { ANYBODY } from '@chimera/hub/act/caller'
import { transfer } from '@chimera/hub/act/money'
import type { Benchmark } from './frame.ts'
import { type BenchHub, startBenchHub } from './stage/hub.ts'
import { OWNERS, openAccounts, randomTransfer } from './stage/owners.ts'
import { type Server, startServer } from './stage/postgres.ts'

const IN_FLIGHT = 256
const CLIENTS = 64
const SCALE = 100
// Some hundred batches, and commits enough that the disk's bad moments are met by both.
const SECONDS = 4

let server: Server | undefined
let running: BenchHub | undefined

async function transferFor(seconds: number): Promise<number> {
  if (running === undefined) throw new Error('there is no hub')
  const { hub } = running
  const start = performance.now()
  const end = start + seconds * 1_000
  let done = 0
  const lane = async () => {
    while (performance.now() < end) {
      const outcome = await transfer(hub, ANYBODY, randomTransfer())
      if (!outcome.ok) throw new Error(`a transfer was refused: ${outcome.refusal}`)
      done += 1
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  // The clock stops when every fact has its place in the chain and the views have followed.
  await hub.settle()
  return done / ((performance.now() - start) / 1_000)
}

export const benchmark: Benchmark = {
  name: 'ledger',
  method:
    `One PostgreSQL of the system's packages with fsync on serves both. Ours: ${IN_FLIGHT} ` +
    `transfers in flight through the hub's own act, between ${OWNERS} accounts by chance, each ` +
    `for a job of its own, for ${SECONDS} s; counted are those that were committed (balances, ` +
    'movement, fact) and whose facts were sealed into the chain and followed by the views. The ' +
    `peer: pgbench's built-in script like TPC-B, -M prepared, scale ${SCALE}, ${CLIENTS} ` +
    'clients, 2 threads, as long. Tables of both are vacuumed and analysed before.',
  open: async () => {
    server = await startServer()
    server.create('peer')
    server.fillBench('peer', SCALE)
    running = await startBenchHub({ database: server.create('ours') })
    await openAccounts(running.hub)
    server.run('ours', 'VACUUM ANALYZE')
  },
  close: async () => {
    await running?.stop()
    await server?.stop()
  },
  ours: { name: 'transfers', read: () => transferFor(SECONDS) },
  peer: {
    name: 'pgbench',
    read: async () => {
      if (server === undefined) throw new Error('there is no server')
      return server.bench('peer', { clients: CLIENTS, seconds: SECONDS })
    },
  },
  target: { direction: 'at least', ratio: 3 },
}
