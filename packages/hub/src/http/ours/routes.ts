/**
 * What no document defines, under `/v1`, one file for each subject. Each route is read, act,
 * encode, as in the dialects; the error is the one error, with our own codes.
 */
import { encodeRefusal } from '@chimera/dialects/chimera'
import type { FastifyPluginAsync } from 'fastify'
import type { Hub } from '../../act/hub.ts'
import { isFault, refusalOf } from '../failed.ts'
import { refuser } from '../refuse.ts'
import { alertRoutes } from './alerts.ts'
import { approvalRoutes } from './approvals.ts'
import { campaignRoutes } from './campaigns.ts'
import { controlRoutes } from './control.ts'
import { grantRoutes } from './grants.ts'
import { holdRoutes } from './holds.ts'
import { keyRoutes } from './keys.ts'
import { letterRoutes } from './letters.ts'
import { liveRoutes } from './live.ts'
import { offerRoutes } from './offers.ts'
import { overviewRoutes } from './overview.ts'
import { passRoutes } from './passes.ts'
import { postRoutes } from './posts.ts'
import { profileRoutes } from './profiles.ts'
import { resultBatchRoutes } from './results.ts'
import { tokenRoutes } from './tokens.ts'
import { trustRoutes } from './trust.ts'
import { workRoutes } from './work.ts'

export type OurRoutes = {
  readonly hub: Hub
  /** Where callers think they are, if not where they dialled. */
  readonly publicUrl?: string | undefined
}

export const ourRoutes: FastifyPluginAsync<OurRoutes> = async (app, { hub, publicUrl }) => {
  const no = refuser(encodeRefusal, hub.now)
  app.setErrorHandler((error, request, reply) => {
    const refused = refusalOf(error, hub.now())
    if (isFault(error, refused)) request.log.error({ err: error }, 'v1 failed')
    return no(reply, refused)
  })
  app.register(tokenRoutes, { hub, no })
  app.register(passRoutes, { hub, no })
  app.register(trustRoutes, { hub, no })
  app.register(keyRoutes, { hub, no })
  app.register(holdRoutes, { hub, no })
  app.register(offerRoutes, { hub, no })
  app.register(profileRoutes, { hub, no })
  app.register(letterRoutes, { hub, no })
  app.register(alertRoutes, { hub, no })
  app.register(controlRoutes, { hub, no })
  app.register(grantRoutes, { hub, no })
  app.register(workRoutes, { hub, no })
  app.register(resultBatchRoutes, { hub, no })
  app.register(liveRoutes, { hub, no })
  app.register(approvalRoutes, { hub, no })
  app.register(campaignRoutes, { hub, no })
  app.register(postRoutes, { hub, no, publicUrl })
  app.register(overviewRoutes, { hub, no })
}
