/** Places go out and come back; events fit their schema, and say no more than their topic may. */
import assert from 'node:assert/strict'
import type { Sealed } from '@chimera/domain/audit'
import type { CorrelationId, Digest, OwnerId } from '@chimera/domain/ids'
import { aboutFact, type Kin } from '@chimera/domain/live'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import {
  encodeLiveAudit,
  encodeLiveEvent,
  LiveAudit,
  LiveEvent,
  readLivePlace,
  writeLiveFrame,
  writeLivePlace,
} from './live.ts'

const sealed = (fact: unknown): Sealed<unknown> => ({
  seq: 7,
  prev: '0'.repeat(64) as Digest,
  hash: '1'.repeat(64) as Digest,
  fact,
  recordedAt: 1_768_471_200_000,
  correlation: 'trace' as CorrelationId,
})
const kin: Kin = { payer: 'ann' as OwnerId, payee: 'bob' as OwnerId }
const told = (fact: unknown) => ({
  sealed: sealed(fact),
  about: aboutFact(sealed(fact), kin),
})

describe('the live feed', () => {
  test('P-7 a place is read back as it was written', () => {
    const event = fc.option(fc.uuid(), { nil: '' })
    const number = fc.nat({ max: 999_999_999_999_999 })
    fc.assert(
      fc.property(fc.record({ seq: number, tx: number, event }), (place) => {
        assert.deepEqual(readLivePlace(writeLivePlace(place)), { ...place })
      }),
    )
    for (const text of ['', '1', '1.2', '1.2.x', '-1.2.0', '1.2.0 ', '00.1.0.0', '1e3.2.0']) {
      assert.equal(readLivePlace(text), undefined, text)
    }
  })

  test('under an open topic nothing of money, parties or causes is shown', () => {
    const captured = {
      type: 'hold_captured',
      at: 1_768_471_200_000,
      hold: 'h1',
      payment: {
        transfer: 't',
        payer: 'ann',
        payee: 'bob',
        amountCents: 250,
        feeCents: 5,
        task: 'j',
      },
    }
    assert.deepEqual(encodeLiveEvent(told(captured), 'trust'), {
      kind: 'hold_captured',
      at: '2026-01-15T10:00:00Z',
      seq: 7,
    })
    assert.deepEqual(encodeLiveEvent(told(captured), 'ledger'), {
      kind: 'hold_captured',
      at: '2026-01-15T10:00:00Z',
      seq: 7,
      correlation: 'trace',
      payer: 'ann',
      payee: 'bob',
      task_id: 'j',
      hold_id: 'h1',
      transfer_id: 't',
      amount: 2.5,
      fee: 0.05,
    })
  })

  test('whatever a fact of another version holds, its event fits the schema', () => {
    const value = fc.oneof(fc.integer(), fc.string({ minLength: 1, maxLength: 50 }), fc.boolean())
    const inner = fc.dictionary(
      fc.constantFrom('id', 'payer', 'payee', 'task', 'amountCents', 'slots', 'hold', 'version'),
      value,
    )
    const fact = fc.dictionary(
      fc.constantFrom(
        'hold',
        'payment',
        'reservation',
        'record',
        'because',
        'how',
        'work',
        'owner',
      ),
      fc.oneof(value, inner),
    )
    const [event, audit] = [checker(LiveEvent), checker(LiveAudit)]
    fc.assert(
      fc.property(fact, fc.constantFrom('credits_held', 'slots_taken', 'novel'), (more, type) => {
        const each = told({ ...more, type })
        for (const topic of ['work', 'trust'] as const) {
          assert.ok(event(encodeLiveEvent(each, topic)).ok)
        }
        assert.ok(audit(encodeLiveAudit(each)).ok)
      }),
    )
  })

  test('an event is one frame, whatever is written in it', () => {
    const frame = writeLiveFrame({ event: 'work', data: { kind: 'a\nb\r\ndata: x\n\n' } })
    assert.equal(frame.split('\n').length, 4)
    assert.ok(frame.endsWith('\n\n'))
  })
})
