/** A hub for a benchmark: in this process, on a free port, with nothing that holds callers back. */
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { defaultsOf, type Values } from '@chimera/host/settings/declare'
import { createStop } from '@chimera/host/stop'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { type HubOptions, type RunningHub, startHub } from '@chimera/hub/start'

export type BenchHub = RunningHub & { readonly stop: () => Promise<void> }

export type BenchHubWanted = Partial<Values<typeof HUB_SETTINGS>> & Pick<HubOptions, 'extend'>

export async function startBenchHub({ extend, ...wanted }: BenchHubWanted): Promise<BenchHub> {
  const clock = createClock()
  const stop = createStop({ clock })
  const settings = {
    ...defaultsOf(HUB_SETTINGS),
    listen: { host: '127.0.0.1', port: 0 },
    data: ':memory:',
    logLevel: 'silent',
    // All come from one address, as fast as they are answered.
    requestsPerMinute: 0,
    strangersPerMinute: 0,
    maxDelay: 0,
    // Connections wait while the peer is measured.
    requestTimeout: 600_000,
    idleTimeout: 600_000,
    ...wanted,
  } satisfies Values<typeof HUB_SETTINGS>
  const log = createLog({ clock, name: 'hub', level: 'silent' })
  const running = await startHub({
    settings,
    clock,
    chance: createChance(),
    log,
    stop,
    ...(extend && { extend }),
  })
  return { ...running, stop: async () => void (await stop.stop('the benchmark is over')) }
}
