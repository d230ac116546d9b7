/** `/docs` and `/openapi.json` of a real hub: the page asks nobody but the hub. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { CALLS } from '../src/http/openapi.ts'
import { runHub, type TestHub } from './running.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await runHub({ auth: 'required' })
}, 60_000)
afterAll(() => hub.stop())

const ask = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(hub.address + path, { headers })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** As it comes over the wire: `fetch` would unpack it. */
const raw = (method: string, path: string, headers: Record<string, string> = {}) =>
  new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      const asking = request(hub.address + path, { method, headers }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('error', reject)
        answer.on('end', () => {
          const { statusCode: status = 0, headers: got } = answer
          resolve({ status, headers: got, body: Buffer.concat(parts) })
        })
      })
      asking.on('error', reject)
      asking.end()
    },
  )

describe('X-7 the page to read and try the API', () => {
  test('is served to anybody, with what it needs beside it', async () => {
    const page = await ask('/docs')
    assert.equal(page.status, 200)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    const scripts = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, to = '']) => to)
    assert.ok(scripts.length >= 3)
    for (const to of scripts) {
      assert.match(to, /^(?:\/[^/]|data:,)/, `${to} is of this hub`)
      if (to.startsWith('/')) assert.equal((await ask(to)).status, 200, to)
    }
  })

  test('neither the page nor what begins it names another host', async () => {
    for (const path of ['/docs', '/docs/start.js']) {
      const { text } = await ask(path)
      assert.doesNotMatch(text, /(?:https?:)?\/\/[a-z0-9]/i, path)
    }
    const { text } = await ask('/docs/start.js')
    assert.match(text, /"url":"\/openapi\.json"/)
    assert.match(text, /"withDefaultFonts":false/)
    assert.match(text, /"telemetry":false/)
    assert.doesNotMatch(text, /proxyUrl/)
  })

  test('the browser may ask the hub and nobody else, whatever a script would like', async () => {
    const { headers } = await ask('/docs')
    const policy = headers.get('content-security-policy') ?? ''
    const rules = new Map(
      policy.split('; ').map((rule) => {
        const [name = '', ...sources] = rule.split(' ')
        return [name, sources]
      }),
    )
    assert.deepEqual(rules.get('default-src'), [`'none'`])
    assert.deepEqual(rules.get('script-src'), [`'self'`])
    assert.deepEqual(rules.get('connect-src'), [`'self'`])
    const known = new Set([`'self'`, `'none'`, `'unsafe-inline'`, 'data:'])
    for (const [name, sources] of rules) {
      assert.ok(
        sources.every((source) => known.has(source)),
        `${name} ${sources.join(' ')}`,
      )
    }
    assert.ok(!rules.get('script-src')?.includes(`'unsafe-inline'`))
  })

  test('the script comes small to whoever takes it so, and not twice to anybody', async () => {
    const plain = await raw('GET', '/docs/reference.js')
    assert.equal(plain.headers['content-encoding'], undefined)
    const packed = await raw('GET', '/docs/reference.js', { 'accept-encoding': 'br, gzip' })
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.ok(packed.body.length < plain.body.length / 2)
    assert.ok(gunzipSync(packed.body).equals(plain.body))
    assert.match(plain.body.toString('utf8'), /createApiReference/)
    const tag = String(packed.headers.etag)
    const again = await ask('/docs/reference.js', { 'if-none-match': tag })
    assert.deepEqual([again.status, again.text], [304, ''])
  })
})

describe('X-7 the OpenAPI document', () => {
  test('is served as it is described', async () => {
    const { status, text } = await ask('/openapi.json')
    assert.equal(status, 200)
    const document = JSON.parse(text) as { openapi: string; paths: object }
    assert.equal(document.openapi, '3.1.0')
    assert.equal(Object.keys(document.paths).length, new Set(CALLS.map(({ path }) => path)).size)
  })

  test('says truly which calls anybody may make', async () => {
    const somebody = '550e8400-e29b-41d4-a716-446655440000'
    const wrong: string[] = []
    for (const { method, path, open = false } of CALLS) {
      // Only a caller that is not known is told so; a body is not even looked at.
      const { status } = await raw(method.toUpperCase(), path.replace(/\{\w+\}/g, somebody))
      if ((status !== 401) !== open) wrong.push(`${method} ${path} answered ${status}`)
    }
    assert.deepEqual(wrong, [])
  })
})
