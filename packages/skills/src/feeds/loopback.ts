/**
 * A web handler (Request → Response) on a port of this machine.
 *
 *   L1  Only this machine is listened to, and only under its own names: a page that somebody has
 *       open in a browser cannot reach it under a name of its own (DNS rebinding).
 *   L2  A body is read up to a bound.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'

export type Loopback = {
  readonly url: string
  readonly close: () => Promise<void>
}

type Handler = (request: Request) => Promise<Response>

const HOST = '127.0.0.1'
const BODY_BYTES = 256 * 1024

export async function listenHere(
  handle: Handler,
  { port = 0, path = '/mcp' }: { readonly port?: number; readonly path?: string } = {},
): Promise<Loopback> {
  const server = createServer((incoming, outgoing) => {
    answer(handle, path, incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${HOST}:${taken}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  handle: Handler,
  path: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const body = await bodyOf(incoming)
  if (body === undefined) return send(outgoing, new Response(null, { status: 413 }))
  const { method = 'GET', headers, url = '/' } = incoming
  const request = new Request(new URL(url, `http://${HOST}`), {
    method,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
    signal: gone.signal,
    ...(method !== 'GET' && method !== 'HEAD' && { body }),
  })
  if (new URL(request.url).pathname !== path) {
    return send(outgoing, new Response(null, { status: 404 }))
  }
  const refused =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins())
  await send(outgoing, refused ?? (await handle(request)))
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of incoming) {
    bytes += piece.length
    if (bytes > BODY_BYTES) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function send(outgoing: ServerResponse, response: Response): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  for await (const piece of response.body ?? []) outgoing.write(piece)
  outgoing.end()
}
