/** `/v1/offers`: many reserve offers together; each is promised, or not, by itself. */
import * as ours from '@chimera/dialects/chimera'
import { readReserveOffer } from '@chimera/dialects/moltbook'
import type { ReserveOffer } from '@chimera/dialects/moltbook/schema'
import type { FastifyPluginAsync } from 'fastify'
import type { Caller } from '../../act/caller.ts'
import { presentOffer } from '../../act/offers.ts'
import type { SubjectRoutes } from '../refuse.ts'

export const offerRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  async function present(caller: Caller, message: object): Promise<ours.OfferOutcome> {
    const read = readReserveOffer(message)
    if (!read.ok) return read
    return presentOffer(hub, caller, { offered: read.value, message: message as ReserveOffer })
  }

  app.post('/offers', async (request, reply) => {
    const asked = ours.readOfferBatch(request.body)
    if (!asked.ok) return no(reply, asked)
    // Together: they are verified as one lot, and decided in one batch of the books.
    const outcomes = await Promise.all(asked.value.map((each) => present(request.caller, each)))
    return ours.encodeOfferOutcomes(outcomes, hub.now())
  })
}
