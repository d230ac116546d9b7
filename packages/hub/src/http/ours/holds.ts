/** `/v1/holds` and `/v1/mint`. */
import * as ours from '@chimera/dialects/chimera'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { refuse } from '@chimera/domain/decision'
import type { HoldId } from '@chimera/domain/ids'
import type { FastifyPluginAsync } from 'fastify'
import {
  captureHold,
  confirmHold,
  findHold,
  listHolds,
  placeHold,
  refundHold,
  releaseHold,
} from '../../act/holds.ts'
import { mint } from '../../act/mint.ts'
import { presentOffer } from '../../act/offers.ts'
import type { SubjectRoutes } from '../refuse.ts'
import { traceOf } from '../trace.ts'

type ById = { readonly Params: { readonly id: string } }

export const holdRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.post('/holds', async (request, reply) => {
    const { body, caller } = request
    if (isOffer(body)) {
      const shown = ours.readOfferPresented(body)
      if (!shown.ok) return no(reply, shown)
      const promised = await presentOffer(hub, caller, shown.value)
      if (!promised.ok) return no(reply, promised)
      return reply.code(201).send(ours.encodeHold(promised))
    }
    const asked = ours.readNewHold(body)
    if (!asked.ok) return no(reply, asked)
    const placed = await placeHold(hub, caller, asked.value, traceOf(request))
    return placed.ok ? reply.code(201).send(ours.encodeHold(placed)) : no(reply, placed)
  })

  app.get('/holds', async (request, reply) => {
    const sought = ours.readHoldQuery(request.query)
    if (!sought.ok) return no(reply, sought)
    const found = await listHolds(hub, request.caller, sought.value)
    return found.ok ? ours.encodeHolds(found.holds) : no(reply, found)
  })

  app.get<ById>('/holds/:id', async (request, reply) => {
    const id = idIn(request.params)
    if (id === undefined) return no(reply, refuse('hold_unknown'))
    const found = await findHold(hub, request.caller, id)
    return found.ok ? ours.encodeHold(found) : no(reply, found)
  })

  app.post<ById>('/holds/:id/confirm', async (request, reply) => {
    const id = idIn(request.params)
    const asked = ours.readHoldConfirmation(request.body)
    if (!asked.ok) return no(reply, asked)
    if (id === undefined) return no(reply, refuse('hold_unknown'))
    const confirmed = await confirmHold(hub, request.caller, id, asked.value)
    return confirmed.ok ? ours.encodeHold(confirmed) : no(reply, confirmed)
  })

  app.post<ById>('/holds/:id/capture', async (request, reply) => {
    const id = idIn(request.params)
    const asked = ours.readHoldCapture(request.body)
    if (!asked.ok) return no(reply, asked)
    if (id === undefined) return no(reply, refuse('hold_unknown'))
    const captured = await captureHold(hub, request.caller, id, asked.value)
    return captured.ok ? ours.encodeHold(captured) : no(reply, captured)
  })

  app.post<ById>('/holds/:id/release', async (request, reply) => {
    const id = idIn(request.params)
    const asked = ours.readHoldRelease(request.body)
    if (!asked.ok) return no(reply, asked)
    if (id === undefined) return no(reply, refuse('hold_unknown'))
    const released = await releaseHold(hub, request.caller, id, asked.value.because)
    return released.ok ? ours.encodeHold(released) : no(reply, released)
  })

  app.post<ById>('/holds/:id/refund', async (request, reply) => {
    const id = idIn(request.params)
    const asked = ours.readHoldRefund(request.body)
    if (!asked.ok) return no(reply, asked)
    if (id === undefined) return no(reply, refuse('hold_unknown'))
    const refunded = await refundHold(hub, request.caller, id, asked.value)
    return refunded.ok ? ours.encodeHold(refunded) : no(reply, refunded)
  })

  app.post('/mint', async (request, reply) => {
    const asked = ours.readNewCredits(request.body)
    if (!asked.ok) return no(reply, asked)
    const minted = await mint(hub, request.caller, asked.value)
    return minted.ok ? reply.code(201).send(ours.encodeMinted(minted)) : no(reply, minted)
  })
}

const isOffer = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'offer' in body

const idIn = ({ id }: ById['Params']): HoldId | undefined =>
  isUuid(id) ? readUuid<HoldId>(id) : undefined
