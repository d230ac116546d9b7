/** What is refused before a signature is even looked at. */
import assert from 'node:assert/strict'
import { LIMITS } from '@chimera/domain/limits'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { readMessage } from './received.ts'

const outcome = (bytes: Uint8Array): string => {
  const reading = readMessage(bytes)
  return reading.ok ? 'read' : reading.refusal
}

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

describe('V1, V2 bytes that can mean only one thing', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [rule: string, text: string | Uint8Array, outcome: string])[] = [
    ['an object',                         '{"a":1}',                      'read'],
    ['with white space',                  ' {\n"a" : [1, {"a":2}] }\t',   'read'],
    ['colons and braces inside texts',    '{"a:{":":\\":}[","b":"\\\\"}', 'read'],
    ['the same name at two places',       '{"a":{"a":1},"b":[{"a":2}]}',  'read'],
    ['a name that objects inherit',       '{"__proto__":1,"toString":2}', 'read'],
    ['at the limit of depth',             nested(LIMITS.jsonDepth),       'read'],
    ['a name twice',                      '{"a":1,"a":2}',                'message_malformed'],
    ['a name twice with the same value',  '{"a":1,"a":1}',                'message_malformed'],
    ['a name twice, once escaped',        '{"a":1,"\\u0061":2}',          'message_malformed'],
    ['a name twice, further in',          '{"b":[{"a":1,"a":2}]}',        'message_malformed'],
    ['__proto__ twice',                   '{"__proto__":1,"__proto__":2}', 'message_malformed'],
    ['a list',                            '[1]',                          'message_malformed'],
    ['a number',                          '1',                            'message_malformed'],
    ['null',                              'null',                         'message_malformed'],
    ['nothing',                           '',                             'message_malformed'],
    ['two objects',                       '{}{}',                         'message_malformed'],
    ['half an object',                    '{"a":',                        'message_malformed'],
    ['NaN',                               '{"a":NaN}',                    'message_malformed'],
    ['a byte order mark',                 '\ufeff{}',                     'message_malformed'],
    ['one level too deep',                nested(LIMITS.jsonDepth + 1),   'message_malformed'],
    ['a hundred thousand levels',         '['.repeat(100_000),            'message_malformed'],
    ['a byte that is not UTF-8',          Buffer.from('7b2261223a22ff227d', 'hex'), 'message_malformed'],
    ['a surrogate in UTF-8',              Buffer.from('7b2261223a22eda080227d', 'hex'), 'message_malformed'],
    ['over the limit of size',            `{"a":"${'x'.repeat(LIMITS.bodyBytes)}"}`, 'message_oversized'],
  ]
  for (const [rule, text, expected] of rows) {
    test(rule, () => {
      assert.equal(outcome(typeof text === 'string' ? Buffer.from(text) : text), expected)
    })
  }
})

test('V3 any object is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 })),
      (any) => {
        const text = JSON.stringify(any)
        const reading = readMessage(Buffer.from(text))
        assert.ok(reading.ok)
        assert.deepEqual(reading.message, JSON.parse(text))
      },
    ),
  )
})
