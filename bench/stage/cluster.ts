/** One PostgreSQL with fsync on and one broker, for several hubs in processes of their own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNats } from '@chimera/bus/testing/nats-server'
import { type BenchProcess, processOf } from '../load/process-of.ts'
import type { Ends } from './ends.ts'
import type { BenchHubWanted } from './hub.ts'
import { type Server, startServer } from './postgres.ts'

export type BenchCluster = {
  readonly server: Server
  readonly broker: string
  /** What hubs of one network have in common. */
  readonly settings: BenchHubWanted & { readonly database: string }
  readonly startHub: (more?: BenchHubWanted) => Promise<ClusterHub>
}

export type ClusterHub = { readonly port: number; readonly process: BenchProcess }

export async function startCluster(ends: Ends): Promise<BenchCluster> {
  const server = await startServer()
  ends.add(server.stop)
  const broker = await startNats()
  ends.add(broker.stop)
  const home = mkdtempSync(join(tmpdir(), 'chimera-bench-'))
  ends.add(() => rmSync(home, { recursive: true, force: true }))
  const settings = {
    auth: 'required',
    keyFile: join(home, 'hub.json'),
    database: server.create('ours'),
    bus: [broker.address],
  } as const
  return {
    server,
    broker: broker.address,
    settings,
    async startHub(more = {}) {
      const process = await processOf(new URL('../load/hub-process.ts', import.meta.url))
      ends.add(process.close)
      const address = await process.ask<string>({ ...settings, ...more })
      return { port: Number(new URL(address).port), process }
    },
  }
}
