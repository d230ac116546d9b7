/** The thread of the followers; started by followers.ts. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { FollowersWanted } from './followers.ts'

const { port, path, followers, mark: line } = workerData.given as FollowersWanted
const mark = Buffer.from(line)

let wanted = 0
let complete = 0
let chunks: Buffer[] = []
let heard = new Array<number>(followers).fill(0)

function finish(): void {
  if (wanted === 0 || complete < followers) return
  const told = { chunks }
  wanted = 0
  complete = 0
  chunks = []
  heard = heard.map(() => 0)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
  parentPort?.postMessage(told)
}

/** How often the mark is in what came, and the end of it that may be the beginning of one. */
function count(bytes: Buffer): { readonly events: number; readonly rest: Buffer } {
  let events = 0
  let from = 0
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, from)) {
    events += 1
    from = at + mark.length
  }
  return { events, rest: bytes.subarray(Math.max(from, bytes.length - mark.length + 1)) }
}

async function follow(number: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(head.toString())
  let rest = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    if (number === 0) chunks.push(bytes)
    const counted = count(rest.length === 0 ? bytes : Buffer.concat([rest, bytes]))
    rest = Buffer.from(counted.rest)
    if (counted.events === 0) return
    const all = (heard[number] ?? 0) + counted.events
    heard[number] = all
    if (wanted > 0 && all > wanted) throw new Error(`${all} events came instead of ${wanted}`)
    if (all !== wanted) return
    complete += 1
    finish()
  })
  socket.once('close', () => {
    throw new Error('a follower was cut off')
  })
}

for (let number = 0; number < followers; number += 1) await follow(number)
parentPort?.on('message', (events: number) => {
  wanted = events
  complete = heard.filter((each) => each === events).length
  finish()
})
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage('ready')
