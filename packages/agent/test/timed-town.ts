/**
 * A real hub and a real agent under a clock that is moved by hand, with a line between them that
 * takes its time, writes down what passes and when, and lets nothing through where a test wants it.
 */
import diagnostics from 'node:diagnostics_channel'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClock } from '@chimera/host/clock'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createHolding } from '@chimera/hub/testing/holding'
import { runHub } from '@chimera/hub/testing/running'
import type { Body } from './serving.ts'

/** What came to the hub: when, and what it answered. */
export type Passed = {
  readonly at: number
  readonly path: string
  readonly body: Body
  readonly status: number
}

/** Each way a tenth of a second: a line across an ocean. */
const LATENCY_MS = 100

export type TimedTown = Awaited<ReturnType<typeof openTimedTown>>

export async function openTimedTown() {
  const under = watchRequests(() => address)
  const hung = new Set<IncomingMessage>()
  const clock = createVirtualClock({
    startAt: Date.now(),
    settle: () => under.settle(() => hung.size),
  })
  const passed: Passed[] = []
  const line = { hangs: (_path: string): boolean => false }
  let target = ''
  let address = ''

  function pass(request: IncomingMessage, response: ServerResponse, bytes: Buffer): void {
    const { url: path = '', method = 'GET', headers } = request
    if (line.hangs(path)) {
      hung.add(request)
      response.once('close', () => hung.delete(request))
      return
    }
    const at = clock.now()
    const onwards = send(`${target}${path}`, { method, headers }, (answer) => {
      const { statusCode: status = 0 } = answer
      passed.push({ at, path, body: read(bytes), status })
      response.writeHead(status, answer.headers)
      answer.pipe(response)
    })
    onwards.on('error', () => response.destroy())
    onwards.end(bytes)
  }
  const gate = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      // What waits for the clock is not waited for by it.
      hung.add(request)
      clock.after(LATENCY_MS, () => {
        hung.delete(request)
        pass(request, response, Buffer.concat(chunks))
      })
    })
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`
  const hub = await runHub({
    auth: 'required',
    allowNet: ['127.0.0.1'],
    publicUrl: address,
    // It has the same time, and waits in its own.
    clock: { ...createClock(), now: clock.now },
  })
  target = hub.address
  // What the test asks itself goes straight to the hub, signed for where the hub says it is.
  const on = createHolding({ ...hub, address }, clock)

  return {
    clock,
    hub,
    on,
    /** The hub, at the end of the line. */
    address,
    passed,
    line,
    /** What it answers, and how long that took by the clock. */
    async timed<Result>(
      asking: Promise<Result>,
    ): Promise<{ readonly ms: number; readonly result: Result }> {
      const from = clock.now()
      const over = new AbortController()
      void asking.finally(() => over.abort()).catch(() => undefined)
      while (!over.signal.aborted && clock.now() - from < 60_000) await clock.advanceBy(LATENCY_MS)
      return { ms: clock.now() - from, result: await asking }
    },
    end: async () => {
      await hub.stop()
      gate.closeAllConnections()
      await new Promise((resolve) => gate.close(resolve))
      under.leave()
    },
  }
}

const read = (bytes: Buffer): Body =>
  bytes.length === 0 ? {} : (JSON.parse(bytes.toString()) as Body)

const CHANNELS = {
  begun: ['undici:request:create'],
  ended: ['undici:request:trailers', 'undici:request:error'],
} as const
// Rounds of the event loop in which nothing is under way any more.
const QUIET_ROUNDS = 5

type Request = { readonly origin?: unknown }
const requestIn = (message: unknown): Request => (message as { readonly request: Request }).request

/** Requests of this process to this address that nobody has answered yet. */
function watchRequests(to: () => string) {
  const underWay = new Set<Request>()
  const begin = (message: unknown): void => {
    const request = requestIn(message)
    if (String(request.origin) === to()) underWay.add(request)
  }
  const end = (message: unknown): void => void underWay.delete(requestIn(message))
  for (const each of CHANNELS.begun) diagnostics.subscribe(each, begin)
  for (const each of CHANNELS.ended) diagnostics.subscribe(each, end)
  // Through the pool of threads too, where signatures are made before anything is sent.
  const round = async () => {
    await crypto.subtle.digest('SHA-256', new Uint8Array(1))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    /** Until no more are under way than those that wait for the clock. */
    async settle(waiting: () => number): Promise<void> {
      for (let quiet = 0; quiet < QUIET_ROUNDS; ) {
        await round()
        quiet = underWay.size <= waiting() ? quiet + 1 : 0
      }
    },
    leave: () => {
      for (const each of CHANNELS.begun) diagnostics.unsubscribe(each, begin)
      for (const each of CHANNELS.ended) diagnostics.unsubscribe(each, end)
    },
  }
}
