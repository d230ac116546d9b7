/**
 * Schemas of strangers. The table says what passes; the hostile ones show that getting ready and
 * checking end soon whatever is published, and fail where they cannot tell.
 */
import assert from 'node:assert/strict'
import { LIMITS } from '@chimera/domain/limits'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { compileForeignSchema } from './foreign-schema.ts'

type Schema = Readonly<Record<string, unknown>>

function issuesOf(schema: Schema, value: unknown) {
  const ready = compileForeignSchema(schema)
  assert.ok(ready.ok, JSON.stringify(ready))
  return ready.check(value)
}
const refusedAs = (schema: Schema) => {
  const ready = compileForeignSchema(schema)
  return ready.ok ? undefined : ready.issues[0]?.path
}
const json = (text: string): Schema => JSON.parse(text)

// biome-ignore format: a table is read by its columns
const rows: [rule: string, schema: Schema, fits: unknown, fails: unknown][] = [
  ['a type',                       { type: 'string' },                                   'a',                 1],
  ['one of several types',         { type: ['integer', 'null'] },                        null,                1.5],
  ['a bound',                      { minimum: 1, exclusiveMaximum: 3 },                  2,                   3],
  ['a multiple, tenths too',       { multipleOf: 0.1 },                                  0.3,                 0.35],
  ['a length in characters',       { maxLength: 1 },                                     '😀',                'ab'],
  ['a pattern',                    { pattern: '^[a-z]{2,3}\\d$' },                       'ab1',               'a1'],
  ['a pattern anywhere',           { pattern: 'b' },                                     'abc',               'ac'],
  ['each its own pattern',         { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } }, { a: 'a', b: 'b' }, { a: 'a', b: 'a' }],
  ['what must be there',           { required: ['a'] },                                  { a: 1 },            {}],
  ['inherited members do not count', { required: ['constructor'] },                      json('{"constructor":1}'), {}],
  ['nor do they have to fit',      { properties: { toString: { type: 'string' } } },     {},                  { toString: 1 }],
  ['no other members',             { properties: { a: {} }, additionalProperties: false }, { a: 1 },          { b: 1 }],
  ['members by pattern',           { patternProperties: { '^n': { type: 'number' } } },  { n1: 1, x: 'a' },   { n1: 'a' }],
  ['names of members',             { propertyNames: { maxLength: 1 } },                  { a: 1 },            { ab: 1 }],
  ['what goes with what',          { dependentRequired: { a: ['b'] } },                  { a: 1, b: 1 },      { a: 1 }],
  ['the same in the older word',   { dependencies: { a: ['b'], c: { required: ['d'] } } }, { a: 1, b: 1 },    { c: 1 }],
  ['what goes with a schema',      { dependentSchemas: { a: { required: ['b'] } } },     { a: 1, b: 1 },      { a: 1 }],
  ['elements',                     { items: { type: 'number' } },                        [1],                 ['a']],
  ['the first elements',           { prefixItems: [{ type: 'number' }] },                [1, 'a'],            ['a']],
  ['the same in the older way',    { items: [{ type: 'number' }], additionalItems: false }, [1],              [1, 2]],
  ['something among them',         { contains: { const: 1 }, minContains: 2 },           [1, 1],              [1, 2]],
  ['no element twice',             { uniqueItems: true },                                [{ a: 1, b: 2 }, { a: 1 }], [{ a: 1, b: 2 }, { b: 2, a: 1 }]],
  ['one of a list',                { enum: ['a', { b: [1] }] },                          { b: [1] },          { b: [2] }],
  ['both lists count',             { enum: ['a', 'b'], const: 'a' },                     'a',                 'b'],
  ['compared by value',            json('{"const":{"constructor":{"a":1}}}'),            json('{"constructor":{"a":1}}'), json('{"constructor":{"a":2}}')],
  ['whatever members are called',  { const: { a: 1 } },                                  { a: 1 },            json('{"valueOf":1}')],
  ['all of',                       { allOf: [{ minimum: 1 }, { maximum: 2 }] },          2,                   3],
  ['any of',                       { anyOf: [{ const: 1 }, { const: 2 }] },              2,                   3],
  ['exactly one of',               { oneOf: [{ minimum: 1 }, { minimum: 2 }] },          1,                   2],
  ['not',                          { not: { type: 'null' } },                            1,                   null],
  ['if, then, else',               json('{"if":{"const":1},"then":{},"else":{"const":2}}'),   2,                   3],
  ['what nothing else looked at',  { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
  ['a reference',                  { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'null' } } }, null,        1],
  ['words beside a reference',     { $ref: '#/$defs/a', minimum: 2, $defs: { a: { maximum: 3 } } }, 2,        1],
  ['a list within a list',         { properties: { next: { $ref: '#' } }, required: ['n'] }, { n: 1, next: { n: 2 } }, { n: 1, next: {} }],
  ['a day of the calendar',        { format: 'date' },                                   '2024-02-29',        '2023-02-29'],
  ['a time with its zone',         { format: 'date-time' },                              '2026-02-06T16:00:00Z', '2026-02-06 16:00:00'],
  ['a mail address',               { format: 'email' },                                  'a.b@example.org',   'a b@example.org'],
  ['an address',                   { format: 'uri' },                                    'https://example.org/a', 'example.org'],
  ['a uuid',                       { format: 'uuid' },                                   '550e8400-e29b-41d4-a716-446655440000', 'urn:uuid:550e8400-e29b-41d4-a716-446655440000'],
  ['a host',                       { format: 'hostname' },                               'a.example',         '-a.example'],
  ['nothing at all',               { not: {} , title: 'x' },                             undefined,           1],
]
describe('OC-17 an output is held to its published schema', () => {
  for (const [rule, schema, fits, fails] of rows) {
    test(rule, () => {
      if (fits !== undefined) assert.deepEqual(issuesOf(schema, fits), [])
      assert.notEqual(issuesOf(schema, fails).length, 0)
    })
  }

  test('words that only describe do not constrain', () => {
    const schema = { title: 'a', description: 'b', default: 1, examples: [1], format: 'colour' }
    assert.deepEqual(issuesOf({ ...schema, $comment: 'c', 'x-own': { type: 'null' } }, 'red'), [])
  })

  test('an issue names the field, what was expected and what came, and repeats no value', () => {
    const schema = {
      type: 'object',
      required: ['a', 'b'],
      properties: { b: { type: 'string' }, c: { pattern: '^x$' }, d: { enum: ['secret'] } },
      additionalProperties: false,
    }
    assert.deepEqual(issuesOf(schema, { b: 1, c: 'y', d: 'hidden', e: [] }), [
      { path: '/a', expected: 'to be present', got: 'nothing' },
      { path: '/e', expected: 'no field of this name', got: 'a list' },
      { path: '/b', expected: 'must be string', got: 'a number' },
      { path: '/c', expected: 'text that matches ^x$', got: 'a string' },
      { path: '/d', expected: 'one of the values that the schema lists', got: 'a string' },
    ])
  })

  test('the answer lists a bounded number of issues', () => {
    const issues = issuesOf({ items: { type: 'string' } }, Array(5_000).fill(1))
    assert.equal(issues.length, LIMITS.issues)
  })
})

