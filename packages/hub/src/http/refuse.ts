/** A refusal as an answer: status, body, and when to come back. */
import type { ErrorBody } from '@chimera/dialects/error'
import type { Answer } from '@chimera/dialects/http-status'
import type { Refused } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { FastifyReply } from 'fastify'
import type { Hub } from '../act/hub.ts'

export type Refuse = (reply: FastifyReply, refused: Refused<Refusal>) => FastifyReply
/** What each file of routes is given. */
export type SubjectRoutes = { readonly hub: Hub; readonly no: Refuse }

export function refuser(
  encode: (refused: Refused<Refusal>, now: Instant) => Answer<ErrorBody>,
  now: () => Instant,
): Refuse {
  return (reply, refused) => {
    const { status, body } = encode(refused, now())
    if (body.retry_after_seconds !== undefined) {
      reply.header('retry-after', body.retry_after_seconds)
    }
    return reply.code(status).send(body)
  }
}
