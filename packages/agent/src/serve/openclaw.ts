/**
 * OpenClaw at the agent's own door (OC-23): requests and their answers, results by id, cancelling,
 * and how the work goes on. Every route is read, act, encode.
 */
import * as openclaw from '@chimera/dialects/openclaw'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import type { Refused } from '@chimera/domain/decision'
import type { CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { endOf } from '@chimera/domain/work/work'
import { isPromise } from '@chimera/skill/soon'
import type { FastifyPluginAsync } from 'fastify'
import type { KeptWork } from '../work/keep.ts'
import { signedResult } from '../work/signed.ts'
import {
  askInTime,
  type ById,
  type Came,
  type Doors,
  findWork,
  hasEnded,
  openBoth,
  type Reply,
  tellNotice,
  waited,
  waitMs,
} from './doors.ts'
import { streamWork } from './events.ts'
import { isFault, refusalOf } from './failed.ts'
import { sendWritten } from './guard.ts'

export const openclawRoutes: FastifyPluginAsync<{ readonly doors: Doors }> = async (
  app,
  { doors },
) => {
  const { self, clock, workshop } = doors

  function answer(reply: Reply, { status, body }: openclaw.ResponseAnswer): Reply {
    const reason = 'rejection_reason' in body ? body.rejection_reason : body
    const seconds =
      reason && 'retry_after_seconds' in reason ? reason.retry_after_seconds : undefined
    if (seconds !== undefined) reply.header('retry-after', seconds)
    return reply.code(status).send(body)
  }
  const no = (reply: Reply, refused: Refused<Refusal>, correlation?: CorrelationId) =>
    answer(reply, openclaw.encodeRefusal(refused, clock.now(), correlation))

  function failed(error: unknown, request: Came, reply: Reply): void {
    const refused = refusalOf(error, clock.now())
    if (isFault(refused)) request.log.error({ err: error }, 'openclaw failed')
    no(reply, refused)
  }
  app.setErrorHandler(failed)

  async function ask(request: Came, reply: Reply): Promise<void> {
    const { body } = request
    const unspoken = openclaw.refuseVersion(body)
    const read = unspoken ?? openclaw.readRequest(body)
    if (!read.ok) return void no(reply, read, correlationIn(body))
    const asked = read.value
    const signing = doors.signerOf(request)
    const signer = isPromise(signing) ? await signing : signing
    if (!signer.ok) return void no(reply, signer, correlationIn(body))
    const taking = askInTime(doors, { door: 'openclaw', asked, signer: signer.key })
    const taken = isPromise(taking) ? await taking : taking
    const to = { task: asked.task, agent: self.agent, correlation: asked.correlation }
    if (!taken.ok) return void answer(reply, openclaw.encodeRefused(taken, to, clock.now()))
    tellNotice(doors, reply, taken.kept)
    const ms = waitMs(request)
    const kept = ms === undefined ? taken.kept : await workshop.ended(taken.kept, ms)
    // Who waits hears the result; who does not, the same answer each time (OC-12).
    if (ms !== undefined && hasEnded(kept)) tell(reply, kept)
    else answer(reply, openclaw.encodeProgress(kept.work, to, clock.now()))
  }
  openBoth(app, doors, '/collaborations', { answer: ask, failed })

  /** The result where there is one, else how the ask stands. */
  function tell(reply: Reply, kept: KeptWork): Reply {
    const { ask, state } = kept.work
    const signed = endOf(state) === undefined ? undefined : signedResult(self, kept)
    if (signed !== undefined) return sendWritten(reply, signed)
    const to = { task: ask.task, agent: self.agent, correlation: ask.correlation }
    if (kept.refused) return answer(reply, openclaw.encodeRefused(kept.refused, to, clock.now()))
    return answer(reply, openclaw.encodeProgress(kept.work, to, clock.now()))
  }

  app.get<ById>('/collaborations/:id', async (request, reply) => {
    const found = await findWork(doors, request)
    if (!found.ok) return no(reply, found)
    return tell(reply, await waited(doors, request, found.kept))
  })

  app.post<ById>('/collaborations/:id/cancel', async (request, reply) => {
    const found = await findWork(doors, request)
    if (!found.ok) return no(reply, found)
    const { correlation, work } = found.kept.work.ask
    const cancelled = await workshop.cancel(found.kept)
    if (!cancelled.ok) return no(reply, cancelled, correlation)
    return tell(reply, (await workshop.find(work)) ?? found.kept)
  })

  app.get<ById>(
    '/collaborations/:id/events',
    { exposeHeadRoute: false },
    async (request, reply) => {
      const found = await findWork(doors, request)
      return found.ok ? streamWork(doors, request, reply, found.kept) : no(reply, found)
    },
  )
}

/** Also of a message that is refused, so that its sender knows which one (OC-22). */
function correlationIn(body: unknown): CorrelationId | undefined {
  if (typeof body !== 'object' || body === null || !('correlation_id' in body)) return undefined
  const { correlation_id: id } = body
  return typeof id === 'string' && isUuid(id) ? readUuid<CorrelationId>(id) : undefined
}
