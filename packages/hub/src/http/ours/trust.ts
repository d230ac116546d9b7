/** `/v1/trust`: scores with their reasons, and what a ring of fresh agents pays. Public. */
import * as ours from '@chimera/dialects/chimera'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import type { AgentId } from '@chimera/domain/ids'
import type { TrustRules } from '@chimera/domain/trust/pair-limit'
import type { FastifyPluginAsync } from 'fastify'
import { priceRings, showTrust } from '../../act/trust.ts'
import { PUBLIC } from '../access.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly agent_id: string } }

export const trustRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  let priced: { readonly rules: TrustRules; readonly cost: object } | undefined
  app.get('/trust/ring-cost', PUBLIC, async () => {
    const rules = hub.scores.rules()
    if (priced?.rules !== rules) {
      priced = { rules, cost: ours.encodeRingCost(priceRings(hub)) }
    }
    return priced.cost
  })

  app.get<ById>('/trust/:agent_id', PUBLIC, async (request, reply) => {
    const asked = ours.readTrustQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const { agent_id: id } = request.params
    const agent = isUuid(id) ? readUuid<AgentId>(id) : (id as AgentId)
    const shown = showTrust(hub, { agent, ...asked.value })
    return shown.ok ? ours.encodeTrust(shown) : no(reply, shown)
  })
}
