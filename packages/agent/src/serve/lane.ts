/**
 * The lane: the short way in for the few requests that an agent lives by (asks, jobs, skill calls,
 * offers). Of a small piece of work, being routed, hooked, parsed and serialised by a server made
 * for everything was half the cost. On the lane a request that came whole, in its plainest form,
 * goes to its door at once, and its answer leaves in one write.
 *
 *   E1  The lane has no rules of its own: both ways have the same doors, the same guard and the
 *       same words (lane.test.ts holds them together, byte for byte).
 *   E2  Whatever is not plain is not judged here. It goes to the server of Node, and with it its
 *       connection, for good: bad JSON, other paths, large bodies, slow senders, two at once.
 *   E3  One request of a connection is under way at a time; what comes meanwhile waits unread.
 *   E4  A connection that says nothing is closed, and all are when the server closes.
 *   E5  What comes in one turn is begun together, and what is answered in one leaves together
 *       (host's burst.ts).
 */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { createBurst } from '@chimera/host/burst'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { type Came, JSON_TYPE, type Reply, type Way } from './doors.ts'
import type { Guard } from './guard.ts'
import { createRequestLog } from './request-log.ts'
import { BYTES } from './signer.ts'
import { createWholeReader, type Whole } from './whole.ts'

export type LaneHands = {
  readonly clock: Pick<Clock, 'now'>
  readonly chance: Chance
  readonly log: Log
  readonly guard: Guard
}

export type Lane = {
  /** From now on this path is served here too. It may end in a name: `/skills/:name`. */
  readonly open: (path: string, way: Way) => void
}

const NAMED = '/:name'

type Found = { readonly path: string; readonly way: Way; readonly params: Came['params'] }

