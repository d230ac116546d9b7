/** Domain refusals under `/v1`: the one error of every door, with our own codes as they are. */
import type { Refused } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { Type } from 'typebox'
import { type ErrorBody as Body, ErrorBody, encodeError } from '../error.ts'
import { type Answer, statusOf } from '../http-status.ts'

export const ErrorAnswer = Type.Object(ErrorBody.properties, { title: 'Chimera error' })

export function encodeRefusal(refused: Refused<Refusal>, now: Instant): Answer<Body> {
  return {
    status: statusOf(refused.refusal),
    body: encodeError(refused, refused.refusal, now),
  }
}
