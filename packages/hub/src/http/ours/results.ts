/** `/v1/results`: many results of one agent together; each is taken or refused by itself. */
import * as ours from '@chimera/dialects/chimera'
import * as openclaw from '@chimera/dialects/openclaw'
import type { FastifyPluginAsync } from 'fastify'
import type { Caller } from '../../act/caller.ts'
import { recordResult } from '../../act/results.ts'
import { tellHirer } from '../../act/telling.ts'
import type { SubjectRoutes } from '../refuse.ts'

export const resultBatchRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  async function take(caller: Caller, message: object): Promise<ours.ResultOutcome> {
    const unspoken = openclaw.refuseVersion(message)
    if (unspoken !== undefined) return unspoken
    const said = openclaw.readResult(message)
    if (!said.ok) return said
    const outcome = await recordResult(hub, caller, said.value)
    if (outcome.ok) await tellHirer(hub, said.value, message)
    return outcome
  }

  app.post('/results', async (request, reply) => {
    const asked = ours.readResultBatch(request.body)
    if (!asked.ok) return no(reply, asked)
    const outcomes = await Promise.all(asked.value.map((each) => take(request.caller, each)))
    return ours.encodeResultOutcomes(outcomes, hub.now())
  })
}
