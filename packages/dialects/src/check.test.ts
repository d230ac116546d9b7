/** what a refused message is told: every field, in plain words, and never its own value. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, test } from 'vitest'
import { checker, reader } from './check.ts'
import { requiredIf } from './required-if.ts'
import { AnyObject, Credits, DateTime, Uuid } from './wire.ts'

const Message = Type.Object(
  {
    id: Type.Optional(Uuid),
    at: Type.Optional(DateTime),
    price: Type.Optional(Credits),
    name: Type.Optional(Type.String({ minLength: 2, maxLength: 4 })),
    kind: Type.Optional(Type.Enum(['small', 'large'])),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 2 })),
    reason: Type.Optional(Type.String()),
    payload: Type.Optional(AnyObject),
  },
  { additionalProperties: false, allOf: [requiredIf('kind', 'large', ['reason'])] },
)
const check = checker(Message)
const issuesOf = (value: unknown) => {
  const checked = check(value)
  return checked.ok ? [] : (checked.particulars.issues ?? [])
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, wire: unknown, path: string, expected: string, got: string][] = [
  ['a type',              { count: '5' },          '/count',   'a whole number',           'a string'],
  ['null',                { name: null },          '/name',    'a string',                 'null'],
  ['a bound',             { count: 10 },           '/count',   'at most 9',                'a number'],
  ['a length',            { name: 'abcde' },       '/name',    'at most 4 characters',     'a string of 5 characters'],
  ['characters, not code units', { name: '💡💡💡💡💡' }, '/name', 'at most 4 characters',  'a string of 5 characters'],
  ['a list',              { tags: ['a', 'b', 'c'] }, '/tags',  'at most 2 elements',       'a list of 3 elements'],
  ['an element',          { tags: ['a', 7] },      '/tags/1',  'a string',                 'a number'],
  ['a choice',            { kind: 'medium' },      '/kind',    'one of small, large',      'a string'],
  ['a uuid',              { id: 'x' },             '/id',      'a uuid such as 550e8400-e29b-41d4-a716-446655440000', 'a string'],
  ['a time',              { at: 'noon' },          '/at',      'a time with a zone such as 2026-02-06T16:00:00Z', 'a string'],
  ['credits',             { price: 0.123 },        '/price',   'credits with at most two decimals', 'a number'],
  ['what is missing',     { kind: 'large' },       '/reason',  'to be present',            'nothing'],
  ['what is too much',    { colour: 'red' },       '/colour',  'no field of this name',    'a string'],
  ['the message itself',  [],                      '',         'an object',                'a list of 0 elements'],
]
describe('X-3 a complaint names', () => {
  for (const [rule, wire, path, expected, got] of rows) {
    test(rule, () => assert.deepEqual(issuesOf(wire), [{ path, expected, got }]))
  }
})

test('X-3 all complaints come at once', () => {
  const paths = issuesOf({ id: 1, at: 2, price: '3', name: 4 }).map((issue) => issue.path)
  assert.deepEqual(paths.sort(), ['/at', '/id', '/name', '/price'])
})

test('A5 but no more than twenty', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`extra${index}`, 1]))
  assert.equal(issuesOf(many).length, 20)
})

test('X-5 the value is not repeated: it could be a secret', () => {
  const secret = `chm_owner_${'s3cr3t'.repeat(5)}`
  for (const wire of [{ id: secret }, { kind: secret }, { at: secret }, { name: secret }]) {
    assert.ok(!JSON.stringify(check(wire)).includes(secret))
  }
})

test('V1 a check changes nothing, and hands on the very message', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (payload) => {
      const message = { payload: { any: payload } }
      const before = JSON.stringify(message)
      const checked = check(message)
      assert.equal(JSON.stringify(message), before)
      if (checked.ok) assert.equal(checked.message, message)
    }),
  )
})

test('a cross check complains in the same way, and a reader decodes what passed', () => {
  const crossed = checker(Message, ({ count }) =>
    count === 7 ? [{ path: '/count', expected: 'any other', got: 'a number' }] : [],
  )
  const read = reader(crossed, ({ count = 0 }) => count * 2)
  assert.deepEqual(read({ count: 4 }), { ok: true, value: 8 })
  const refused = read({ count: 7 })
  assert.equal(!refused.ok && refused.particulars.issues?.[0]?.path, '/count')
})
