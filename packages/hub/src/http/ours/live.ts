/**
 * `/v1/live`: server-sent events. What is written goes through a stream whose length is the
 * reader's buffer; a reader that is cut off gets the last word if it takes it in time.
 */
import { Readable } from 'node:stream'
import * as ours from '@chimera/dialects/chimera'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { openLive } from '../../act/live.ts'
import type { LiveSink } from '../../views/live.ts'
import type { SubjectRoutes } from '../refuse.ts'

// What a connection takes at once, as much as the system's own buffers do.
const TAKEN_BYTES = 65_536
// Whoever was cut off may still read what was written before; then the connection is closed.
const LAST_WORD_MS = 5_000
const MOST_ID_CHARS = 80

export const liveRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.get('/live', { exposeHeadRoute: false }, async (request, reply) => {
    const asked = ours.readLiveQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const { after, ...wanted } = asked.value
    const resumed =
      lastSeen(request) ?? (after && { text: ours.writeLivePlace(after), place: after })
    const opened = await openLive(hub, request.caller, { ...wanted, ...(resumed && { resumed }) })
    if (!opened.ok) return no(reply, opened)

    const { stream, sink } = createSink()
    const leave = hub.live.open(sink, opened.listener)
    stream.once('close', leave)
    return (
      reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-content-type-options', 'nosniff')
        // Proxies that collect an answer before they hand it on are told not to.
        .header('x-accel-buffering', 'no')
        .send(stream)
    )
  })
}

/**
 * What a browser sends when it connects again, to the same address and so with the same `after`. It
 * cannot be told that the id makes no sense, since it would never come back: it hears of a gap.
 */
function lastSeen({ headers }: FastifyRequest) {
  const text = headers['last-event-id']
  if (typeof text !== 'string' || text === '') return undefined
  return { text: text.slice(0, MOST_ID_CHARS), place: ours.readLivePlace(text) }
}

function createSink(): { readonly stream: Readable; readonly sink: LiveSink } {
  let waiters: (() => void)[] = []
  const wake = () => {
    const woken = waiters
    waiters = []
    for (const each of woken) each()
  }
  const stream = new Readable({ highWaterMark: TAKEN_BYTES, read: wake })
  stream.once('close', wake)
  const isOver = () => stream.destroyed || stream.readableEnded
  return {
    stream,
    sink: {
      waiting: () => stream.readableLength,
      write: (bytes) => {
        if (!isOver()) stream.push(bytes)
      },
      room: () =>
        new Promise((resolve) => {
          if (isOver()) return resolve()
          waiters.push(resolve)
        }),
      gone: isOver,
      end: (last) => {
        if (isOver()) return
        stream.push(last)
        stream.push(null)
        const late = setTimeout(() => stream.destroy(), LAST_WORD_MS)
        late.unref()
        stream.once('close', () => clearTimeout(late))
      },
    },
  }
}
