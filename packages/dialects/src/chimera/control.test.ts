/** An order is read back as it was written, and its words fit what is signed. */
import assert from 'node:assert/strict'
import type { ControlOrder } from '@chimera/domain/control'
import type { AgentId, ControlId, KeyId, OwnerId } from '@chimera/domain/ids'
import fc from 'fast-check'
import { test } from 'vitest'
import { encodeControlOrder, readControlOrder, readNewControl } from './control.ts'

const KEY = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs' as KeyId
const signature = `${'A'.repeat(86)}==`
const uuid = fc.uuid()
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
const addressee = fc.oneof(
  fc.constant({ kind: 'all' as const }),
  uuid.map((id) => ({ kind: 'agent' as const, agent: id as AgentId })),
  fc
    .string({ minLength: 1, maxLength: 128, unit: 'grapheme-ascii' })
    .map((name) => ({ kind: 'owner' as const, owner: name as OwnerId })),
)
const action = fc.oneof(
  fc.constantFrom('pause', 'resume', 'drain').map((type) => ({ type }) as const),
  fc.boolean().map((on) => ({ type: 'publishing' as const, on })),
  fc.double({ min: 0, max: 1, noNaN: true }).map((share) => ({
    type: 'canary' as const,
    // JSON has one zero.
    share: share === 0 ? 0 : share,
  })),
)
const order: fc.Arbitrary<ControlOrder> = fc.record(
  {
    id: uuid.map((id) => id as ControlId),
    to: addressee,
    action,
    reason: fc.constantFrom('It answers nobody.', 'Until Monday: see the plan'),
    issuedAt: instant,
    expiresAt: instant,
    sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    key: fc.constant(KEY),
  },
  {
    requiredKeys: ['id', 'to', 'action', 'issuedAt', 'expiresAt', 'sequence', 'key'],
    noNullPrototype: true,
  },
)

test('X-3 an order is read back as it was written, over JSON', () => {
  fc.assert(
    fc.property(order, (given) => {
      const wire = JSON.stringify({ ...encodeControlOrder(given), signature })
      const read = readControlOrder(JSON.parse(wire))
      assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.particulars))
      assert.deepEqual(read.value, given)
    }),
  )
})

test('X-3 what is asked for is what is then ordered', () => {
  fc.assert(
    fc.property(order, (given) => {
      const { issued_at: _, sequence: __, key_id: ___, ...asked } = encodeControlOrder(given)
      const read = readNewControl(JSON.parse(JSON.stringify(asked)))
      assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.particulars))
      const { issuedAt: ____, sequence: _____, key: ______, ...wanted } = given
      assert.deepEqual(read.value, wanted)
    }),
  )
})