const nested = (levels: number): Schema => (levels === 0 ? {} : { not: nested(levels - 1) })
const parts = (count: number) => ({ anyOf: Array.from({ length: count }, () => ({ const: 1 })) })

// biome-ignore format: a table is read by its columns
const unreadable: [rule: string, schema: Schema, path: string][] = [
  ['look-ahead',                 { properties: { a: { pattern: '^(?=a)b' } } },       '/properties/a/pattern'],
  ['look-behind',                { pattern: '(?<=a)b' },                              '/pattern'],
  ['a back-reference by number', { pattern: '(a)\\1' },                               '/pattern'],
  ['a back-reference by name',   { pattern: '(?<n>a)\\k<n>' },                        '/pattern'],
  ['such a pattern for members', { patternProperties: { '(?!a)': {} } },              '/patternProperties/(?!a)'],
  ['a pattern that grows',       { pattern: '((a{90}){90}){90}' },                    '/pattern'],
  ['one that grows a little',    { pattern: '(?:\\pL{900}){9}' },                     '/pattern'],
  ['many that grow',             { allOf: Array.from({ length: 9 }, (_, index) => ({ pattern: `\\pL{90${index}}` })) }, '/allOf/5/pattern'],
  ['a pattern that is none',     { pattern: '(' },                                    '/pattern'],
  ['a reference to elsewhere',   { $ref: 'https://example.org/a.json' },              '/$ref'],
  ['a reference by name',        { $ref: '#name' },                                   '/$ref'],
  ['a reference to nothing',     { $ref: '#/$defs/a' },                               '/$ref'],
  ['a reference to what objects inherit', { $ref: '#/constructor' },                  '/$ref'],
  ['a reference that moves',     { $dynamicRef: '#a' },                               '/$dynamicRef'],
  ['its predecessor',            { $recursiveRef: '#' },                              '/$recursiveRef'],
  ['another base for references', { properties: { a: { $id: 'https://example.org' } } }, '/properties/a/$id'],
  ['a member called __proto__',  json('{"properties":{"__proto__":{}}}'),             '/properties'],
  ['too many levels',            nested(17),                                          '/not'.repeat(17)],
  ['too many parts',             parts(300),                                        '/anyOf/299'],
  ['too many bytes',             { title: 'a'.repeat(32_768) },                       ''],
  ['a type that is none',        { type: 'text' },                                    '/type'],
  ['a bound that is none',       { minimum: '1' },                                    '/minimum'],
  ['a list that is none',        { allOf: {} },                                       '/allOf'],
  ['an empty list of schemas',   { anyOf: [] },                                       '/anyOf'],
  ['a schema that is none',      { items: 'string' },                                 '/items'],
  ['names that are none',        { required: [1] },                                   '/required'],
]
describe('OC-17 what cannot be checked safely is refused, not left out', () => {
  for (const [rule, schema, path] of unreadable) {
    test(rule, () => assert.equal(refusedAs(schema), path))
  }
})

