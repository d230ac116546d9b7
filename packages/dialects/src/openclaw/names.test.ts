/** Names, versions and correlations as OpenClaw wants them. */
import assert from 'node:assert/strict'
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { isUuid } from '../wire.ts'
import { agentName, clip, correlationOf, versionOf } from './names.ts'

const id = 'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as AgentId

// biome-ignore format: a table is read by its columns
const names: [name: string, written: string, why: string][] = [
  ['chimera-content-node-001', 'chimera-content-node-001',         'one that fits is kept'],
  ['Text-Analyst-3000',        'chimera-text-analyst-3000-a3b8d1b6', 'capitals'],
  ['  Counter & Co.  ',        'chimera-counter-co-a3b8d1b6',        'blanks and signs'],
  ['Übersetzer Nº 5',          'chimera-ubersetzer-no-5-a3b8d1b6',   'accents'],
  ['翻訳',                     'chimera-agent-a3b8d1b6',             'no letter that the pattern has'],
  ['chimera-',                 'chimera-chimera-a3b8d1b6',           'a prefix alone'],
  ['Chimera-Node',             'chimera-chimera-node-a3b8d1b6',      'nearly one that fits'],
  [`chimera-${'x'.repeat(193)}`, `chimera-chimera-${'x'.repeat(175)}-a3b8d1b6`, 'one that is too long'],
]
describe('X-10 the OpenClaw name of an agent', () => {
  for (const [name, written, why] of names) {
    test(`${why}: ${written.slice(0, 40)}`, () => assert.equal(agentName({ id, name }), written))
  }
  test('any name comes out by the pattern and within its length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.nat(8), (part, times) => {
        const name = part.repeat(times)
        const written = agentName({ id, name })
        assert.match(written, /^chimera-[a-z0-9-]+$/)
        assert.ok(written.length <= 200)
      }),
    )
  })
})

// biome-ignore format: a table is read by its columns
const versions: [stated: string | undefined, written: string][] = [
  ['1.2.3', '1.2.3'], ['0.1', '0.1.0'], ['v2', '2.0.0'], ['1.2.3-beta.1', '1.2.3'],
  [undefined, '0.0.0'], ['', '0.0.0'], ['nightly', '0.0.0'], ['1234567890.1', '0.0.0'],
]
describe('OC-1 the version of an agent has three numbers', () => {
  for (const [stated, written] of versions) {
    test(`${stated} → ${written}`, () => assert.equal(versionOf(stated), written))
  }
})

describe('X-4 correlations', () => {
  const read = (text: string) => correlationOf(text as CorrelationId)
  test('a uuid stays as it is', () => assert.equal(read(id), id))
  test('a trace id gets its hyphens', () => {
    assert.equal(read('4bf92f3577b34da6a3ce929d0e0e4736'), '4bf92f35-77b3-4da6-a3ce-929d0e0e4736')
  })
  test('other text becomes a uuid, the same one each time and another for other text', () => {
    const texts = Array.from({ length: 5_000 }, (_, index) => `trace-${index}`)
    const uuids = new Set(texts.map(read))
    assert.equal(uuids.size, texts.length)
    const wrong = [...uuids].filter((each) => !/^.{8}-.{4}-8.{3}-8.{3}-.{12}$/.test(each))
    assert.deepEqual(wrong, [])
    assert.equal(read('trace-1'), read('trace-1'))
    fc.assert(fc.property(fc.string(), (text) => isUuid(read(text))))
  })
})

test('text is cut between characters, never through one', () => {
  assert.equal(clip('abc', 3), 'abc')
  assert.equal(clip('abcd', 3), 'abc')
  assert.equal(clip('🦀🦀🦀', 3), '🦀🦀🦀')
  assert.equal(clip('a🦀🦀🦀', 3), 'a🦀🦀')
  assert.equal(clip('🦀'.repeat(50), 3), '🦀🦀🦀')
})
