/** A receiver of messages that answers as it is told: well, badly, late, or not at all. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export type Received = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Behaviour =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'cut'

export type Receiver = {
  readonly url: string
  readonly seen: readonly Received[]
  /** Waits until so many have come. */
  readonly came: (count: number) => Promise<void>
  readonly behave: (how: Behaviour) => void
  /** Answers all that hang. */
  readonly letGo: (status: number) => void
  readonly close: () => Promise<void>
}

export async function startReceiver(first: Behaviour = { status: 204 }): Promise<Receiver> {
  const seen: Received[] = []
  const hanging = new Set<ServerResponse>()
  const sockets = new Set<Socket>()
  let waiting: { readonly count: number; readonly resolve: () => void }[] = []
  let how = first

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { url: path = '', headers } = request
    const behaviour = how
    seen.push({ path, headers, body: Buffer.concat(pieces).toString('utf8') })
    if (behaviour === 'cut') response.destroy()
    else if (behaviour === 'hang') hanging.add(response)
    else response.writeHead(behaviour.status, behaviour.headers).end('thanks')
    for (const each of waiting) if (seen.length >= each.count) each.resolve()
    waiting = waiting.filter(({ count }) => seen.length < count)
  }
  const server = createServer((request, response) => void take(request, response))
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    came: (count) =>
      seen.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    behave: (next) => {
      how = next
    },
    letGo: (status) => {
      for (const response of hanging) response.writeHead(status).end()
      hanging.clear()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Each look asks the database, so there is no need to wait between two. */
export async function eventually(is: () => Promise<boolean>, what: string): Promise<void> {
  for (let looks = 0; looks < 2_000; looks += 1) if (await is()) return
  throw new Error(`it never came to be that ${what}`)
}
