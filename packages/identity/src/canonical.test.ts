/** The RFC's own examples are the table; the runs below hold N1 and N2 to any value. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { canonicalBytes, canonicalDigest, canonicalParsed, canonicalText } from './canonical.ts'

type Rfc8785 = {
  readonly documents: readonly {
    readonly name: string
    readonly input: string
    readonly text?: string
    readonly hex?: string
  }[]
  readonly numbers: readonly { readonly ieee754: string; readonly text: string }[]
  readonly refused: readonly string[]
}

const rfc = JSON.parse(
  readFileSync(new URL('../vectors/rfc8785.json', import.meta.url), 'utf8'),
) as Rfc8785

const double = (hex: string): number => Buffer.from(hex, 'hex').readDoubleBE()

describe('AV-1 the canonical text of RFC 8785', () => {
  for (const { name, input, text, hex } of rfc.documents) {
    test(name, () => {
      const value: unknown = JSON.parse(input)
      if (text !== undefined) assert.equal(canonicalText(value), text)
      if (hex !== undefined) assert.equal(Buffer.from(canonicalBytes(value)).toString('hex'), hex)
      assert.equal(canonicalParsed(value), canonicalText(value))
    })
  }

  for (const { ieee754, text } of rfc.numbers) {
    test(`appendix B: ${ieee754} is ${text}`, () => {
      assert.equal(canonicalText(double(ieee754)), text)
    })
  }

  for (const ieee754 of rfc.refused) {
    test(`appendix B: ${ieee754} is refused`, () => {
      assert.throws(() => canonicalText(double(ieee754)), { code: 'value_not_json' })
    })
  }

  test('the digest is the hexadecimal SHA-256 of the bytes', () => {
    assert.equal(
      canonicalDigest({}),
      '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    )
  })
})

describe('N2 what is not JSON has no canonical form', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [what: string, value: unknown, at: string])[] = [
    ['NaN',                      { a: [Number.NaN] },                     '/a/0: NaN'],
    ['Infinity',                 { a: Number.NEGATIVE_INFINITY },         '/a: -Infinity'],
    ['undefined',                undefined,                               ': undefined'],
    ['an undefined member',      { a: undefined },                        '/a: undefined'],
    ['a hole in a list',         { a: new Array(1) },                     '/a/0: undefined'],
    ['a function',               { a: () => 1 },                          '/a: function'],
    ['a symbol',                 [Symbol('a')],                           '/0: symbol'],
    ['a big integer',            { a: 1n },                               '/a: bigint'],
    ['a date',                   { a: new Date(0) },                      '/a: not a plain object'],
    ['a map',                    { a: new Map() },                        '/a: not a plain object'],
    ['its own way to JSON',      { toJSON: () => 'other' },               '/toJSON: function'],
    ['a lone surrogate',         { a: 'x\ud800y' },                       '/a: a lone surrogate'],
    ['a lone low surrogate',     ['\udc00'],                              '/0: a lone surrogate'],
    ['a lone surrogate as name', { '\udfff': 1 },                         ': a lone surrogate in a name'],
    ['a cycle',                  cycle,                                   `${'/self'.repeat(33)}: deeper than 32`],
  ]
  for (const [what, value, at] of rows) {
    test(what, () => {
      assert.throws(() => canonicalText(value), { code: 'value_not_json', detail: at })
    })
  }

  test('a parsed value that RFC 8785 refuses is undefined, not thrown', () => {
    assert.equal(canonicalParsed(JSON.parse('{"a":1e999}')), undefined)
    assert.equal(canonicalParsed(JSON.parse('["\\ud800"]')), undefined)
    assert.equal(
      canonicalParsed(JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)),
      undefined,
    )
  })
})

const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' })

test('N1 the text is the same whatever the order of the keys', () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, reversed(member)]),
    )
  }
  fc.assert(
    fc.property(json, (value) => {
      assert.equal(canonicalText(reversed(value)), canonicalText(value))
    }),
  )
})

test('N1 reading the text gives the value back, and its text is the same again', () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalText(value)
      const again: unknown = JSON.parse(text)
      assert.equal(canonicalText(again), text)
      assert.equal(canonicalParsed(again), text)
      assert.deepEqual(again, JSON.parse(JSON.stringify(value)))
    }),
  )
})

describe('the fast way and the library write the same', () => {
  const awkward = fc.oneof(
    fc.double(),
    fc.constantFrom(-0, 5e-324, 1e21, 1e-7, 0.1 + 0.2, 2 ** 53, -1e308),
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom('"', '\\', '/', '\u0000', '\u001f', '\u007f', '\u2028', 'é', '😀'),
    }),
    fc.constantFrom('__proto__', 'constructor', 'toJSON', '', '0', '10', '9'),
  )
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      awkward,
      fc.constantFrom(null, true, false),
      fc.array(tie('tree')),
      fc.dictionary(
        fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constant('__proto__')),
        tie('tree'),
      ),
    ),
  }))
  const theirs = (value: unknown): string | undefined => {
    try {
      return canonicalize(value)
    } catch {
      return undefined
    }
  }

  test('for any value that JSON.parse makes', () => {
    fc.assert(
      fc.property(tree, (any) => {
        const parsed: unknown = JSON.parse(JSON.stringify(any))
        assert.equal(canonicalParsed(parsed), theirs(parsed))
      }),
      { numRuns: 2_000 },
    )
  })

  test('P-10 for what our own code makes, too', () => {
    fc.assert(
      fc.property(tree, (any) => {
        const parsed: unknown = JSON.parse(JSON.stringify(any))
        const text = theirs(parsed)
        if (text === undefined) assert.throws(() => canonicalText(parsed))
        else assert.equal(canonicalText(parsed), text)
      }),
      { numRuns: 500 },
    )
  })

  test('P-10 of what is as deep as it may be, and refuse what is deeper', () => {
    const nested = (depth: number): unknown =>
      JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`)
    for (const depth of [31, 32]) assert.equal(canonicalText(nested(depth)), theirs(nested(depth)))
    for (const depth of [33, 34]) {
      assert.throws(() => canonicalText(nested(depth)), { code: 'value_not_json' })
    }
  })

  test('for any JSON text, with numbers and escapes as senders spell them', () => {
    const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/)
    const escaped = fc.stringMatching(/^(\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]|[a-z]){0,6}$/)
    fc.assert(
      fc.property(number, escaped, escaped, (digits, name, text) => {
        const parsed: unknown = JSON.parse(`{"${name}":[${digits},"${text}"],"z":{}}`)
        assert.equal(canonicalParsed(parsed), theirs(parsed))
      }),
      { numRuns: 2_000 },
    )
  })

  test('and without a field, what the library writes of the rest', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (any, value) => {
        const { signature: _, ...rest } = any
        const parsed = JSON.parse(JSON.stringify({ ...rest, signature: value }))
        assert.equal(canonicalParsed(parsed, 'signature'), theirs(JSON.parse(JSON.stringify(rest))))
      }),
    )
  })

  test('the field is left out of the message only, not of what is in it', () => {
    const nested = { signature: 'out', proof: { signature: 'in' } }
    assert.equal(canonicalParsed(nested, 'signature'), '{"proof":{"signature":"in"}}')
  })
})
