/** The thread that asks; started by client.ts with what it is to ask. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { LoadWanted } from './client.ts'

/** The status of an answer and where it ends; undefined while it is not all there. */
function endOf(bytes: Buffer): { readonly status: number; readonly end: number } | undefined {
  const head = bytes.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const text = bytes.toString('latin1', 0, head)
  const length = Number(/\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0)
  const end = head + 4 + length
  return bytes.length < end ? undefined : { status: Number(text.slice(9, 12)), end }
}

/** The bytes of a request, with its number in all places that are marked for it. */
function textsOf({ requests, serial }: LoadWanted): (number: number) => Buffer {
  const texts = requests.map((each) => {
    const bytes = Buffer.from(each)
    const places: number[] = []
    for (let at = serial ? bytes.indexOf(serial) : -1; at >= 0; ) {
      places.push(at)
      at = bytes.indexOf(serial ?? '', at + 1)
    }
    return { bytes, places }
  })
  return (number) => {
    const text = texts[number % texts.length]
    if (text === undefined) throw new Error('there is nothing to ask')
    if (serial === undefined || text.places.length === 0) return text.bytes
    // A copy, since the one before may still be on its way.
    const bytes = Buffer.from(text.bytes)
    const digits = String(number).padStart(serial.length, '0')
    for (const place of text.places) bytes.write(digits, place, 'latin1')
    return bytes
  }
}

// A server ends connections that ask for nothing, after ten seconds at the earliest.
const FRESH_MS = 5_000

type Lane = { readonly ready: () => Promise<void>; readonly send: () => void }

async function serve(asked: LoadWanted): Promise<void> {
  const { port, connections, status, pauseMs = 0 } = asked
  let left = 0
  let next = 0
  let latencies: number[] = []
  let finish = (): void => undefined
  const textOf = textsOf(asked)

  function createLane(): Lane {
    let socket: Socket | undefined
    let pending: Buffer = Buffer.alloc(0)
    let sentAt = 0
    let isWaiting = false

    const send = (): void => {
      if (left === 0) return
      left -= 1
      isWaiting = true
      const text = textOf(next)
      next += 1
      sentAt = performance.now()
      socket?.write(text)
    }
    const sendLater = (): void => {
      if (pauseMs === 0) send()
      else setTimeout(send, -Math.log(1 - Math.random()) * pauseMs)
    }
    const take = (bytes: Buffer): void => {
      // Whoever asks for nothing for a minute is told so, and loses the connection.
      if (!isWaiting) return
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
      const answer = endOf(pending)
      if (answer === undefined) return
      if (answer.status !== status) throw new Error(pending.toString().slice(0, 1_000))
      pending = pending.subarray(answer.end)
      isWaiting = false
      latencies.push(performance.now() - sentAt)
      if (latencies.length === wanted) finish()
      else sendLater()
    }
    const ready = async (): Promise<void> => {
      if (socket?.writable && performance.now() - sentAt < FRESH_MS) return
      socket?.destroy()
      pending = Buffer.alloc(0)
      sentAt = performance.now()
      const opened = connect(port, '127.0.0.1').setNoDelay(true)
      await once(opened, 'connect')
      opened.on('data', take)
      opened.on('error', (error) => {
        if (isWaiting) throw error
      })
      socket = opened
    }
    return { ready, send: sendLater }
  }

  let wanted = 0
  const lanes = Array.from({ length: connections }, createLane)
  await Promise.all(lanes.map(({ ready }) => ready()))
  const begin = async (times: number): Promise<void> => {
    await Promise.all(lanes.map(({ ready }) => ready()))
    wanted = times
    left = times
    latencies = []
    finish = () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
      parentPort?.postMessage({ latenciesMs: Float64Array.from(latencies) })
    }
    for (const { send } of lanes) send()
  }
  parentPort?.on('message', (times: number) => void begin(times))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage('ready')
}

await serve(workerData.given as LoadWanted)
