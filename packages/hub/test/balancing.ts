/**
 * A balancer as it stands before hubs: each request goes to the next one, unchanged and streamed.
 * Of TLS it sees nothing, so there each connection does.
 */
import {
  Agent,
  createServer as createHttpServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { LIMITS } from '@chimera/domain/limits'

export type BalancerOptions = {
  /** Where the hubs are, once they are: each is told its public address before. */
  readonly to: () => readonly string[]
  readonly host: string
  readonly secure: boolean
  /** Awaited before anything is passed on; `isAlone` while nobody else waits for an answer. */
  readonly before: (isAlone: () => boolean) => Promise<void>
  /** Something that was more than a question was answered. */
  readonly changed: () => void
}

export type Balancer = { readonly address: string; readonly close: () => Promise<void> }

export async function openBalancer(options: BalancerOptions): Promise<Balancer> {
  const { to, before, changed, host, secure } = options
  const agent = new Agent({ keepAlive: true })
  const sockets = new Set<Socket>()
  let turn = 0
  let asking = 0

  function next(): URL {
    const targets = to()
    const target = targets[turn % targets.length]
    turn += 1
    if (target === undefined) throw new Error('nobody to pass it to')
    return new URL(target)
  }
  /** Alone, if nobody else asks or has asked meanwhile. */
  async function ready(mine: number): Promise<URL> {
    let alone = true
    await before(() => {
      alone &&= asking === mine
      return alone
    })
    return next()
  }

  async function pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    // An answer that goes on for ever keeps nobody waiting once it has begun.
    let waits = true
    const answered = (): void => {
      if (waits) asking -= 1
      waits = false
      if (asked.method !== 'GET') changed()
    }
    asking += 1
    answer.once('close', answered)
    const { hostname, port } = await ready(1)
    const { method, url: path, rawHeaders: headers } = asked
    const passed = request({ hostname, port, method, path, headers, agent, setHost: false })
    passed.on('response', (response) => {
      const { statusCode = 502, statusMessage, rawHeaders } = response
      answer.writeHead(statusCode, statusMessage, rawHeaders)
      answer.flushHeaders()
      if (response.headers['content-type']?.startsWith('text/event-stream')) answered()
      response.pipe(answer, { end: false })
      response.once('close', () => {
        // A hub may answer before it has heard all, and the asker looks when it has said all.
        if (!response.complete) answer.destroy()
        else if (asked.readableEnded) answer.end()
        else asked.once('end', () => answer.end()).resume()
      })
    })
    passed.on('error', () => {
      if (!answer.headersSent) answer.destroy()
    })
    answer.on('close', () => passed.destroy())
    passed.flushHeaders()
    // A hub refuses by the length that is named, and a client that writes on may miss its answer.
    const refused = Number(asked.headers['content-length'] ?? 0) > LIMITS.bodyBytes
    if (refused) passed.once('response', () => asked.resume())
    else asked.pipe(passed)
  }

  async function passAll(near: Socket): Promise<void> {
    const { hostname, port } = await ready(0)
    const far = connect(Number(port), hostname)
    far.on('close', changed)
    pipeline(near, far, () => undefined)
    pipeline(far, near, () => undefined)
  }

  const http = () =>
    createHttpServer({ keepAliveTimeout: 60_000 }, (asked, answer) => {
      pass(asked, answer).catch((error: unknown) => {
        answer.writeHead(599, { 'content-type': 'application/json' })
        answer.end(JSON.stringify({ code: 'HUBS_DISAGREE', message: String(error) }))
      })
    })
  const tls = () =>
    createServer((near) => {
      near.pause()
      near.on('error', () => near.destroy())
      passAll(near).catch(() => near.destroy())
    })

  const server: Server = secure ? tls() : http()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    address: `${secure ? 'https' : 'http'}://${host}:${port}`,
    close: async () => {
      agent.destroy()
      for (const each of sockets) each.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
