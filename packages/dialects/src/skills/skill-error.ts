/** The one error with a skill's code in it. */
import { type Static, Type } from 'typebox'
import { ErrorBody } from '../error.ts'
import { ErrorCode } from './call-record.ts'

export const SkillError = Type.Object(
  { ...ErrorBody.properties, code: ErrorCode },
  { title: 'Skill error' },
)
export type SkillError = Static<typeof SkillError>
