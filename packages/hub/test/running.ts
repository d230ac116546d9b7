/** A real hub for a test: on a free port, on the database named. */
import assert from 'node:assert/strict'
import { createSeededChance } from '@chimera/host/chance'
import { type Clock, createClock } from '@chimera/host/clock'
import { createLog, type Log } from '@chimera/host/log'
import { defaultsOf, type Values } from '@chimera/host/settings/declare'
import { createStop } from '@chimera/host/stop'
import { createDirectories, fillMigrated } from '@chimera/store/testing/embedded'
import type { TryProviders } from '../src/act/providers.ts'
import { HUB_SETTINGS } from '../src/settings.ts'
import { type RunningHub, startHub } from '../src/start.ts'
import { SERVED, servedPlace } from './served.ts'

export type Answered = { readonly status: number; readonly body: Record<string, unknown> }

export type TestHub = RunningHub & {
  /** All that stand behind its address. */
  readonly hubs: readonly RunningHub[]
  readonly get: (path: string) => Promise<Answered>
  readonly post: (path: string, body?: unknown) => Promise<Answered>
  readonly call: (path: string, init: RequestInit) => Promise<Answered>
  readonly stop: () => Promise<void>
}

type Settings = Values<typeof HUB_SETTINGS>

export type HubWanted = Partial<Settings> & {
  readonly seed?: number
  readonly host?: string
  readonly clock?: Clock
  readonly newOperator?: boolean
  /** The directory of a page to serve. */
  readonly page?: string
  /** What the fleet of the same process stands on. */
  readonly providers?: TryProviders
  /** Instead of what chance gives where it matters how things are spread. */
  readonly fraction?: () => number
  readonly log?: Log
  /** The guard on the way out is to find something; else nothing that it stops is right. */
  readonly leaks?: boolean
}

/** On the declared defaults, but for what a test wants and what would not be a test's to have. */
export async function runHub(options: HubWanted = {}): Promise<TestHub> {
  if (SERVED && options.database === undefined) {
    return runHub({ ...(await servedPlace(options.data)), ...options, data: ':memory:' })
  }
  const { seed = 1, host = '127.0.0.1', clock = createClock(), newOperator, ...others } = options
  const { log = createLog({ clock, name: 'hub', level: 'silent' }), leaks, ...settled } = others
  const { fraction, page, providers, ...wanted } = settled
  const stop = createStop({ clock })
  const directories = createDirectories()
  const embedded = wanted.database === undefined
  if (embedded && wanted.data !== undefined) await fillMigrated(wanted.data)
  const settings: Settings = {
    ...defaultsOf(HUB_SETTINGS),
    listen: { host, port: 0 },
    // A copy starts sooner than a database in memory, which is made from nothing each time.
    data: embedded && wanted.data === undefined ? await directories.newMigrated() : ':memory:',
    grant: 100,
    logLevel: 'silent',
    // Tests ask from one address, faster than anybody, on machines that are busy with others.
    requestsPerMinute: 0,
    strangersPerMinute: 0,
    maxDelay: 0,
    ...wanted,
  }
  const running = await startHub({
    settings,
    clock,
    chance: { ...createSeededChance(seed), ...(fraction && { fraction }) },
    log,
    stop,
    ...(newOperator !== undefined && { newOperator }),
    ...(page !== undefined && { page }),
    ...(providers && { providers }),
  })
  const end = async () => {
    await stop.stop('end of the test')
    await directories.removeAll()
    if (leaks) return
    const stopped = /^outgoing_refused_total\{.*$/m.exec(await running.metrics.text())
    assert.equal(stopped?.[0], undefined, 'X-3 an answer of our own did not fit its schema')
  }
  return { ...running, hubs: [running], ...callsTo(running.address), stop: end }
}

/** What the metrics count under this name, with its labels, at all hubs together. */
export async function counted({ hubs }: Pick<TestHub, 'hubs'>, name: string): Promise<number> {
  const pages = await Promise.all(hubs.map(({ metrics }) => metrics.text()))
  const lines = pages.flatMap((page) => page.split('\n'))
  const figures = lines.filter((line) => line.startsWith(`${name} `))
  return figures.reduce((sum, line) => sum + Number(line.slice(name.length)), 0)
}

/** What a test asks of whatever listens at this address. */
export function callsTo(address: string): Pick<TestHub, 'get' | 'post' | 'call'> {
  async function call(path: string, init: RequestInit): Promise<Answered> {
    const answer = await fetch(address + path, init)
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
  }
  return {
    call,
    get: (path) => call(path, {}),
    post: (path, body) =>
      call(path, {
        method: 'POST',
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      }),
  }
}
