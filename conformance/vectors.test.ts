/**
 * Our own readers against the vectors. Every message of every dialect has its accept vectors and at
 * least five reject vectors, and a reject vector must be refused for the reason that it names.
 */
import assert from 'node:assert/strict'
import { DIALECTS } from '@chimera/dialects/dialects'
import type { Messages } from '@chimera/dialects/messages'
import { describe, expect, test } from 'vitest'
import { loadVectors } from './vectors.ts'

const dialects: Readonly<Record<string, Messages>> = DIALECTS
const LEAST_REJECTS = 5

const vectors = loadVectors()

describe('X-3 every message has vectors', () => {
  for (const [dialect, messages] of Object.entries(dialects)) {
    for (const message of Object.keys(messages)) {
      test(`${dialect}/${message}`, () => {
        const own = vectors.filter((each) => each.dialect === dialect && each.message === message)
        const count = (verdict: string) => own.filter((each) => each.verdict === verdict).length
        assert.ok(count('accept') >= 1, 'no accept vector')
        assert.ok(count('reject') >= LEAST_REJECTS, `${count('reject')} reject vectors`)
      })
    }
  }
  test('and every vector has a message', () => {
    const lost = vectors.filter(({ dialect, message }) => !dialects[dialect]?.[message])
    assert.deepEqual(
      lost.map(({ dialect, message }) => `${dialect}/${message}`),
      [],
    )
  })
})

for (const vector of vectors) {
  const { dialect, message, verdict, name, why, spec } = vector
  test(`${dialect}/${message} ${verdict}s ${name}: ${why}`, () => {
    assert.ok(why.length > 0 && spec.length > 0, 'a vector says why and by which document')
    const read = dialects[dialect]?.[message]?.read
    assert.ok(read)
    const outcome = read(vector.wire)
    if (verdict === 'accept') {
      assert.ok(outcome.ok, outcome.ok ? '' : JSON.stringify(outcome.particulars.issues))
      expect(outcome.value).toMatchObject(vector.expect)
      return
    }
    assert.ok(!outcome.ok, 'was accepted')
    const expected = (vector.expect as { paths: readonly string[] }).paths
    const found = (outcome.particulars.issues ?? []).map((issue) => issue.path)
    for (const path of expected)
      assert.ok(found.includes(path), `${path} not in ${found.join(', ')}`)
  })
}
