/** `/v1/keys`: who spoke for an agent and when, and how that changes. */
import * as ours from '@chimera/dialects/chimera'
import { readKeyRotation } from '@chimera/dialects/moltbook'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { readMessage } from '@chimera/identity/received'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import {
  beginRecovery,
  callOffRecovery,
  finishRecovery,
  type KeysShown,
  rotateKey,
  showHubKeys,
  showKeys,
} from '../../act/keys.ts'
import { PUBLIC } from '../access.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }

export const keyRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  /** The agent of the path, what is done for it, and what its keys are then. */
  async function answer(
    { params }: FastifyRequest<ById>,
    reply: FastifyReply,
    act: (id: AgentId) => Promise<KeysShown>,
  ): Promise<FastifyReply> {
    const id = agentIn(params.id)
    if (id === undefined) return no(reply, refuse('agent_unknown'))
    const shown = await act(id)
    return shown.ok ? reply.send(ours.encodeKeyHistory(id, shown.keys)) : no(reply, shown)
  }

  app.get('/keys/hub', PUBLIC, async (_, reply) => {
    const shown = await showHubKeys(hub)
    return shown.ok ? ours.encodeHubKeys(shown.present, shown.keys) : no(reply, shown)
  })

  app.get<ById>('/keys/:id', PUBLIC, (request, reply) =>
    answer(request, reply, (id) => showKeys(hub, id)),
  )

  // Both keys have signed it, which is proof enough of who sent it.
  app.post<ById>('/keys/:id/rotate', PUBLIC, (request, reply) =>
    answer(request, reply, async (id) => {
      const read = receive(request, readKeyRotation)
      return read.ok ? rotateKey(hub, id, read) : read
    }),
  )

  app.post<ById>('/keys/:id/recover', (request, reply) =>
    answer(request, reply.code(202), async (id) => {
      const read = receive(request, ours.readKeyRecovery)
      return read.ok ? beginRecovery(hub, request.caller, { id, asked: read }) : read
    }),
  )

  app.post<ById>('/keys/:id/recover/finish', (request, reply) =>
    answer(request, reply, (id) => finishRecovery(hub, request.caller, id)),
  )

  app.post<ById>('/keys/:id/recover/call-off', (request, reply) =>
    answer(request, reply, (id) => callOffRecovery(hub, request.caller, id)),
  )
}

const agentIn = (text: string): AgentId | undefined =>
  isUuid(text) ? readUuid<AgentId>(text) : undefined

type Read<Meaning> = (
  value: unknown,
) => { readonly ok: true; readonly value: Meaning } | Refused<Refusal>

/** From the bytes that came, which are what was signed. */
function receive<Meaning>({ bytes = Buffer.alloc(0) }: FastifyRequest<ById>, read: Read<Meaning>) {
  const received = readMessage(bytes)
  if (!received.ok) return received
  const { message } = received
  const meant = read(message)
  return meant.ok ? ({ ok: true, meaning: meant.value, message } as const) : meant
}
