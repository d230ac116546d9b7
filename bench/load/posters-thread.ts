/**
 * The thread of the posters; started by posters.ts. They stand for agents on other machines, so
 * that they should cost this one as little as can be: they speak the broker's own protocol, from
 * bytes that were put together when they were signed.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { subjectFor } from '@chimera/dialects/topics'
import { agentAt } from '../stage/agents.ts'
import { signPost } from '../stage/posts.ts'
import type { PostersTold, PostersWanted } from './posters.ts'

const { broker, agents: count, window } = workerData.given as PostersWanted
const agents = Array.from({ length: count }, (_, at) => agentAt(at))
const subject = subjectFor('presence', '*')

const { hostname, port } = new URL(broker)
const socket = connect(Number(port), hostname).setNoDelay(true)
await once(socket, 'connect')
socket.on('data', (bytes: Buffer) => {
  const said = bytes.toString()
  if (said.includes('PING\r\n')) socket.write('PONG\r\n')
  if (said.includes('-ERR')) throw new Error(said)
})
socket.write('CONNECT {"verbose":false,"pedantic":false,"lang":"none","version":"0"}\r\n')

let frames: Buffer[] = []
let sent = 0
let allowed = 0

function frameOf(post: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`PUB ${subject} ${post.length}\r\n`),
    post,
    Buffer.from('\r\n'),
  ])
}

function publish(): void {
  const until = Math.min(allowed, frames.length)
  if (until > sent) socket.write(Buffer.concat(frames.slice(sent, until)))
  sent = Math.max(sent, until)
}

parentPort?.on('message', (told: PostersTold) => {
  if (told.type === 'sign') {
    const { postsEach, signedAt } = told
    const rounds = Array.from({ length: postsEach }, (_, at) => signedAt + at)
    frames = rounds.flatMap((at) => agents.map((agent) => frameOf(signPost(agent, at))))
    sent = 0
    allowed = 0
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    parentPort?.postMessage('signed')
    return
  }
  allowed += told.type === 'publish' ? window : told.posts
  publish()
})
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage('ready')
