/**
 * A small agent for the hirer's tests, in plain HTTP: it registers, takes collaborations, accepts
 * the hold, works and reports, and can be told to misbehave at any of these steps.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signRequest } from '@chimera/identity/http-signature'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'

/** What it does with an ask. */
export type Manner =
  | 'works'
  | 'refuses'
  | 'is full'
  | 'is full once'
  | 'fails'
  | 'hangs up'
  | 'does not answer'
  /** Takes the work and the hold, and breaks the connection instead of saying so. */
  | 'accepts and hangs up'
  /** Answers, and from then on only tells the hub. */
  | 'tells only the hub'
  /** Hands a result over that somebody else signed, and the true one to the hub later. */
  | 'is impersonated'
  /** Accepts, and never says another word. */
  | 'goes quiet'
  /** Accepts, works for ever, and can be stopped. */
  | 'is slow'

type Json = Record<string, unknown>
type Answered = { readonly status: number; readonly body: Json }
type Task = { readonly request: Json; readonly taken: Promise<boolean>; result?: Json }

export type SmallAgent = Awaited<ReturnType<typeof runSmallAgent>>

export type SmallAgentOptions = {
  readonly hub: string
  readonly owner: string
  readonly token: string
  readonly skill: string
  readonly price: number
  readonly manner?: Manner
  readonly now?: () => number
}

