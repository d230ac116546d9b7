/** `/v1/profiles`: an agent as others see it, and the state that is kept of it under a version. */
import * as ours from '@chimera/dialects/chimera'
import * as openclaw from '@chimera/dialects/openclaw'
import { readAgentProfile } from '@chimera/dialects/skills'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import type { FastifyPluginAsync } from 'fastify'
import type { Caller } from '../../act/caller.ts'
import { observe, portray } from '../../act/observations.ts'
import { registerProfile, showProfile, updateProfile } from '../../act/profiles.ts'
import { needs } from '../access.ts'
import type { SubjectRoutes } from '../refuse.ts'

const OTHER_AGENT = { path: '/agent_id', expected: 'the agent of the path', got: 'another' }

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

  app.put<ById>('/profiles/:id', async ({ params, body, caller, id }, reply) => {
    const stated = readAgentProfile(body)
    if (!stated.ok) return no(reply, stated)
    const meaning = stated.value
    if (!isUuid(params.id) || readUuid<AgentId>(params.id) !== meaning.agent) {
      return no(reply, refuse('message_malformed', { issues: [OTHER_AGENT] }))
    }
    const told = { meaning, message: body as object }
    const registered = await registerProfile(hub, caller, told)
    if (!registered.ok) return no(reply, registered)
    await publishIdentity(meaning.agent, caller, id as CorrelationId)
    return ours.encodeProfile(registered.profile)
  })

  /** As on its own door (OC-1): noted here, and whoever listens hears who is there. */
  async function publishIdentity(
    agent: AgentId,
    caller: Caller,
    correlation: CorrelationId,
  ): Promise<void> {
    const portrait = portray(hub, agent)
    if (!portrait.ok) return
    const identity = openclaw.encodeIdentity({ ...portrait, correlation }, hub.now())
    const said = openclaw.readIdentity(identity)
    if (said.ok && (await observe(hub, caller, said.value)).ok) hub.publish('identity', identity)
  }
}
