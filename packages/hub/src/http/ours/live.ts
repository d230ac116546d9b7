/**
 * `/v1/live`: server-sent events. The framework sends the head and holds the connection by a
 * stream; once the head is out, events are written past the stream to the connection itself, which
 * with hundreds of readers saves as much as the writing costs. What neither has passed on is the
 * reader's buffer. A reader that is cut off gets the last word if it takes it in time.
 */
import type { ServerResponse } from 'node:http'
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

    const { stream, sink } = createSink(reply.raw)
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

function createSink(raw: ServerResponse): { readonly stream: Readable; readonly sink: LiveSink } {
  let waiters: (() => void)[] = []
  const wake = () => {
    const woken = waiters
    waiters = []
    for (const each of woken) each()
  }
  const stream = new Readable({ highWaterMark: TAKEN_BYTES, read: wake })
  stream.once('close', wake)
  raw.on('drain', wake)
  const isOver = () => stream.destroyed || stream.readableEnded
  return {
    stream,
    sink: {
      waiting: () => stream.readableLength + raw.writableLength,
      write: (bytes) => {
        if (isOver()) return
        // Only past an empty stream, so that nothing is overtaken.
        if (raw.headersSent && stream.readableLength === 0) raw.write(bytes)
        else stream.push(bytes)
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
