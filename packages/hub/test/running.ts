/** A real hub for a test: on a free port, on the database named. */
import { createSeededChance } from '@chimera/host/chance'
import { type Clock, createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { createStop } from '@chimera/host/stop'
import { type RunningHub, startHub } from '../src/start.ts'

export type Answered = { readonly status: number; readonly body: Record<string, unknown> }

export type TestHub = RunningHub & {
  readonly get: (path: string) => Promise<Answered>
  readonly post: (path: string, body?: unknown) => Promise<Answered>
  readonly call: (path: string, init: RequestInit) => Promise<Answered>
  readonly stop: () => Promise<void>
}

export type HubWanted = {
  readonly data?: string
  readonly database?: string
  readonly seed?: number
  readonly auth?: 'open' | 'required'
  readonly host?: string
  readonly publicUrl?: string
  readonly clock?: Clock
}

export async function runHub(options: HubWanted = {}): Promise<TestHub> {
  const clock = options.clock ?? createClock()
  const stop = createStop({ clock })
  const running = await startHub({
    settings: {
      listen: { host: options.host ?? '127.0.0.1', port: 0 },
      auth: options.auth ?? 'open',
      publicUrl: options.publicUrl,
      keyFile: undefined,
      data: options.data ?? ':memory:',
      database: options.database,
      extraPorts: [],
      grant: 100,
      logLevel: 'silent',
    },
    clock,
    chance: createSeededChance(options.seed ?? 1),
    log: createLog({ clock, name: 'hub', level: 'silent' }),
    stop,
  })
  const end = async () => void (await stop.stop('end of the test'))

  async function call(path: string, init: RequestInit): Promise<Answered> {
    const answer = await fetch(running.address + path, init)
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
  }
  return {
    ...running,
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
    stop: end,
  }
}
