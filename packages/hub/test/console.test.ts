/** The page of the hub as it is served, and pages of others, which must not act through it. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { loadConsole, PageMissing } from '../src/http/console.ts'
import { runHub, type TestHub } from './running.ts'

let hub: TestHub
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chimera-page-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>the page</title>')
  await writeFile(join(folder, 'assets', 'main-abc.js'), 'const a = 1')
  await writeFile(join(folder, 'secret.env'), 'A=b')
  hub = await runHub({ page: folder })
})
afterAll(async () => {
  await hub.stop()
  await rm(folder, { recursive: true, force: true })
})

type Said = {
  readonly status: number
  readonly text: string
  readonly headers: Record<string, unknown>
}

/** By hand, since `fetch` tidies paths up and refuses to name another host. */
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<Said>((resolve, reject) => {
    const { hostname, port } = new URL(hub.address)
    const asked = request({ hostname, port, path, method, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text, headers: { ...answer.headers } }),
      )
    })
    asked.on('error', reject)
    asked.end()
  })

describe('the page', () => {
  for (const path of ['/console/', '/console/network', '/console/work/some-task?tab=open']) {
    test(`E4 is at ${path}`, async () => {
      const { status, text, headers } = await ask(path)
      assert.equal(status, 200)
      assert.match(text, /the page/)
      assert.equal(headers['cache-control'], 'no-store')
    })
  }
  for (const path of ['/', '/console']) {
    test(`${path} leads to it`, async () => {
      const { status, headers } = await ask(path)
      assert.deepEqual([status, headers.location], [302, '/console/'])
    })
  }
  test('E1 may ask nobody but the hub, and run nothing but its files', async () => {
    const policy = String((await ask('/console/')).headers['content-security-policy'])
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /connect-src 'self'/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|https?:|\*|data:/)
  })
  test('E2 its parts are kept for ever, and sent small to whoever takes that', async () => {
    const plain = await ask('/console/assets/main-abc.js')
    assert.match(String(plain.headers['cache-control']), /immutable/)
    assert.match(String(plain.headers['content-type']), /javascript/)
    assert.equal(plain.text, 'const a = 1')
    const small = await ask('/console/assets/main-abc.js', { 'accept-encoding': 'gzip' })
    assert.equal(small.headers['content-encoding'], 'gzip')
  })
  for (const path of [
    '/console/secret.env',
    '/console/../package.json',
    '/console/..%2f..%2fpackage.json',
    '/console/assets/%2e%2e/secret.env',
    '/console/assets/gone-123.js',
  ]) {
    test(`E3 there is no ${path}`, async () => {
      const { status, text } = await ask(path)
      assert.equal(status, 404)
      assert.doesNotMatch(text, /A=b|"name"/)
    })
  }
  test('a directory without a page is refused at the start', async () => {
    await assert.rejects(loadConsole(join(folder, 'assets')), PageMissing)
  })
})

describe('pages of others', () => {
  const post = (headers: Record<string, string>) =>
    ask('/v1/alerts/00000000-0000-4000-8000-000000000000/acknowledge', headers, 'POST')
  test('F1 change nothing', async () => {
    assert.equal((await post({ 'sec-fetch-site': 'cross-site' })).status, 403)
    assert.equal((await post({ 'sec-fetch-site': 'same-site' })).status, 403)
    assert.equal((await post({ origin: 'https://evil.example' })).status, 403)
    assert.equal((await post({ origin: 'null' })).status, 403)
  })
  test('F1 the hub’s own page does', async () => {
    const { host } = new URL(hub.address)
    assert.equal((await post({ 'sec-fetch-site': 'same-origin' })).status, 404)
    assert.equal((await post({ origin: `http://${host}`, host })).status, 404)
  })
  test('F2 do not read an open hub under a name that was made to lead here', async () => {
    const headers = { host: 'evil.example:4600', 'sec-fetch-site': 'same-origin' }
    assert.equal((await ask('/v1/agents', headers)).status, 403)
    const own = { host: 'localhost:4600', 'sec-fetch-site': 'same-origin' }
    assert.equal((await ask('/v1/agents', own)).status, 200)
  })
  test('F3 programs are not touched', async () => {
    assert.equal((await post({})).status, 404)
    assert.equal((await ask('/v1/agents', { host: 'hub.internal' })).status, 200)
  })
})
