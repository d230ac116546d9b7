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
import { CALLS, openapi, schemaNames } from './openapi.ts'
import { createHttp } from './server.ts'

const NOBODY: Callers = { establish: async () => refuse('caller_unknown') }

/** The routes need no hub to be listed, only to be called. */
async function served(): Promise<readonly string[]> {
  const clock = createVirtualClock()
  const log = createLog({ clock, name: 'hub', level: 'silent' })
  const routes: string[] = []
  const app = createHttp({ hub: {} as Hub, log, metrics: createMetrics(), callers: NOBODY })
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
