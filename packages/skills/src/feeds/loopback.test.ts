/** The door on this machine: who is let in. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Loopback, listenHere } from './loopback.ts'

let door: Loopback
beforeAll(async () => {
  door = await listenHere(async (asked) => new Response(await asked.text(), { status: 200 }))
})
afterAll(() => door.close())

function statusOf(headers: Readonly<Record<string, string>>, path = '/mcp', body = 'hi') {
  return new Promise<number | undefined>((resolve, reject) => {
    const asked = request(new URL(path, door.url), { method: 'POST', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.once('error', reject)
    asked.end(body)
  })
}

describe('L1, L2', () => {
  const rows: readonly (readonly [
    rule: string,
    status: number,
    headers: Readonly<Record<string, string>>,
    path?: string,
    body?: string,
  ])[] = [
    ['this machine by its address', 200, {}],
    ['this machine by its name', 200, { host: 'localhost:1' }],
    ['a page of this machine', 200, { origin: 'http://localhost:3000' }],
    ['another name for this machine', 403, { host: 'evil.example' }],
    ['a page from elsewhere', 403, { origin: 'https://evil.example' }],
    ['another path', 404, {}, '/other'],
    ['a body that is too large', 413, {}, '/mcp', 'x'.repeat(300_000)],
  ]
  for (const [rule, status, headers, path, body] of rows) {
    test(`${rule}: ${status}`, async () => {
      assert.equal(await statusOf(headers, path, body), status)
    })
  }
})