export async function runSmallAgent(options: SmallAgentOptions) {
  const { hub, owner, token, skill, price, now = Date.now } = options
  const id = randomUUID()
  const key = generateKeyPair()
  const tasks = new Map<string, Task>()
  const asks: Json[] = []
  const seen: { readonly authorization: (string | undefined)[] } = { authorization: [] }
  let manner: Manner = options.manner ?? 'works'
  let executions = 0

  async function toHub(path: string, body?: Json, more: Json = {}): Promise<Answered> {
    const method = body === undefined ? 'GET' : 'POST'
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers: Record<string, string> = {
      ...(text !== undefined && { 'content-type': 'application/json' }),
      'x-chimera-key': key.publicKey,
      ...(more as Record<string, string>),
    }
    const request = { method, url: hub + path, headers, ...(text && { body: Buffer.from(text) }) }
    const signed = signRequest(request, key, { now: now(), nonce: randomUUID() })
    const answer = await fetch(hub + path, {
      method,
      headers: { ...headers, ...signed },
      ...(text !== undefined && { body: text }),
    })
    const came = await answer.text()
    return { status: answer.status, body: came === '' ? {} : JSON.parse(came) }
  }

  async function accept(request: Json): Promise<boolean> {
    const task = String(request.request_id)
    if (price === 0) return true
    const { body } = await toHub(`/v1/holds?task_id=${task}&agent_id=${id}`)
    const hold = (body.holds as Json[]).find(({ state }) => state === 'placed')
    if (hold === undefined) return false
    const { status } = await toHub(`/v1/holds/${String(hold.hold_id)}/confirm`, { price })
    return status === 200
  }

  function resultOf(request: Json, more: Json, by: KeyPair = key): Json {
    return signMessage(
      {
        protocol_version: '1.0.0',
        collaboration_id: randomUUID(),
        request_id: request.request_id,
        responder_agent_id: id,
        capability_id: skill,
        correlation_id: request.correlation_id,
        timestamp: new Date(now()).toISOString(),
        ...more,
      },
      by,
    )
  }

  async function work(task: Task): Promise<void> {
    executions += 1
    const { request } = task
    const text = String((request.input_data as Json).text)
    const result =
      manner === 'fails'
        ? resultOf(request, { result_status: 'failed', error: { code: 'BROKEN', message: 'no' } })
        : resultOf(request, {
            result_status: 'completed',
            output_data: { words: text.split(/\s+/).length },
          })
    const { status } = await toHub('/openclaw/v1/results', result)
    assert.equal(status, 204)
    const liar = generateKeyPair()
    const lie = { result_status: 'completed', output_data: { words: 0 } }
    task.result = manner === 'is impersonated' ? resultOf(request, lie, liar) : result
  }

  const responseTo = (request: Json, more: Json): Json => ({
    protocol_version: '1.0.0',
    request_id: request.request_id,
    responder_agent_id: id,
    correlation_id: request.correlation_id,
    timestamp: new Date(now()).toISOString(),
    ...more,
  })
  const rejected = (request: Json, retryable: boolean): Json =>
    responseTo(request, {
      response_status: 'rejected',
      rejection_reason: {
        code: retryable ? 'resource_exhausted' : 'policy_violation',
        message: 'not this',
        retryable,
        ...(retryable && { retry_after_seconds: 1 }),
      },
    })
  const accepted = (request: Json): Json =>
    responseTo(request, { response_status: 'accepted', collaboration_id: randomUUID() })

  async function takeAsk(request: Json, reply: Reply): Promise<void> {
    asks.push(request)
    const known = tasks.get(String(request.request_id))
    if (manner === 'does not answer') return
    if (manner === 'hangs up') return reply.cut()
    if (manner === 'refuses') return reply.send(403, rejected(request, false))
    if (manner === 'is full' || manner === 'is full once') {
      if (manner === 'is full once') manner = 'works'
      return reply.send(503, rejected(request, true))
    }
    if (await known?.taken) return reply.send(202, accepted(request))
    const task: Task = { request, taken: accept(request) }
    tasks.set(String(request.request_id), task)
    if (!(await task.taken)) return reply.send(402, rejected(request, false))
    if (manner === 'is slow' || manner === 'goes quiet') return reply.send(202, accepted(request))
    await work(task)
    if (manner === 'accepts and hangs up') return reply.cut()
    reply.send(202, accepted(request))
  }

  async function takeCancel(task: Task, reply: Reply): Promise<void> {
    if (task.result === undefined) {
      task.result = resultOf(task.request, { result_status: 'cancelled' })
      await toHub('/openclaw/v1/results', task.result)
    }
    reply.send(200, task.result)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = replyOn(request, response)
    const { method, url = '' } = request
    seen.authorization.push(request.headers.authorization)
    if (url === '/health') return reply.send(200, { status: 'ok' })
    const [, name = '', cancel] = /^\/openclaw\/v1\/collaborations(?:\/([^/]+)(\/cancel)?)?$/.exec(
      url,
    ) ?? ['', '', '']
    const quiet = ['accepts and hangs up', 'tells only the hub', 'goes quiet'].includes(manner)
    if (method === 'POST' && name === '') return takeAsk(await bodyOf(request), reply)
    const task = tasks.get(name)
    if (quiet) return reply.cut()
    if (task === undefined) return reply.send(404, UNKNOWN)
    if (cancel !== undefined && method === 'POST') return takeCancel(task, reply)
    reply.send(task.result ? 200 : 202, task.result ?? accepted(task.request))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { status } = await toHub(
    '/register',
    {
      agent_id: id,
      agent_name: 'Counter',
      owner_id: owner,
      api_endpoint: address,
      skills: [{ skill_name: skill, cost_per_call: price }],
    },
    { authorization: `Bearer ${token}` },
  )
  assert.equal(status, 201)

  return {
    id,
    key,
    address,
    asks,
    seen,
    executions: () => executions,
    behave: (next: Manner) => {
      manner = next
    },
    /** What it took on and has not ended. */
    finish: (task: string) => {
      const taken = tasks.get(task)
      return taken === undefined ? undefined : work(taken)
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Reply = ReturnType<typeof replyOn>

const replyOn = (request: IncomingMessage, response: ServerResponse) => ({
  send(status: number, body: Json): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  },
  cut: () => void request.socket.destroy(),
})

const UNKNOWN = {
  code: 'not_found',
  message: 'unknown',
  retryable: false,
  details: { reason: 'work_unknown' },
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return JSON.parse(Buffer.concat(pieces).toString())
}
