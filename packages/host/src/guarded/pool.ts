/**
 * The connections of a guarded client, kept open for a while and used again.
 *
 *   P1  Every connection is opened by the guarded dial, also one to a literal address: the HTTP
 *       client underneath never resolves or connects by itself.
 *   P2  Certificates are asked for with each request; changed ones get connections of their own, so
 *       that they rotate without a restart (SF-6). The old ones end with what runs on them.
 */
import type { Socket } from 'node:net'
import { Agent, type buildConnector } from 'undici'
import { type ClientTls, type DialOptions, dial, type Place } from './dial.ts'

export type PoolOptions = Omit<DialOptions, 'tls'> & {
  /** As it is now; the same object while it is the same. */
  readonly tls: () => ClientTls
}

export type Pool = {
  readonly agent: () => Agent
  readonly destroy: () => Promise<void>
}

// More at once to one host would be our attack on it.
const CONNECTIONS = 16
const IDLE_MS = 10_000
const HEAD_BYTES = 16 * 1024

export function createPool({ tls, ...options }: PoolOptions): Pool {
  let current: { readonly agent: Agent; readonly tls: ClientTls } | undefined
  return {
    agent: () => {
      const wanted = tls()
      if (current?.tls !== wanted) {
        void current?.agent.close()
        current = { agent: agentWith(connector({ ...options, tls: wanted })), tls: wanted }
      }
      return current.agent
    },
    destroy: async () => {
      await current?.agent.destroy()
    },
  }
}

function agentWith(connect: buildConnector.connector): Agent {
  return new Agent({
    connect,
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxHeaderSize: HEAD_BYTES,
    // Time is bounded by whoever asks, with the clock that was handed in.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

function connector(options: DialOptions): buildConnector.connector {
  return ({ hostname, port, protocol }, callback) => {
    const secure = protocol === 'https:'
    const usual = secure ? 443 : 80
    const place = { host: hostname, port: port === '' ? usual : Number(port), secure }
    void open(place, options, callback)
  }
}

async function open(
  place: Place,
  options: DialOptions,
  callback: buildConnector.Callback,
): Promise<void> {
  let socket: Socket
  try {
    socket = await dial(place, options)
  } catch (error) {
    callback(error instanceof Error ? error : new Error(String(error)), null)
    return
  }
  callback(null, socket)
}
