/**
 * Stands in for a hub where the agent alone is measured: it knows one caller, gives it a pass, and
 * takes whatever it is told without a look at it. What the agent does for its hub, signing and
 * reporting, it does all the same.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AgentId, PublicKey } from '@chimera/domain/ids'
import { generateKeyPair } from '@chimera/identity/keys'
import { issuePass, PASS_TTL_MS } from '@chimera/identity/passes'
import { answerIn } from './process-of.ts'

export type StillTold =
  | 'listen'
  /** How many results it has been told. */
  | 'results'
  /** Which instance was the last to say that it is there. */
  | 'instance'
  | { readonly agent: string; readonly caller: string; readonly key: string }

const HUB = generateKeyPair()
const SINCE = new Date().toISOString()

let caller = { agent: '', key: '' }
let results = 0
let instance = ''

const period = (key: string) => ({ key_id: HUB.id, public_key: key, from: SINCE })

function answerTo(path: string): object | undefined {
  if (path === '/v1/keys/hub') return { ...period(HUB.publicKey), keys: [period(HUB.publicKey)] }
  if (path === `/v1/keys/${caller.agent}`) {
    return { agent_id: caller.agent, keys: [period(caller.key)] }
  }
  if (path === `/agents/${caller.agent}`) {
    return {
      agent_id: caller.agent,
      agent_name: 'Asks',
      owner_id: 'ann',
      api_endpoint: 'http://127.0.0.1:9/jobs',
      skills: [{ skill_name: 'ask', cost_per_call: 0 }],
      reputation_score: 50,
      status: 'online',
    }
  }
  return undefined
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (request.method === 'POST') {
    const answer = take(request.url ?? '', Buffer.concat(chunks))
    if (answer === undefined) response.writeHead(204).end()
    else send(response, answer)
    return
  }
  send(response, answerTo(request.url ?? ''))
}

function send(response: ServerResponse, answer: object | undefined): void {
  const text = JSON.stringify(answer ?? { code: 'not_found', message: '', retryable: false })
  response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
  response.end(text)
}

function take(path: string, body: Buffer): object | undefined {
  if (path === '/moltbook/v1/presence') instance = fieldIn(body, 'instance_id')
  if (path === '/v1/holds') return promiseFor(fieldIn(body, 'task_id'))
  if (path === '/v1/offers') {
    const { offers }: { offers: { task_id: string }[] } = JSON.parse(body.toString())
    return { outcomes: offers.map((each) => ({ promised: true, ...promiseFor(each.task_id) })) }
  }
  if (!path.endsWith('/results')) return undefined
  const told = countIn(body)
  results += told
  if (path !== '/v1/results') return undefined
  return { outcomes: Array.from({ length: told }, () => ({ taken: true })) }
}

/** So short that slots are free again in time for the next round. */
const PROMISED_MS = 1_000

function promiseFor(task: string): object {
  return {
    reservation: {
      reservation_id: task,
      instance_id: instance,
      planner_id: caller.agent,
      task_id: task,
      slots: 1,
      state: 'promised',
      expires_at: new Date(Date.now() + PROMISED_MS).toISOString(),
    },
  }
}

function fieldIn(body: Buffer, name: string): string {
  return new RegExp(`"${name}":"([^"]*)"`).exec(body.toString('latin1'))?.[1] ?? ''
}

/** A result has one signature. */
function countIn(body: Buffer): number {
  return body.toString('latin1').split('"signature":').length - 1
}

const server = createServer({ keepAliveTimeout: 600_000 }, (...both) => void serve(...both))

answerIn(async (told: StillTold) => {
  if (told === 'results') return results
  if (told === 'instance') return instance
  if (told === 'listen') {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }
  caller = { agent: told.caller, key: told.key }
  const issuedAt = Date.now()
  const pass = { key: told.key as PublicKey, at: told.agent as AgentId, id: told.caller }
  return issuePass({ ...pass, issuedAt, expiresAt: issuedAt + PASS_TTL_MS }, HUB)
})
