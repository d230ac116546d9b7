/**
 * What no document defines, under `/v1`, one file for each subject. Each route is read, act,
 * encode, as in the dialects; the error is the one error, with our own codes.
 */
import { encodeRefusal } from '@chimera/dialects/chimera'
import type { FastifyPluginAsync } from 'fastify'
import type { Hub } from '../../act/hub.ts'
import { refusalOf } from '../failed.ts'
import { refuser } from '../refuse.ts'
import { tokenRoutes } from './tokens.ts'

export type OurRoutes = { readonly hub: Hub }

export const ourRoutes: FastifyPluginAsync<OurRoutes> = async (app, { hub }) => {
  const no = refuser(encodeRefusal, hub.now)
  app.setErrorHandler((error, request, reply) => {
    const refused = refusalOf(error, hub.now())
    if (refused.refusal === 'service_unavailable') request.log.error({ err: error }, 'v1 failed')
    return no(reply, refused)
  })
  app.register(tokenRoutes, { hub, no })
}
