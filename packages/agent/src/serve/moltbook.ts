/** MoltBook at the instance's own door: reserve offers, each answered by a signed ack (AV-8). */
import * as moltbook from '@chimera/dialects/moltbook'
import type { Refused } from '@chimera/domain/decision'
import type { Refusal } from '@chimera/domain/refusals'
import { readMessage } from '@chimera/identity/received'
import type { FastifyPluginAsync } from 'fastify'
import { type Came, type Doors, openBoth, type Reply } from './doors.ts'
import { isFault, refusalOf } from './failed.ts'

export const moltbookRoutes: FastifyPluginAsync<{ readonly doors: Doors }> = async (
  app,
  { doors },
) => {
  const { clock, reserving, bytesOf } = doors
  function no(reply: Reply, refused: Refused<Refusal>): Reply {
    const { status, body } = moltbook.encodeRefusal(refused, clock.now())
    if (body.retry_after_seconds !== undefined) {
      reply.header('retry-after', body.retry_after_seconds)
    }
    return reply.code(status).send(body)
  }

  function failed(error: unknown, request: Came, reply: Reply): void {
    const refused = refusalOf(error, clock.now())
    if (isFault(refused)) request.log.error({ err: error }, 'moltbook failed')
    no(reply, refused)
  }
  app.setErrorHandler(failed)

  async function offer(request: Came, reply: Reply): Promise<unknown> {
    // From the bytes that came, which are what was signed.
    const received = readMessage(bytesOf(request))
    if (!received.ok) return no(reply, received)
    const acked = await reserving.offer(received.message)
    return acked.ok ? reply.send(acked.ack) : no(reply, acked)
  }
  openBoth(app, doors, '/reserve', { answer: offer, failed })
}
