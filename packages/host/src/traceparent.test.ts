/** The format of W3C Trace Context, by its examples and by what must not be believed. */
import assert from 'node:assert/strict'
import type { CorrelationId } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createSeededChance } from './chance.ts'
import { beginTrace, decodeTraceparent, encodeTraceparent } from './traceparent.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const good = `00-${traceId}-${spanId}-01`

describe('H1, H2 a traceparent', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, header: string, sampled: boolean | undefined])[] = [
    ['of the standard, sampled',          good,                                         true],
    ['not sampled',                       `00-${traceId}-${spanId}-00`,                 false],
    ['with flags that we do not know',    `00-${traceId}-${spanId}-fe`,                 false],
    ['with those and sampled',            `00-${traceId}-${spanId}-ff`,                 true],
    ['of a later version',                `cc-${traceId}-${spanId}-01`,                 true],
    ['of a later version with more',      `cc-${traceId}-${spanId}-01-what-comes`,      true],
    ['of a later version, wrongly more',  `cc-${traceId}-${spanId}-01.what`,            undefined],
    ['of version 00 with more',           `${good}-what`,                               undefined],
    ['of the forbidden version',          `ff-${traceId}-${spanId}-01`,                 undefined],
    ['with an empty trace id',            `00-${'0'.repeat(32)}-${spanId}-01`,          undefined],
    ['with an empty span id',             `00-${traceId}-${'0'.repeat(16)}-01`,         undefined],
    ['in upper case',                     good.toUpperCase(),                           undefined],
    ['with a digit too few',              `00-${traceId.slice(1)}-${spanId}-01`,        undefined],
    ['with a digit too many',             `00-${traceId}0-${spanId}-01`,                undefined],
    ['with something else for a digit',   `00-${traceId.slice(1)}g-${spanId}-01`,       undefined],
    ['with blanks around it',             ` ${good} `,                                  undefined],
    ['that is empty',                     '',                                           undefined],
    ['of endless length',                 `cc-${traceId}-${spanId}-01-${'x'.repeat(9_999)}`, undefined],
  ]
  for (const [why, header, sampled] of rows) {
    test(why, () => {
      const expected = sampled === undefined ? undefined : { traceId, spanId, sampled }
      assert.deepEqual(decodeTraceparent(header), expected)
    })
  }
})

const hex = (digits: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: digits, maxLength: digits })
    .map((each) => each.join(''))
    .filter((text) => !/^0+$/.test(text))

test('X-4 what is encoded is decoded to the same', () => {
  const fields = { traceId: hex(32), spanId: hex(16), sampled: fc.boolean() }
  const parent = fc.record(fields, { noNullPrototype: true })
  fc.assert(
    fc.property(parent, (each) => {
      assert.deepEqual(decodeTraceparent(encodeTraceparent(each)), each)
    }),
  )
})

describe('X-4 H3 a trace that begins with a message', () => {
  const begin = (id: string) => beginTrace(id as CorrelationId, createSeededChance(1))

  test('has the message’s uuid as its trace id', () => {
    assert.equal(
      begin('F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6').traceId,
      'f81d4fae7dec11d0a76500a0c91e6bf6',
    )
  })

  test('has one and the same trace id for one and the same other id', () => {
    assert.equal(begin('collab-7').traceId, begin('collab-7').traceId)
    assert.notEqual(begin('collab-7').traceId, begin('collab-8').traceId)
  })

  test('can always be written and read', () => {
    const ids = fc.oneof(
      fc.uuid(),
      fc.string(),
      fc.constant('00000000-0000-0000-0000-000000000000'),
    )
    fc.assert(
      fc.property(ids, fc.integer(), (id, seed) => {
        const begun = beginTrace(id as CorrelationId, createSeededChance(seed))
        assert.deepEqual(decodeTraceparent(encodeTraceparent(begun)), begun)
      }),
    )
    const zeros = { ...createSeededChance(1), bytes: (count: number) => new Uint8Array(count) }
    const begun = beginTrace('x' as CorrelationId, zeros)
    assert.deepEqual(decodeTraceparent(encodeTraceparent(begun)), begun)
  })
})
