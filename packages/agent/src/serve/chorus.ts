/**
 * Chorus at the agent's own door: jobs (CH-4 … CH-6). Without a callback the answer is the result;
 * with one, or when the wait is long, it is 202 and the result follows.
 */
import * as chorus from '@chimera/dialects/chorus'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import type { Refused } from '@chimera/domain/decision'
import type { TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import type { FastifyPluginAsync } from 'fastify'
import type { KeptWork } from '../work/keep.ts'
import { pendingOf } from '../work/letters.ts'
import {
  askInTime,
  type ById,
  type Came,
  type Doors,
  findWork,
  openBoth,
  type Reply,
  tellNotice,
  waited,
} from './doors.ts'
import { isFault, refusalOf } from './failed.ts'

const TAKEN_ON = 202

export const chorusRoutes: FastifyPluginAsync<{ readonly doors: Doors }> = async (
  app,
  { doors },
) => {
  const { self, clock, workshop } = doors

  /** A refused job in the shape of its result, where it is known which job it was (CH-11). */
  function no(reply: Reply, refused: Refused<Refusal>, task?: TaskId): Reply {
    const now = clock.now()
    const { retryAt } = refused.particulars
    if (retryAt !== undefined) {
      reply.header('retry-after', Math.max(1, Math.ceil((retryAt - now) / 1_000)))
    }
    const { status, body } =
      task === undefined
        ? chorus.encodeRefusal(refused, now)
        : chorus.encodeJobRefusal(refused, { task, agent: self.agent }, now)
    return reply.code(status).send(body)
  }

  function failed(error: unknown, request: Came, reply: Reply): void {
    const refused = refusalOf(error, clock.now())
    if (isFault(refused)) request.log.error({ err: error }, 'chorus failed')
    no(reply, refused)
  }
  app.setErrorHandler(failed)

  function tell(reply: Reply, kept: KeptWork): Reply {
    const { ask } = kept.work
    if (kept.refused !== undefined) return no(reply, kept.refused, ask.task)
    if (kept.report !== undefined) {
      return reply.send(chorus.encodeJobResult(kept.report, clock.now()))
    }
    return reply.code(TAKEN_ON).send(chorus.encodeJobResult(pendingOf(self, kept), clock.now()))
  }

  async function ask(request: Came, reply: Reply): Promise<unknown> {
    const read = chorus.readJob(request.body)
    if (!read.ok) return no(reply, read, taskIn(request.body))
    const { value: asked } = read
    const signer = await doors.signerOf(request)
    if (!signer.ok) return no(reply, signer, asked.task)
    const taken = await askInTime(doors, { door: 'chorus', asked, signer: signer.key })
    if (!taken.ok) return no(reply, taken, asked.task)
    tellNotice(doors, reply, taken.kept)
    if (asked.callback !== undefined) return tell(reply, taken.kept)
    return tell(reply, await workshop.ended(taken.kept, LIMITS.syncWaitMs))
  }
  openBoth(app, doors, '/jobs', { answer: ask, failed })

  app.get<ById>('/jobs/:id', async (request, reply) => {
    const found = await findWork(doors, request)
    if (!found.ok) return no(reply, found)
    return tell(reply, await waited(doors, request, found.kept))
  })
}

function taskIn(body: unknown): TaskId | undefined {
  if (typeof body !== 'object' || body === null || !('job_id' in body)) return undefined
  const { job_id: id } = body
  return typeof id === 'string' && isUuid(id) ? readUuid<TaskId>(id) : undefined
}
