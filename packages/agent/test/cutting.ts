/** A way to an agent on which answers get lost: the agent hears everything, and is heard or not. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What is lost of the answer to this request. */
export type Lost = 'nothing' | 'all' | 'after the first piece'

export async function runCuttingWay() {
  let port = 0
  let lose: (asked: { method: string; path: string }) => Lost = () => 'nothing'
  const seen: { readonly path: string; readonly after?: string }[] = []

  function pass(from: IncomingMessage, to: ServerResponse): void {
    const { method = 'GET', url: path = '/', headers } = from
    const after = headers['last-event-id']
    seen.push({ path, ...(typeof after === 'string' && { after }) })
    const lost = lose({ method, path })
    const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      if (lost === 'all') {
        // It is done over there by now.
        answer.resume()
        from.socket.destroy()
        return
      }
      to.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.on('data', (piece) => {
        to.write(piece)
        if (lost === 'after the first piece') setImmediate(() => from.socket.destroy())
      })
      answer.on('end', () => to.end())
      answer.on('error', () => to.destroy())
    })
    onward.on('error', () => from.socket.destroy())
    to.on('close', () => onward.destroy())
    from.pipe(onward)
  }
  const server = createServer(pass)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    leadTo: (to: number) => {
      port = to
    },
    lose: (what: typeof lose) => {
      lose = what
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A port that is free just now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}
