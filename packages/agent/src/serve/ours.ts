/**
 * Our own language at the agent, for whoever looks after it: what there is to do, agreeing to work
 * that waits on a person (OC-19), and sending again what could not be delivered.
 *
 *   U1  Only the agent's own key opens this door, by a signature: who has that could do all of it
 *       anyway.
 */
import * as ours from '@chimera/dialects/chimera'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { type Decision, type Refused, refuse } from '@chimera/domain/decision'
import type { TaskId, WorkId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { KeptWork } from '../work/keep.ts'
import type { ById, Doors } from './doors.ts'
import { isFault, refusalOf } from './failed.ts'

export const ourRoutes: FastifyPluginAsync<{ readonly doors: Doors }> = async (app, { doors }) => {
  const { clock, self, workshop, signerOf } = doors

  function no(reply: FastifyReply, refused: Refused<Refusal>): FastifyReply {
    const { status, body } = ours.encodeRefusal(refused, clock.now())
    return reply.code(status).send(body)
  }

  app.setErrorHandler((error, request, reply) => {
    const refused = refusalOf(error, clock.now())
    if (isFault(refused)) request.log.error({ err: error }, 'request failed')
    return no(reply, refused)
  })

  /** U1. */
  async function refuseOthers(request: FastifyRequest): Promise<Refused<Refusal> | undefined> {
    const signer = await signerOf(request)
    if (!signer.ok) return signer
    if (signer.key === undefined || signer.pass) return refuse('caller_unknown')
    return signer.key === self.key().publicKey ? undefined : refuse('caller_forbidden')
  }

  async function act(
    request: FastifyRequest<ById>,
    reply: FastifyReply,
    run: (id: WorkId) => Promise<Decision<unknown, Refusal>>,
  ): Promise<FastifyReply> {
    const refused = await refuseOthers(request)
    if (refused !== undefined) return no(reply, refused)
    const { id } = request.params
    const done = isUuid(id) ? await run(readUuid<WorkId>(id)) : refuse('work_unknown')
    return done.ok ? reply.code(204).send() : no(reply, done)
  }

  app.get('/work', async (request, reply) => {
    const refused = await refuseOthers(request)
    if (refused !== undefined) return no(reply, refused)
    return ours.encodeAgentWork((await workshop.list()).map(listed))
  })
  /** By the agent's own name for it or by the requester's, also when it has ended. */
  app.get<ById>('/work/:id', async (request, reply) => {
    const refused = await refuseOthers(request)
    if (refused !== undefined) return no(reply, refused)
    const { id } = request.params
    const work = isUuid(id) ? readUuid<WorkId>(id) : (id as WorkId)
    const kept = (await workshop.find(work)) ?? (await workshop.byTask(work as string as TaskId))
    return kept === undefined
      ? no(reply, refuse('work_unknown'))
      : ours.encodeAgentWork([listed(kept)])
  })
  app.post<ById>('/work/:id/approve', (request, reply) => act(request, reply, workshop.approve))
  app.post<ById>('/work/:id/resend', (request, reply) => act(request, reply, workshop.resend))
}

const listed = ({ work, letters }: KeptWork): ours.WorkListed => ({
  work,
  undelivered: letters.flatMap(({ lost }) => (lost === undefined ? [] : [lost])),
})
