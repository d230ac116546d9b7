/**
 * A model server, a model of each kind on it, and a virtual clock that moves only while nobody
 * waits for a real answer: what is slow is held by the server, never by a sleep.
 */

import { keepSecret } from '@chimera/host/settings/secret'
import { createVirtualClock, type VirtualClock } from '@chimera/host/virtual-clock'
import type { Model } from '../src/models/model.ts'
import { type ModelSettings, openModel } from '../src/models/open.ts'
import type { Use } from '../src/models/prices.ts'
import { type ModelServer, type Seen, startModelServer, type Turn } from './model-servers.ts'

export const KEY = 'sk-test-6f1d3f5c2f0a4b8e9d671f2e3d4c5b6a'

export type Stage = {
  readonly server: ModelServer
  readonly clock: VirtualClock
  readonly uses: readonly Use[]
  readonly model: (kind: ModelSettings['kind'], more?: Partial<ModelSettings>) => Model
  /** Moves the clock until it is done. */
  readonly until: <Value>(running: Promise<Value>) => Promise<Value>
  readonly close: () => Promise<void>
}

const NAMES = { google: 'gemini-3-flash', openai: 'gpt-4o-mini', compatible: 'local' } as const
const STEP_MS = 500
// A skill that gives way to others between its checks is not idle yet.
const IDLE_TURNS = 20

export async function createStage(script: (seen: Seen, turn: number) => Turn): Promise<Stage> {
  const server = await startModelServer(script)
  const clock = createVirtualClock()
  const uses: Use[] = []
  const models: Model[] = []
  let asking = 0

  function model(kind: ModelSettings['kind'], more: Partial<ModelSettings> = {}): Model {
    const opened = openModel(
      { name: NAMES[kind], kind, url: server.url, key: keepSecret(KEY).secret, ...more },
      { clock, onUse: (use) => uses.push(use) },
    )
    models.push(opened)
    return {
      ...opened,
      ask: async (asked, signal) => {
        asking += 1
        try {
          return await opened.ask(asked, signal)
        } finally {
          asking -= 1
        }
      },
    }
  }

  return {
    server,
    clock,
    uses,
    model,
    async until(running) {
      const state = { done: false }
      const ended = () => {
        state.done = true
      }
      running.then(ended, ended)
      let idle = 0
      while (!state.done) {
        await new Promise((resolve) => setImmediate(resolve))
        idle = asking <= server.held() ? idle + 1 : 0
        if (idle < IDLE_TURNS) continue
        idle = 0
        await clock.advanceBy(STEP_MS)
      }
      return running
    },
    async close() {
      for (const each of models) await each.close()
      await server.close()
    },
  }
}
