/** Real servers on free loopback ports for tests, and what they saw. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net'

export type Listening = {
  readonly port: number
  readonly url: string
  /** Every request so far, in order. */
  readonly seen: readonly IncomingMessage[]
  /** Connections so far, closed ones included. */
  readonly connections: () => number
  /** Resolves with the next connection. */
  readonly connected: () => Promise<Socket>
  readonly close: () => Promise<void>
}

export function listen(answer: RequestListener): Promise<Listening> {
  const server = createServer()
  return started(server, 'http', watched(server, answer))
}

export function listenSecurely(options: ServerOptions, answer: RequestListener) {
  const server = createSecureServer(options)
  return started(server, 'https', watched(server, answer))
}

/** For peers that do not speak HTTP. */
export function listenRaw(answer: (socket: Socket) => void): Promise<Listening> {
  return started(createTcpServer(answer), 'http', [])
}

function watched(server: Server, answer: RequestListener): readonly IncomingMessage[] {
  const seen: IncomingMessage[] = []
  server.on('request', (request, response) => {
    seen.push(request)
    answer(request, response)
  })
  return seen
}

async function started(
  server: TcpServer,
  scheme: string,
  seen: readonly IncomingMessage[],
): Promise<Listening> {
  const open = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    seen,
    connections: () => connections,
    connected: () => new Promise((resolve) => server.once('connection', resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

export function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => resolve(body))
  })
}

export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve()
    else socket.once('close', () => resolve())
  })
}
