/** What was thrown, as the caller hears it. */
import assert from 'node:assert/strict'
import { refuse } from '@chimera/domain/decision'
import { describe, test } from 'vitest'
import { Denied } from './access.ts'
import { isFault, refusalOf } from './failed.ts'

const NOW = 1_800_000_000_000
const oversized = Object.assign(new Error('large'), {
  code: 'FST_ERR_CTP_BODY_TOO_LARGE',
  statusCode: 413,
})
const malformed = Object.assign(new Error('odd'), { statusCode: 400 })
const denied = new Denied(refuse('service_unavailable'))
const later = new Denied(refuse('service_unavailable', { retryAt: NOW + 9 }))

// biome-ignore format: a table is read by its columns
const rows: [what: string, error: unknown, refusal: string, retryAt: number | undefined, fault: boolean][] = [
  ['a body that is too large',               oversized,                            'message_oversized',   undefined,   false],
  ['a body that is no JSON',                 malformed,                            'message_malformed',   undefined,   false],
  ['a caller that is refused',               new Denied(refuse('caller_unknown')), 'caller_unknown',      undefined,   false],
  ['being turned away without a time',       denied,                               'service_unavailable', NOW + 2_000, false],
  ['being turned away until a time',         later,                                'service_unavailable', NOW + 9,     false],
  ['a database that is away',                new Error('connect'),                 'service_unavailable', NOW + 2_000, true],
  ['what is not even an error',              'oops',                               'service_unavailable', NOW + 2_000, true],
]

describe('what was thrown', () => {
  for (const [what, error, refusal, retryAt, fault] of rows) {
    test(what, () => {
      const refused = refusalOf(error, NOW)
      assert.equal(refused.refusal, refusal)
      assert.equal(refused.particulars.retryAt, retryAt)
      assert.equal(isFault(error, refused), fault)
    })
  }
})
