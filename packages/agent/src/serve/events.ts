/**
 * How work goes on, as server-sent events that resume (P-7): answers and the result in OpenClaw's
 * words, progress in ours. The result is the last.
 *
 *   V1  Who comes back with the id of the last event it saw misses nothing that is kept, and is
 *       told of a gap where something is not.
 *   V2  A reader that does not take what it is sent is cut off: what it missed is kept for it.
 */
import { Readable } from 'node:stream'
import { encodeWorkProgress } from '@chimera/dialects/chimera'
import * as openclaw from '@chimera/dialects/openclaw'
import { LIMITS } from '@chimera/domain/limits'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeptWork } from '../work/keep.ts'
import type { Moment } from '../work/progress.ts'
import { signedResult } from '../work/signed.ts'
import { type ById, type Doors, hasEnded } from './doors.ts'

// As much as one message may be: a reader that lets more lie is not there.
const MOST_WAITING = LIMITS.bodyBytes

export async function streamWork(
  doors: Doors,
  request: FastifyRequest<ById>,
  reply: FastifyReply,
  kept: KeptWork,
): Promise<FastifyReply> {
  const { workshop, clock } = doors
  const { work } = kept.work.ask
  const stream = new Readable({ highWaterMark: MOST_WAITING, read: () => undefined })
  const after = lastSeen(request)
  /** Moments come faster than the keep is asked, so they are told one after the other. */
  let telling = Promise.resolve()

  function say(text: string): void {
    if (stream.destroyed || stream.readableEnded) return
    // V2.
    if (stream.readableLength > MOST_WAITING) stream.destroy()
    else stream.push(text)
  }
  async function tell(moment: Moment): Promise<void> {
    const now = (await workshop.find(work)) ?? kept
    say(eventOf(doors, now, moment))
    if (isLast(now, moment)) end()
  }
  function end(): void {
    following.leave()
    beat.cancel()
    if (!stream.destroyed) stream.push(null)
  }
  const hear = (moment: Moment): void => {
    telling = telling.then(() => tell(moment)).catch(() => end())
  }

  const following = workshop.follow(work, after, hear)
  // Silence closes connections on the way.
  let beat = clock.after(LIMITS.liveBeatMs, () => beatOn())
  function beatOn(): void {
    say(': still there\n\n')
    if (!stream.destroyed) beat = clock.after(LIMITS.liveBeatMs, () => beatOn())
  }
  stream.once('close', () => {
    following.leave()
    beat.cancel()
  })
  if (following.gap && after > 0) say('event: gap\ndata: {}\n\n')
  for (const moment of following.past) hear(moment)
  // Work whose moments are not kept any more still has its end.
  if (hasEnded(kept) && !following.past.some((moment) => isLast(kept, moment))) {
    const is = kept.refused === undefined ? 'result' : 'answer'
    hear({ is, place: (following.past.at(-1)?.place ?? after) + 1, at: clock.now() })
  }
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('x-accel-buffering', 'no')
    .send(stream)
}

/** After this there is nothing more to tell. */
const isLast = ({ refused }: KeptWork, { is }: Moment): boolean =>
  is === 'result' || (is === 'answer' && refused !== undefined)

function eventOf({ self, clock }: Doors, kept: KeptWork, moment: Moment): string {
  const { ask } = kept.work
  const write = (event: string, data: unknown) =>
    `id: ${moment.place}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
  if (moment.is === 'progress') return write('progress', encodeWorkProgress(moment, moment.at))
  const result = moment.is === 'result' ? signedResult(self, kept)?.message : undefined
  if (result !== undefined) return write('result', result)
  const to = { task: ask.task, agent: self.agent, correlation: ask.correlation }
  const { body } = kept.refused
    ? openclaw.encodeRefused(kept.refused, to, clock.now())
    : openclaw.encodeProgress(kept.work, to, clock.now())
  return write('response', body)
}

function lastSeen({ headers }: FastifyRequest): number {
  const text = String(headers['last-event-id'] ?? '')
  return /^\d{1,9}$/.test(text) ? Number(text) : 0
}
