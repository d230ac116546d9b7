/** POST /transfer on the embedded database, against a route that only validates and echoes. */
import * as chorus from '@chimera/dialects/chorus'
import type { TaskId, TransferId } from '@chimera/domain/ids'
import type { Benchmark } from './frame.ts'
import { type Load, openLoad, requestText } from './load/client.ts'
import { type BenchHub, startBenchHub } from './stage/hub.ts'
import { OWNERS, openAccounts, randomTransfer } from './stage/owners.ts'

const CONNECTIONS = 256
// Different payers and payees; each is sent again with other ids.
const BODIES = 5_000
/** At the end of a uuid: a number that is used once. */
const SERIAL = '0'.repeat(11)
const uuid = (kind: 1 | 2) => `f81d4fae-7dec-4a6b-8c7d-${kind}${SERIAL}`
// One to two seconds of each.
const TRANSFERS = 16 * CONNECTIONS
const ECHOES = 64 * CONNECTIONS

let running: BenchHub | undefined
let transfers: Load | undefined
let echoes: Load | undefined

function bodyOf(): unknown {
  const ids = { transfer: uuid(1) as TransferId, task: uuid(2) as TaskId }
  return chorus.encodeTransfer({ ...randomTransfer(), ...ids }, Date.now())
}

async function rateOf(load: Load | undefined, times: number): Promise<number> {
  const start = performance.now()
  await load?.run(times)
  // What was left to be sealed belongs to whoever made it; after an echo that is nothing.
  await running?.hub.settle()
  return times / ((performance.now() - start) / 1_000)
}

export const benchmark: Benchmark = {
  name: 'http-transfer',
  method:
    `POST /transfer to a hub on the embedded database over ${CONNECTIONS} connections from a ` +
    `thread of their own, between ${OWNERS} accounts by chance, each with ids of its own and for ` +
    'a job of its own; a round ends when the facts of all are sealed into the chain. The peer is ' +
    'a route of the same server, behind the same guards, that validates the same body and sends ' +
    'it back.',
  open: async () => {
    running = await startBenchHub({
      extend: (app) => {
        app.post('/echo', async (request, reply) => {
          const read = chorus.readTransfer(request.body)
          return read.ok ? request.body : reply.code(400).send()
        })
      },
    })
    await openAccounts(running.hub)
    const port = Number(new URL(running.address).port)
    const asked = { port, connections: CONNECTIONS, status: 200, serial: SERIAL }
    const bodies = Array.from({ length: BODIES }, bodyOf)
    const requestsTo = (path: string) => bodies.map((body) => requestText('POST', path, body))
    transfers = await openLoad({ ...asked, requests: requestsTo('/transfer') })
    await transfers.run(CONNECTIONS)
    echoes = await openLoad({ ...asked, requests: requestsTo('/echo') })
    await echoes.run(CONNECTIONS)
  },
  close: async () => {
    await transfers?.close()
    await echoes?.close()
    await running?.stop()
  },
  ours: { name: 'transfer', read: () => rateOf(transfers, TRANSFERS) },
  peer: { name: 'echo', read: () => rateOf(echoes, ECHOES) },
  target: { direction: 'at least', ratio: 0.2 },
}