/** Each doubles the one after it: 2^60 steps if nobody counts. */
const doubling = Object.fromEntries(
  Array.from({ length: 60 }, (_, at) => {
    const next = { $ref: `#/$defs/d${Math.min(at + 1, 59)}` }
    return [`d${at}`, at === 59 ? {} : { allOf: [next, next] }]
  }),
)
const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })
const branch = () => ({ properties: { a: { $ref: '#' } }, required: ['z'] })
const branching = { anyOf: Array.from({ length: 9 }, branch) }
const numbers = Array.from({ length: 40_000 }, (_, index) => index)

// biome-ignore format: a table is read by its columns
const hostile: [attack: string, schema: Schema, value: unknown, fits: boolean][] = [
  ['a pattern for backtracking',  { pattern: '^(a+)+$' },                             `${'a'.repeat(200_000)}!`,  false],
  ['another one',                 { pattern: '(x+x+)+y' },                            'x'.repeat(200_000),        false],
  ['a large automaton',           { pattern: 'x(?:x|y){500}z' },                     'xyyx'.repeat(50_000),      false],
  ['many patterns on long text',  { allOf: Array.from({ length: 99 }, (_, index) => ({ pattern: `(x|y)*${index}` })) }, 'xy'.repeat(99_000), false],
  ['a reference to itself',       { $ref: '#' },                                      1,                          false],
  ['a reference in a circle',     { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, 1, false],
  ['two references to itself',    { allOf: [{ $ref: '#' }, { $ref: '#' }] },          1,                          false],
  ['references that double',      { $ref: '#/$defs/d0', $defs: doubling },            1,                          false],
  ['branches at every level',     branching,                                          deep(30),                   false],
  ['a huge list of values',       { items: { enum: numbers.slice(0, 5_000) } },       Array(40_000).fill(4_999),  true],
  ['a long list without doubles', { uniqueItems: true },                              numbers.map((each) => ({ each })), true],
  ['objects compared with many',  { items: { enum: numbers.slice(0, 2_000).map((n) => ({ n })) } }, Array.from({ length: 9_000 }, () => ({ n: 1_999 })), true],
  ['as many parts as allowed',    parts(298),                                         2,                          false],
]
describe('OC-17 no schema and no value keeps the hub busy', () => {
  for (const [attack, schema, value, fits] of hostile) {
    test(attack, { timeout: 30_000 }, () => {
      const began = performance.now()
      const issues = issuesOf(schema, value)
      // Far more than any of these takes; what they are after takes minutes to ages.
      assert.ok(performance.now() - began < 10_000)
      assert.equal(issues.length === 0, fits)
    })
  }
})

/** Schemas without patterns, formats and our own bounds, where ajv itself is the reference. */
const { schema: someSchema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown>(
      true,
      false,
      {},
      { type: 'string' },
      { type: 'integer' },
      { minimum: 2 },
    ),
    fc.record({ properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')) }),
    fc.record({ required: fc.uniqueArray(fc.constantFrom('a', 'b', 'toString')) }),
    fc.record({ enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }) }),
    fc.record({ items: tie('schema'), uniqueItems: fc.boolean() }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('schema') }),
    fc.record({ if: tie('schema'), ['then' as string]: tie('schema'), else: tie('schema') }),
    fc.record({ properties: fc.record({ a: tie('schema') }), additionalProperties: tie('schema') }),
  ),
}))

