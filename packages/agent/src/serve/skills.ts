/**
 * A skill called by its name: the body is the input, the answer the output. It is work like any
 * other, under the key that the caller names.
 */
import * as skills from '@chimera/dialects/skills'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { CorrelationId, IdempotencyKey, TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import { DEFAULT_PRIORITY } from '@chimera/domain/work/queue'
import type { WorkAsked } from '@chimera/domain/work/work'
import type { FastifyPluginAsync } from 'fastify'
import type { KeptWork } from '../work/keep.ts'
import { askInTime, type Came, type Doors, openBoth, type Reply, tellNotice } from './doors.ts'
import { isFault, refusalOf } from './failed.ts'

/** Which agent calls; on an open hub any name will do. */
const AGENT_FIELD = 'x-chimera-agent'
const ANYBODY = 'anybody'
const TAKEN_ON = 202

export const skillRoutes: FastifyPluginAsync<{ readonly doors: Doors }> = async (
  app,
  { doors },
) => {
  const { clock, workshop } = doors

  function no(reply: Reply, refused: Refused<Refusal>): Reply {
    const { status, body } = skills.encodeRefusal(refused, clock.now())
    if (body.retry_after_seconds !== undefined) {
      reply.header('retry-after', body.retry_after_seconds)
    }
    return reply.code(status).send(body)
  }

  function failed(error: unknown, request: Came, reply: Reply): void {
    const refused = refusalOf(error, clock.now())
    if (isFault(refused)) request.log.error({ err: error }, 'a skill call failed')
    no(reply, refused)
  }
  app.setErrorHandler(failed)

  async function call(request: Came, reply: Reply): Promise<unknown> {
    const asked = readCall(doors, request)
    if ('ok' in asked) return no(reply, asked)
    const signer = await doors.signerOf(request)
    if (!signer.ok) return no(reply, signer)
    const taken = await askInTime(doors, { door: 'skill', asked, signer: signer.key })
    if (!taken.ok) return no(reply, taken)
    tellNotice(doors, reply, taken.kept)
    const kept = await workshop.ended(taken.kept, LIMITS.syncWaitMs)
    reply.header('x-work-id', kept.work.ask.work)
    if (kept.refused !== undefined) return no(reply, kept.refused)
    return tell(reply, kept)
  }
  openBoth(app, doors, '/skills/:name', { answer: call, failed })

  function tell(reply: Reply, kept: KeptWork): Reply {
    const { report } = kept
    if (report === undefined) return reply.code(TAKEN_ON).send({})
    if (report.how === 'done') return reply.send(report.output ?? {})
    if (report.how === 'cancelled') return no(reply, refuse('work_ended'))
    const { code = 'INTERNAL_ERROR', message = '', lasting } = report.fault ?? {}
    const skill = doors.skills.find(({ id }) => id === kept.skill)
    const status = skill?.errors.get(code)?.http ?? 500
    return reply.code(status).send({ code, message, retryable: lasting === 'transient' })
  }
}

function readCall(
  { chance }: Doors,
  { params, body, headers }: Came,
): WorkAsked | Refused<Refusal> {
  const { name } = params as { readonly name: string }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const issue = {
      path: '',
      expected: 'an object',
      got: Array.isArray(body) ? 'array' : typeof body,
    }
    return refuse('message_malformed', { issues: [issue] })
  }
  const given = headers['idempotency-key']
  if (given !== undefined && (typeof given !== 'string' || given.length > LIMITS.keyChars)) {
    const expected = `1 to ${LIMITS.keyChars} characters`
    return refuse('message_malformed', {
      issues: [{ path: 'idempotency-key', expected, got: 'something else' }],
    })
  }
  const isTask = given !== undefined && isUuid(given)
  const task = isTask ? readUuid<TaskId>(given) : (chance.uuid() as TaskId)
  const agent = headers[AGENT_FIELD]
  return {
    type: 'ask_work',
    task,
    claimedRequester: typeof agent === 'string' && isUuid(agent) ? readUuid(agent) : ANYBODY,
    skill: name,
    input: { ...body },
    key: (given ?? task) as IdempotencyKey,
    correlation: task as string as CorrelationId,
    priority: DEFAULT_PRIORITY,
  }
}
