/** X-7: the document describes what is served, all of it, with the schemas that are checked. */
import assert from 'node:assert/strict'
import { DIALECTS } from '@chimera/dialects/dialects'
import { refuse } from '@chimera/domain/decision'
import { createLog } from '@chimera/host/log'
import { createMetrics } from '@chimera/host/metrics'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { describe, test } from 'vitest'
import type { Hub } from '../act/hub.ts'
import { createGuard } from '../guard.ts'
import type { Callers } from './caller.ts'
import { createListeners } from './listen.ts'
import { CALLS, openapi } from './openapi.ts'
import { schemaNames } from './published.ts'
import { createRate } from './rate.ts'
import { createHttp } from './server.ts'

/** No limit of any kind. */
const OPEN = {
  proxies: [],
  rates: { byCaller: createRate({ perMinute: 0 }), byOrigin: createRate({ perMinute: 0 }) },
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
  const guard = createGuard({ metrics, log })
  const app = createHttp({
    hub: {} as Hub,
    log,
    metrics,
    guard,
    callers: NOBODY,
    ...OPEN,
    listeners,
  })
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

  type Operation = {
    readonly operationId: string
    readonly tags: readonly string[]
    readonly summary: string
    readonly parameters: readonly { in: string; name: string; required: boolean; schema: object }[]
    readonly requestBody?: { readonly content: Record<string, { example?: object }> }
    readonly responses: Record<string, { description?: string; $ref?: string }>
    readonly security: readonly Record<string, readonly string[]>[]
  }
  type Document = {
    readonly tags: readonly { readonly name: string; readonly description: string }[]
    readonly servers: readonly { readonly url: string }[]
    readonly paths: Record<string, Record<string, Operation>>
    readonly components: Record<string, Record<string, object>>
  }
  const document = JSON.parse(JSON.stringify(openapi())) as Document
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, ...operation })),
  )

  test('has one operation for each call, with its own name and a door that is described', () => {
    assert.equal(operations.length, CALLS.length)
    assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, CALLS.length)
    const doors = new Set(document.tags.map(({ name }) => name))
    for (const { tags, operationId, summary } of operations) {
      assert.match(operationId, /^[a-z]+(?:_\w+)*$/)
      assert.ok(tags.length === 1 && tags.every((tag) => doors.has(tag)) && summary.length > 0)
    }
    for (const { description } of document.tags) assert.ok(description.length > 20)
    assert.deepEqual(
      document.servers.map(({ url }) => url),
      ['/'],
    )
  })

  test('declares each parameter of a path once, required and with a type', () => {
    for (const { path, parameters } of operations) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = parameters.filter((each) => each.in === 'path')
      assert.deepEqual(
        declared.map(({ name }) => name),
        wanted,
      )
      assert.ok(
        declared.every(({ required }) => required),
        path,
      )
      for (const { schema } of parameters) assert.ok(Object.keys(schema).length > 0, path)
      assert.equal(new Set(parameters.map(({ name }) => name)).size, parameters.length, path)
    }
    const agent = document.paths['/agents/{id}']?.get?.parameters[0]?.schema
    assert.deepEqual(agent, { type: 'string', format: 'uuid' })
  })

  test('answers every call in words, and its errors in those of its door', () => {
    for (const { path, responses } of operations) {
      const [status = ''] = Object.keys(responses).filter((each) => each !== 'default')
      assert.match(status, /^2\d\d$/, path)
      assert.ok((responses[status]?.description ?? '').length > 0, path)
      assert.match(responses.default?.$ref ?? '', /^#\/components\/responses\/[\w.]+$/)
    }
    const refused = document.paths['/openclaw/v1/status']?.post?.responses.default
    assert.deepEqual(refused, { $ref: '#/components/responses/openclaw.error' })
  })

  test('refers to nothing that is not in it, and to nothing elsewhere', () => {
    const text = JSON.stringify(document)
    for (const [, kind = '', name = ''] of text.matchAll(
      /"\$ref":"#\/components\/(\w+)\/([^"]+)"/g,
    )) {
      assert.ok(document.components[kind]?.[name], `${kind}/${name}`)
    }
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref)
    assert.deepEqual(
      refs.filter((ref) => !ref.startsWith('#/')),
      [],
    )
  })

  test('says how a caller proves who it is, and names no way that is not described', () => {
    const ways = new Set(Object.keys(document.components.securitySchemes ?? {}))
    assert.deepEqual([...ways].sort(), ['bearer', 'signature'])
    for (const { security } of operations) {
      for (const way of security.flatMap((each) => Object.keys(each))) assert.ok(ways.has(way))
    }
  })

  test('shows an example of what a caller begins with', () => {
    const shown = operations.filter(({ requestBody }) =>
      Object.values(requestBody?.content ?? {}).some(({ example }) => example !== undefined),
    )
    const paths = new Set(shown.map(({ path }) => path))
    for (const path of ['/register', '/transfer', '/accounts', '/v1/owners']) {
      assert.ok(paths.has(path), path)
    }
  })
})
