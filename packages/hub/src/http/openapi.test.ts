/** the document describes what is served, all of it, with the schemas that are checked. */
import assert from 'node:assert/strict'
import { DIALECTS } from '@chimera/dialects/dialects'
import { refuse } from '@chimera/domain/decision'
import { createLog } from '@chimera/host/log'
import { createMetrics } from '@chimera/host/metrics'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { describe, test } from 'vitest'
import type { Hub } from '../act/hub.ts'
import type { Callers } from './caller.ts'
import { createListeners } from './listen.ts'
import { CALLS, openapi } from './openapi.ts'
import { schemaNames } from './published.ts'
import { createHttp } from './server.ts'

/** No limit of any kind. */
const OPEN = {
  proxies: [],
  rates: { perCaller: 0, perStranger: 0 },
  load: { inFlight: 0, delayMs: 0 },
  delayMs: () => 0,
}
const NOBODY: Callers = { establish: async () => refuse('caller_unknown') }

/** The routes need no hub to be listed, only to be called. */
async function served(): Promise<readonly string[]> {
  const clock = createVirtualClock()
  const log = createLog({ clock, name: 'hub', level: 'silent' })
  const routes: string[] = []
  const metrics = createMetrics()
  const bounds = { requestMs: 1_000, idleMs: 1_000, connections: 1 }
  const listeners = createListeners(bounds, { metrics })
  const app = createHttp({ hub: {} as Hub, log, metrics, callers: NOBODY, ...OPEN, listeners })
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) {
      if (each !== 'HEAD') routes.push(`${each} ${url.replace(/:(\w+)/g, '{$1}')}`)
    }
  })
  await app.ready()
  await app.close()
  return routes.sort()
}

describe('X-7 the OpenAPI document', () => {
  test('names every route that is served, and no other', async () => {
    const named = CALLS.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()
    assert.deepEqual(named, await served())
  })

  test('refers only to schemas that it carries', () => {
    const text = JSON.stringify(openapi())
    const { components } = JSON.parse(text) as { components: { schemas: Record<string, object> } }
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const schema = components.schemas[name]
      assert.ok(schema && Object.keys(schema).length > 0, name)
    }
  })

  test('is the schemas that the code validates with', () => {
    const { components } = openapi() as { components: { schemas: Record<string, unknown> } }
    assert.equal(components.schemas['chorus.transfer'], DIALECTS.chorus.transfer.schema)
  })

  test('every published schema has a name to ask for it by', () => {
    const count = Object.values(DIALECTS).flatMap((messages) => Object.keys(messages)).length
    assert.equal(new Set(schemaNames()).size, count)
  })
})
