/** Servers of the harness: on a free port of this machine, with their bodies read to the end. */
import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Asked } from './plan.ts'

// As large as the largest that a hub takes, four times over; more would be a mistake of the test.
const MOST_BYTES = 1024 * 1024

export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

/** Undefined where the sender gave up, or sent more than anybody should. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of request) {
      parts.push(part as Buffer)
      bytes += (part as Buffer).length
      if (bytes > MOST_BYTES) return undefined
    }
  } catch {
    return undefined
  }
  return Buffer.concat(parts)
}

export const askedIn = ({ method = 'GET', url = '/', headers }: IncomingMessage, body: Buffer) =>
  ({ method, path: url, headers, body: body.toString() }) satisfies Asked
