/**
 * Random, mutated and hostile bodies on every path that takes one: never a 5xx, never a hang, and a
 * refused call leaves no fact. The seed is printed by fast-check when a run fails.
 */
import assert from 'node:assert/strict'
import { loadVectors } from '@chimera/conformance/vectors'
import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { CALLS } from '../src/http/openapi.ts'
import { runHub, type TestHub } from './running.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await runHub()
}, 120_000)
afterAll(() => hub.stop())

const vectors = loadVectors().filter(({ dialect }) => dialect !== 'skills')
const hostile = [
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"x":1}}}',
  `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
  '"\\ud800"',
  '1e400',
  '{"amount":-0}',
  '\u0000',
  '{"owner_id":"a\\u0000b"}',
  '',
]
const junk = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string(),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify({ owner_id: text })),
  fc.constantFrom(...hostile),
)

/** One field of a real message replaced by anything. */
const mutated = fc
  .tuple(fc.constantFrom(...vectors), fc.nat(), fc.jsonValue())
  .map(([{ wire }, which, value]) => {
    if (typeof wire !== 'object' || wire === null) return JSON.stringify(value)
    const names = Object.keys(wire)
    const name = names[which % Math.max(1, names.length)] ?? 'extra'
    return JSON.stringify({ ...wire, [name]: value })
  })

const posts = CALLS.filter(({ method }) => method === 'post').map(({ path }) => path)
const gets = CALLS.filter(({ method, path }) => method === 'get' && path !== '/metrics')
const filled = (path: string, with_: string) =>
  path.replace(/\{\w+\}/g, () => encodeURIComponent(with_) || 'x')

const sealed = async () => {
  await hub.hub.settle()
  return hub.hub.scores.seq()
}

test('X-3 no body brings the hub down or leaves a trace when it is refused', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...posts),
      fc.oneof(junk, mutated),
      fc.constantFrom('application/json', 'text/plain', 'application/json; charset=latin1'),
      async (path, body, type) => {
        const before = await sealed()
        const { status } = await hub.call(filled(path, 'x'), {
          method: 'POST',
          headers: { 'content-type': type },
          body,
        })
        assert.ok(status < 500, `${path} answered ${status}`)
        if (status >= 400)
          assert.equal(await sealed(), before, `${path} was refused and left a fact`)
      },
    ),
    { numRuns: 250 },
  )
})

test('X-3 no path or query does either', { timeout: 60_000 }, async () => {
  const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 9 }))
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...gets),
      text,
      text,
      text,
      async ({ path }, id, name, value) => {
        const query = new URLSearchParams({ [name]: value, skill: value, limit: name, job_id: id })
        const answer = await fetch(`${hub.address}${filled(path, id)}?${query}`)
        await answer.arrayBuffer()
        assert.ok(answer.status < 500, `${path} answered ${answer.status}`)
      },
    ),
    { numRuns: 200 },
  )
})
