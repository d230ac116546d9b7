/**
 * The bare loop of server-sent events: a plain server of Node that writes each event that it is
 * given to everybody who is connected, with nothing before and nothing after.
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { answerIn } from './process-of.ts'

/** What happens together, and how long after the one before each of these is. */
export type BareTold =
  | 'listen'
  | { readonly bursts: readonly (readonly Buffer[])[]; readonly everyMs: number }

const readers = new Set<ServerResponse>()
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.flushHeaders()
  readers.add(response)
  response.once('close', () => readers.delete(response))
})

answerIn(async (told: BareTold) => {
  if (told === 'listen') {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' ? address?.port : undefined
  }
  for (const burst of told.bursts) {
    for (const event of burst) for (const reader of readers) reader.write(event)
    await new Promise((resolve) => setTimeout(resolve, told.everyMs))
  }
  return undefined
})
