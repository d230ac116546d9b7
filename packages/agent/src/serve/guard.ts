/**
 * The last look at an answer before it leaves: it is what its schema says, and what is
 * wrong is told in words that name nothing of the inside.
 *
 *   G1  What a skill said was looked through when it was said, once and for all doors: outputs and
 *       faults at the end of a run, notes as they come. Here it is not looked through again.
 *   G2  Our own words in errors are: they are few, and no part of the way that is hot.
 *   G3  What may not leave is our own bug: it is logged by its place, never with the thing itself,
 *       and the caller is told to ask again.
 */
import { shapeChecker } from '@chimera/dialects/check'
import * as chorus from '@chimera/dialects/chorus'
import { encodeError } from '@chimera/dialects/error'
import { statusOf } from '@chimera/dialects/http-status'
import * as moltbook from '@chimera/dialects/moltbook'
import * as openclaw from '@chimera/dialects/openclaw'
import { sender } from '@chimera/dialects/outgoing'
import { AnyObject } from '@chimera/dialects/wire'
import { refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { JSON_TYPE, type Reply } from './doors.ts'

type Schema = Parameters<typeof shapeChecker>[0]
type Check = (message: object) => { readonly ok: true } | { readonly ok: false; why: unknown }

/** By a member that no other message of ours has. */
const SCHEMAS: readonly (readonly [member: string, schema: Schema])[] = [
  ['result_status', openclaw.MESSAGES['collaboration-result'].schema],
  ['response_status', openclaw.MESSAGES['collaboration-response'].schema],
  ['execution_cost', chorus.MESSAGES['job-result'].schema],
  ['accepted', moltbook.MESSAGES['reserve-ack'].schema],
]
const FIRST_ERROR = 400
const isResult = shapeChecker(openclaw.MESSAGES['collaboration-result'].schema)

/** A result that is written already: looked at like any other, and not written again. */
export function sendWritten(reply: Reply, { message, text }: Written): Reply {
  // What does not fit goes the way of all others, on which it is stopped.
  return isResult(message).ok ? reply.type(JSON_TYPE).send(text) : reply.send(message)
}

type Written = { readonly message: object; readonly text: string }

const SKILL_PATH = '/skills/:name'

/** How an answer leaves: as it is, or as something that may. */
export type Guard = (
  payload: object,
  answer: {
    readonly status: number
    /** As the door is registered. */
    readonly path: string | undefined
    readonly log: FastifyBaseLogger
  },
) => { readonly status: number; readonly leaves: object }

export function createGuard({ now }: { readonly now: () => Instant }): Guard {
  const checks = new Map(SCHEMAS.map(([member, schema]) => [member, checkOf(schema)]))
  const clear = sender<object>(AnyObject, { found: 'blacken' })

  function passed(payload: object, status: number, log: FastifyBaseLogger): object | undefined {
    for (const [member, check] of checks) {
      if (!(member in payload)) continue
      const checked = check(payload)
      if (!checked.ok) {
        log.error({ finds: checked.why, member }, 'an answer did not leave')
        return undefined
      }
      break
    }
    // What is signed says its own words only in a fault, which was looked through (G1).
    if (status < FIRST_ERROR || 'signature' in payload) return payload
    const cleared = clear(payload)
    if (!cleared.ok) return undefined
    if (cleared.blackened.length > 0) {
      log.warn({ finds: cleared.blackened.map(({ path }) => path) }, 'blackened')
    }
    return cleared.message
  }

  return (payload, { status, path, log }) => {
    // The answer to a skill that is called by its name is its output, whatever that looks like.
    if (path === SKILL_PATH && status < FIRST_ERROR) return { status, leaves: payload }
    const leaves = passed(payload, status, log)
    if (leaves !== undefined) return { status, leaves }
    const refused = refuse('service_unavailable')
    const error = encodeError(refused, refused.refusal, now())
    return { status: statusOf(refused.refusal), leaves: error }
  }
}

export function guardAnswers(app: FastifyInstance, guard: Guard): void {
  app.addHook('preSerialization', (request, reply, payload, done) => {
    if (typeof payload !== 'object' || payload === null) return done(null, payload)
    const { log, routeOptions } = request
    const answer = { status: reply.statusCode, path: routeOptions.url, log }
    const { status, leaves } = guard(payload, answer)
    reply.code(status)
    done(null, leaves)
  })
}

function checkOf(schema: Schema): Check {
  const check = shapeChecker(schema)
  return (value) => {
    const checked = check(value)
    if (checked.ok) return { ok: true }
    const { issues = [] } = checked.particulars
    return { ok: false, why: issues.map(({ path, expected }) => `${path}: ${expected}`) }
  }
}
