/** A way to a broker that a test can cut, as networks are: neither end is told. */
import { connect, createServer, type Socket } from 'node:net'

export type Line = {
  readonly address: string
  /** Takes everything and passes nothing on, as a network does that lost its way. */
  readonly cut: () => void
  readonly mend: () => void
  readonly close: () => Promise<void>
}

/** A way to a broker that can be cut without either end being told. */
export async function openLine(to: number): Promise<Line> {
  const sockets = new Set<Socket>()
  let whole = true
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    const pass = (from: Socket, onto: Socket) => {
      sockets.add(from)
      from.on('data', (bytes) => whole && onto.write(bytes))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        onto.destroy()
      })
    }
    pass(near, far)
    pass(far, near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    address: `nats://127.0.0.1:${address.port}`,
    cut: () => {
      whole = false
    },
    mend: () => {
      whole = true
      for (const each of sockets) each.destroy()
    },
    close: async () => {
      for (const each of sockets) each.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
