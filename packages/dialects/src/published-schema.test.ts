/** Schemas from strangers: their bounds, to the byte and to the level, and the maps of Chorus. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { findSchemaIssues, readPublishedSchema } from './published-schema.ts'

const nested = (levels: number): object => (levels === 0 ? {} : { not: nested(levels - 1) })
/** A schema that is written with exactly so many characters. */
const sized = (chars: number) => ({ title: '-'.repeat(chars - '{"title":""}'.length) })

// biome-ignore format: a table is read by its columns
const rows: [why: string, schema: object, path: string | undefined][] = [
  ['an empty one',                      {},                                                     undefined],
  ['as large as is allowed',            sized(32_768),                                          undefined],
  ['one byte more',                     sized(32_769),                                          '/s'],
  ['small, but long when it is written', { title: '\u0001'.repeat(5_500) },                     '/s'],
  ['as deep as is allowed',             nested(16),                                             undefined],
  ['one level deeper',                  nested(17),                                             `/s${'/not'.repeat(17)}`],
  ['a reference within',                { $ref: '#/definitions/a', definitions: { a: {} } },    undefined],
  ['a reference to elsewhere',          { allOf: [{}, { $ref: 'https://example.org/a.json' }] }, '/s/allOf/1/$ref'],
  ['a relative reference',              { $ref: 'other.json' },                                 '/s/$ref'],
  ['a property called $ref',            { properties: { $ref: { type: 'string' } } },           undefined],
  ['size before references',            { $ref: 'other.json', ...sized(32_768) },               '/s'],
]
describe('OC-1 published schemas are bounded', () => {
  for (const [why, schema, path] of rows) {
    test(why, () => assert.equal(findSchemaIssues({ ...schema }, '/s')[0]?.path, path))
  }
  test('the quick look never lets through what the exact one would refuse', () => {
    // Characters that are written as one, two, three and six.
    const text = fc.string({ unit: fc.constantFrom('a', '"', 'é', '\u0001'), maxLength: 40 })
    const schema = fc.dictionary(text, fc.anything({ key: text, values: [text, fc.double()] }), {
      maxKeys: 6,
    })
    fc.assert(
      fc.property(schema, fc.nat(400), (each, times) => {
        const value = JSON.parse(JSON.stringify({ enum: Array(times).fill(each) }))
        const oversized = JSON.stringify(value).length > 32_768
        const found = findSchemaIssues(value, '/s').some(({ expected }) =>
          expected.includes('bytes'),
        )
        assert.equal(found, oversized)
      }),
    )
  })
})

test('CH-1 a flat map of key to type name is the schema that it stands for', () => {
  assert.deepEqual(readPublishedSchema({ text: 'string', count: 'int', rest: 'whatever' }), {
    type: 'object',
    required: ['text', 'count', 'rest'],
    properties: { text: { type: 'string' }, count: { type: 'integer' }, rest: {} },
  })
  const schema = { type: 'object', title: 'a schema already' }
  assert.equal(readPublishedSchema(schema), schema)
})
