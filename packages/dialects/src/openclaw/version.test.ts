/** Which versions are spoken, and what becomes of a message in another one. */
import assert from 'node:assert/strict'
import { type Desk, decideAdmission } from '@chimera/domain/work/admission'
import type { Ask } from '@chimera/domain/work/work'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import { encodeRefusal, refuseVersion, schema, spokenVersions } from './index.ts'

// biome-ignore format: a table is read by its columns
const rows: [message: unknown, spoken: readonly string[] | undefined, why: string][] = [
  [{},                                undefined, 'none is read as 1.0.0'],
  [{ protocol_version: '1.0.0' },     undefined, 'ours'],
  [{ protocol_version: '1.9.12' },    undefined, 'a newer minor'],
  [{ protocol_version: '2.0.0' },     ['1.0.0'], 'a newer major'],
  [{ protocol_version: '0.9.0' },     ['1.0.0'], 'an older major'],
  [{ protocol_version: '10.0.0' },    ['1.0.0'], 'a major that begins like ours'],
  [{ protocol_version: '2.0' },       undefined, 'not a version: the schema says so'],
  [{ protocol_version: 2 },           undefined, 'a number: the schema says so'],
  [{ protocol_version: null },        undefined, 'null: the schema says so'],
  [{ protocol_version: `2.0.${'0'.repeat(99)}` }, undefined, 'endless: the schema says so'],
  [null,                              undefined, 'no message at all'],
  ['2.0.0',                           undefined, 'a string is no message'],
]
describe('OC-21 versions', () => {
  for (const [message, spoken, why] of rows) {
    test(`${why}: ${JSON.stringify(message)?.slice(0, 40)}`, () => {
      assert.deepEqual(spokenVersions(message), spoken)
    })
  }

  test('a message of another major is refused with the versions that are spoken', () => {
    const refused = refuseVersion({ protocol_version: '2.0.0', all_else: 'is new' })
    assert.ok(refused)
    const { status, body } = encodeRefusal(refused, 0)
    assert.equal(status, 400)
    assert.equal(body.code, 'version_unsupported')
    assert.deepEqual(body.details, {
      reason: 'version_unsupported',
      supported_versions: ['1.0.0'],
    })
    assert.ok(checker(schema.ProtocolError)(body).ok)
    assert.equal(refuseVersion({ protocol_version: '1.0.0' }), undefined)
  })

  test('a request of another major climbs no higher than that rung', () => {
    const spoken = spokenVersions({ protocol_version: '3.0.0' })
    assert.ok(spoken)
    const examined = { schemaIssues: [], inputIssues: [], spokenVersions: spoken }
    const desk = { accepting: false, skills: [] } as unknown as Desk
    const decision = decideAdmission(desk, { skill: 'none' } as Ask, examined, 0)
    assert.ok(!decision.ok)
    const { body } = encodeRefusal(decision, 0)
    assert.equal(body.code, 'version_unsupported')
    assert.deepEqual(body.details, {
      reason: 'version_unsupported',
      supported_versions: ['1.0.0'],
    })
  })
})
