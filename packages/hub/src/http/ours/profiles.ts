/** `/v1/profiles`: an agent as others see it, and the state that is kept of it under a version. */
import * as ours from '@chimera/dialects/chimera'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { refuse } from '@chimera/domain/decision'
import type { AgentId } from '@chimera/domain/ids'
import type { FastifyPluginAsync } from 'fastify'
import { showProfile, updateProfile } from '../../act/profiles.ts'
import { needs } from '../access.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }

export const profileRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.get<ById>('/profiles/:id', needs('read'), async ({ params }, reply) => {
    if (!isUuid(params.id)) return no(reply, refuse('agent_unknown'))
    const shown = await showProfile(hub, readUuid<AgentId>(params.id))
    return shown.ok ? ours.encodeProfile(shown.profile) : no(reply, shown)
  })

  app.patch<ById>('/profiles/:id', async ({ params, body, caller }, reply) => {
    const asked = ours.readProfileUpdate(body)
    if (!asked.ok) return no(reply, asked)
    if (!isUuid(params.id)) return no(reply, refuse('agent_unknown'))
    const wanted = { id: readUuid<AgentId>(params.id), update: asked.value }
    const updated = await updateProfile(hub, caller, wanted)
    return updated.ok ? ours.encodeProfileUpdated(updated.profile) : no(reply, updated)
  })
}