export function createLane(app: FastifyInstance, hands: LaneHands): Lane {
  const ways = new Map<string, Found>()
  const connections = new Set<Connection>()
  const parse = parserOf(app)
  const dateNow = createDates(hands.clock.now)
  const begin = createBurst()
  const leave = createBurst()
  const { server } = app
  const usual = server.listeners('connection')
  let closed = false

  function pass(socket: Socket): void {
    for (const listen of usual) listen.call(server, socket)
  }

  function find(path: string): Found | undefined {
    const exact = ways.get(path)
    if (exact !== undefined) return exact
    const slash = path.lastIndexOf('/')
    const named = ways.get(`${path.slice(0, slash)}${NAMED}`)
    const name = path.slice(slash + 1)
    return named === undefined || name === '' ? undefined : { ...named, params: { name } }
  }

  class Connection {
    readonly socket: Socket
    readonly #read = createWholeReader()
    /** E3. */
    #busy = false
    #waiting: Buffer | undefined
    #ended = false

    constructor(socket: Socket) {
      this.socket = socket
      socket.on('data', this.#hear)
      socket.on('end', this.#end)
      socket.on('error', this.#drop)
      socket.on('close', this.#leave)
      socket.setTimeout(server.keepAliveTimeout, this.#tire)
    }

    readonly #hear = (bytes: Buffer): void => {
      if (this.#busy) {
        this.#waiting = this.#waiting ? Buffer.concat([this.#waiting, bytes]) : bytes
        this.socket.pause()
        return
      }
      const whole = this.#read(bytes)
      const found = whole && find(whole.path)
      const body = found && parse(whole.body.toString('utf8'))
      if (whole && found && body !== undefined) this.#serve(whole, found, body)
      else this.#handOver(bytes)
    }

    #serve(whole: Whole, { path, way, params }: Found, body: unknown): void {
      this.#busy = true
      const id = hands.chance.uuid()
      const request = new LaneRequest(this.socket, whole, { id, path, body, params })
      const reply = new LaneReply(this, request)
      begin(() => {
        way
          .answer(request, reply)
          .catch((error: unknown) => way.failed(error, request, reply))
          .catch(this.#drop)
      })
    }

    answered(text: string, encoding: BufferEncoding): void {
      // E5.
      leave(() => this.#write(text, encoding))
    }

    #write(text: string, encoding: BufferEncoding): void {
      const { socket } = this
      if (!socket.writable) return
      this.#busy = false
      if (!socket.write(text, encoding)) {
        // Who does not take its answers asks nothing more.
        this.#busy = true
        socket.once('drain', () => {
          this.#busy = false
          this.#goOn()
        })
      } else this.#goOn()
    }

    #goOn(): void {
      const bytes = this.#waiting
      this.#waiting = undefined
      if (bytes !== undefined) {
        this.socket.resume()
        this.#hear(bytes)
      } else if (this.#ended) this.socket.end()
    }

    /** E2. */
    #handOver(bytes: Buffer): void {
      const { socket } = this
      this.#leave()
      socket.off('data', this.#hear)
      socket.off('end', this.#end)
      socket.off('error', this.#drop)
      socket.off('close', this.#leave)
      socket.setTimeout(0, this.#tire)
      socket.unshift(bytes)
      pass(socket)
    }

    readonly #end = (): void => {
      this.#ended = true
      if (!this.#busy) this.socket.end()
    }
    /** E4. Whoever waits for its answer is silent for a good reason. */
    readonly #tire = (): void => {
      if (this.#busy) this.socket.setTimeout(server.keepAliveTimeout)
      else this.#drop()
    }
    readonly #drop = (): void => {
      this.socket.destroy()
    }
    readonly #leave = (): void => {
      connections.delete(this)
    }
  }

  class LaneRequest implements Came {
    readonly method = 'POST'
    readonly socket: Socket
    readonly headers: Came['headers']
    readonly url: string
    readonly body: unknown
    readonly params: Came['params']
    readonly id: string
    /** As it was opened. */
    readonly path: string
    readonly [BYTES]: Buffer
    #log: FastifyBaseLogger | undefined

    constructor(
      socket: Socket,
      { path: url, headers, body: bytes }: Whole,
      more: Pick<LaneRequest, 'id' | 'path' | 'body' | 'params'>,
    ) {
      this.socket = socket
      this.headers = headers
      this.url = url
      this.body = more.body
      this.params = more.params
      this.id = more.id
      this.path = more.path
      this[BYTES] = bytes
    }

    get log(): FastifyBaseLogger {
      this.#log ??= createRequestLog(hands.log, { reqId: this.id })
      return this.#log
    }
  }

  class LaneReply implements Reply {
    readonly #connection: Connection
    readonly #request: LaneRequest
    #status = 200
    #fields = ''
    #isSent = false

    constructor(connection: Connection, request: LaneRequest) {
      this.#connection = connection
      this.#request = request
    }

    code(status: number): this {
      this.#status = status
      return this
    }

    header(name: string, value: string | number): this {
      if (!PLAIN.test(`${name}${value}`)) throw new TypeError(`${name}: not a plain value`)
      this.#fields += `${name}: ${value}\r\n`
      return this
    }

    /** There is one here. */
    type(_: typeof JSON_TYPE): this {
      return this
    }

    send(body: object | string): this {
      if (typeof body === 'string') return this.#write(body)
      const { log, path } = this.#request
      const { status, leaves } = hands.guard(body, { status: this.#status, path, log })
      this.#status = status
      return this.#write(JSON.stringify(leaves))
    }

    #write(text: string): this {
      if (this.#isSent) return this
      this.#isSent = true
      const keptMs = server.keepAliveTimeout
      const bytes = Buffer.byteLength(text)
      this.#connection.answered(
        `HTTP/1.1 ${this.#status} ${STATUS_CODES[this.#status] ?? ''}\r\n` +
          `x-request-id: ${this.#request.id}\r\n${this.#fields}` +
          `content-type: ${JSON_TYPE}\r\ncontent-length: ${bytes}\r\n` +
          `Date: ${dateNow()}\r\nConnection: keep-alive\r\n` +
          `Keep-Alive: timeout=${Math.floor(keptMs / 1_000)}\r\n\r\n${text}`,
        // The head is ASCII. Where the text is, too, each character is its byte.
        bytes === text.length ? 'latin1' : 'utf8',
      )
      return this
    }
  }

  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (closed) pass(socket)
    else connections.add(new Connection(socket))
  })
  app.addHook('preClose', (done) => {
    closed = true
    for (const { socket } of connections) socket.destroy()
    done()
  })

  return { open: (path, way) => void ways.set(path, { path, way, params: {} }) }
}

/** As Fastify parses; undefined where it is for Fastify to say what is wrong. */
function parserOf(app: FastifyInstance): (text: string) => unknown {
  const parse = app.getDefaultJsonParser('error', 'error')
  const nobody = undefined as unknown as FastifyRequest
  return (text) => {
    let parsed: unknown
    void parse(nobody, text, (error, body) => {
      parsed = error === null ? body : undefined
    })
    return parsed
  }
}

const PLAIN = /^[\t\x20-\x7e]*$/

/** The date of an answer, written once a second. */
function createDates(now: Clock['now']): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const present = Math.floor(now() / 1_000)
    if (present !== second) {
      second = present
      text = new Date(present * 1_000).toUTCString()
    }
    return text
  }
}
