/** `/v1/campaigns` and `/v1/reviews`: what a fleet does, and what a person says of it. */
import * as ours from '@chimera/dialects/chimera'
import type { CorrelationId } from '@chimera/domain/ids'
import type { FastifyPluginAsync } from 'fastify'
import { listCampaigns, showCampaign, tellCampaign, wishOfCampaign } from '../../act/campaigns.ts'
import { answerReview, listReviews, openReview, showReview } from '../../act/reviews.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }

export const campaignRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.post('/campaigns', async (request, reply) => {
    const told = ours.readCampaignRecord(request.body)
    if (!told.ok) return no(reply, told)
    const correlation = request.id as CorrelationId
    const done = await tellCampaign(hub, request.caller, { ...told.value, correlation })
    return done.ok ? reply.code(204).send() : no(reply, done)
  })

  app.get('/campaigns', async (request, reply) => {
    const asked = ours.readCampaignQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const found = await listCampaigns(hub, request.caller, asked.value)
    return found.ok ? ours.encodeCampaigns(found) : no(reply, found)
  })

  app.get<ById>('/campaigns/:id', async (request, reply) => {
    const found = await showCampaign(hub, request.caller, request.params.id)
    return found.ok ? ours.encodeCampaign(found.campaign) : no(reply, found)
  })

  app.post<ById>('/campaigns/:id/wish', async (request, reply) => {
    const asked = ours.readCampaignWish(request.body)
    if (!asked.ok) return no(reply, asked)
    const target = { id: request.params.id, wish: asked.value }
    const done = await wishOfCampaign(hub, request.caller, target)
    return done.ok ? ours.encodeCampaign(done.campaign) : no(reply, done)
  })

  app.post('/reviews', async (request, reply) => {
    const asked = ours.readNewReview(request.body)
    if (!asked.ok) return no(reply, asked)
    const cause = { correlation: request.id as CorrelationId }
    const opened = await openReview(hub, request.caller, asked.value, cause)
    if (!opened.ok) return no(reply, opened)
    return reply.code(opened.made ? 201 : 200).send(opened.review)
  })

  app.get('/reviews', async (request, reply) => {
    const asked = ours.readReviewQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const found = await listReviews(hub, request.caller, asked.value)
    return found.ok ? ours.encodeReviews(found) : no(reply, found)
  })

  app.get<ById>('/reviews/:id', async (request, reply) => {
    const found = await showReview(hub, request.caller, request.params.id)
    return found.ok ? found.review : no(reply, found)
  })

  app.post<ById>('/reviews/:id/answer', async (request, reply) => {
    const said = ours.readReviewAnswer(request.body)
    if (!said.ok) return no(reply, said)
    const cause = { correlation: request.id as CorrelationId }
    const target = { id: request.params.id, said: said.value }
    const done = await answerReview(hub, request.caller, target, cause)
    return done.ok ? done.review : no(reply, done)
  })
}
