/** The thread of the posters; started by posters.ts. */
import { parentPort, workerData } from 'node:worker_threads'
import { subjectFor } from '@chimera/dialects/topics'
import { agentAt } from '../stage/agents.ts'
import { connectBus } from '../stage/bus.ts'
import { signPost } from '../stage/posts.ts'
import type { PostersTold, PostersWanted } from './posters.ts'

const { broker, agents: count, window } = workerData.given as PostersWanted
const bus = await connectBus(broker)
const agents = Array.from({ length: count }, (_, at) => agentAt(at))
const subject = subjectFor('presence', '*')

let posts: Buffer[] = []
let sent = 0
let allowed = 0

function publish(): void {
  for (; sent < Math.min(allowed, posts.length); sent += 1) {
    const bytes = posts[sent]
    if (bytes !== undefined) bus.publish({ subject, bytes })
  }
}

parentPort?.on('message', (told: PostersTold) => {
  if (told.type === 'sign') {
    const { postsEach, signedAt } = told
    const rounds = Array.from({ length: postsEach }, (_, at) => signedAt + at)
    posts = rounds.flatMap((at) => agents.map((agent) => signPost(agent, at)))
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