// biome-ignore format: a table is read by its columns
const named: [schema: Record<string, unknown>, value: string, fits: boolean][] = [
  [{ enum: [{}] },                        '{"toString":""}',            false],
  [{ enum: [{ toString: '' }] },          '{"toString":""}',            true],
  [{ enum: [{ toString: '' }] },          '{}',                         false],
  [{ const: { valueOf: 1 } },             '{"valueOf":1}',              true],
  [{ const: { constructor: 1 } },         '{"constructor":2}',          false],
  [{ required: ['toString'] },            '{}',                         false],
  [{ required: ['constructor'] },         '{"constructor":null}',       true],
]
for (const [schema, value, fits] of named) {
  test(`a name of every object is one like others: ${value} for ${JSON.stringify(schema)}`, () => {
    const ready = compileForeignSchema(schema)
    assert.ok(ready.ok)
    assert.equal(ready.check(JSON.parse(value)).length === 0, fits)
  })
}

test('OC-17 a harmless schema means what JSON Schema says', { timeout: 60_000 }, () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 })),
    fc.integer({ min: 0, max: 4 }),
  )
  fc.assert(
    fc.property(someSchema, fc.array(value, { minLength: 1, maxLength: 5 }), (schema, values) => {
      // Names that the reference asks of every object, and stumbles over.
      fc.pre(!/"(?:toString|valueOf|constructor)"/.test(JSON.stringify([schema, values])))
      const whole = { allOf: [schema] }
      const reference = new Ajv2020({
        strict: false,
        ownProperties: true,
        meta: false,
        validateSchema: false,
      })
      const expected = reference.compile(whole)
      const ready = compileForeignSchema(whole)
      assert.ok(ready.ok)
      for (const given of values) {
        // As it comes over the wire: the reference tells an object without a prototype apart.
        const each: unknown = JSON.parse(JSON.stringify(given))
        assert.equal(ready.check(each).length === 0, expected(each), JSON.stringify(each))
      }
    }),
    { numRuns: 100 },
  )
})
