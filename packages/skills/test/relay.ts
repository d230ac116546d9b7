/**
 * A way to a hub that a test can cut: passes on what comes, or does as it is told instead. It keeps
 * the name by which it was called, since signatures are over the address.
 */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `lost`: it is passed on, and the answer never comes back. */
export type Mode = 'pass' | 'cut' | 'hang' | 'lost' | { readonly status: number; body: string }

export type Relay = {
  readonly address: string
  /** Where it leads, once that is known. */
  readonly leadTo: (address: string) => void
  /** What is done with those that come next, one each; then it passes on. */
  readonly next: (...modes: readonly Mode[]) => void
  /** With all of them. */
  readonly always: (mode: Mode) => void
  readonly count: () => number
  readonly close: () => Promise<void>
}

export async function startRelay(): Promise<Relay> {
  let to = ''
  let queue: Mode[] = []
  let usual: Mode = 'pass'
  let count = 0
  const server = createServer((incoming, outgoing) => {
    count += 1
    const mode = queue.shift() ?? usual
    if (mode === 'cut') return void incoming.socket.destroy()
    if (mode === 'hang') return
    if (typeof mode === 'object') {
      return void outgoing
        .writeHead(mode.status, { 'content-type': 'application/json' })
        .end(mode.body)
    }
    const { method, url, headers } = incoming
    const onward = request(new URL(url ?? '/', to), { method, headers }, (answer) => {
      if (mode === 'lost') {
        answer.resume().on('end', () => incoming.socket.destroy())
        return
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => incoming.socket.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (there) => {
      to = there
    },
    next: (...modes) => {
      queue = [...modes]
    },
    always: (mode) => {
      queue = []
      usual = mode
    },
    count: () => count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
