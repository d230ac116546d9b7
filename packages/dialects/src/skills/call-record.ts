/**
 * The record of one skill call (SK-3): who called what, how long it took, and how it ended. Inputs
 * and outputs are not in it, only their SHA-256.
 */
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { DateTime, OwnerName, SkillName, TraceId } from '../wire.ts'
import { Count } from './words.ts'

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
/** Codes are words of capitals; new ones may come, so they are not listed here. */
export const ErrorCode = Type.String({
  pattern: '^[A-Z][A-Z0-9_]*$',
  maxLength: LIMITS.skillChars,
})

export const CallRecord = Type.Object(
  {
    skill_name: SkillName,
    agent_id: OwnerName,
    timestamp: DateTime,
    input_hash: Sha256,
    output_hash: Type.Union([Sha256, Type.Null()], { description: 'Null when there is none' }),
    duration_ms: Count,
    error_code: Type.Union([ErrorCode, Type.Null()]),
    retry_count: Count,
    success: Type.Boolean(),
    trace_id: Type.Optional(TraceId),
  },
  {
    title: 'Skill call record',
    allOf: [
      {
        if: { properties: { success: { const: true } }, required: ['success'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { error_code: { type: 'null' }, output_hash: { type: 'string' } } },
        else: { properties: { error_code: { type: 'string' } } },
      },
    ],
  },
)
export type CallRecord = Static<typeof CallRecord>
