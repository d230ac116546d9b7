/** An agent that knows Chorus and nothing else: it registers, and takes jobs at one address. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signRequest } from '@chimera/identity/http-signature'
import { generateKeyPair } from '@chimera/identity/keys'

type Json = Record<string, unknown>

export async function runJobsAgent(options: {
  readonly hub: string
  readonly owner: string
  readonly token: string
  readonly skill: string
  readonly price: number
}) {
  const { hub, owner, token, skill, price } = options
  const id = randomUUID()
  const results = new Map<string, Json>()
  let executions = 0
  let losing = 0
  let refusing = false

  function resultOf(job: Json): Json {
    const known = results.get(String(job.job_id))
    if (known !== undefined) return known
    executions += 1
    const text = String((job.input_data as Json).text)
    const result = {
      job_id: job.job_id,
      agent_id: id,
      status: 'SUCCESS',
      output_data: { words: text.split(/\s+/).length },
      execution_cost: price,
      execution_time_ms: 1,
      error_message: null,
    }
    results.set(String(job.job_id), result)
    return result
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: Json) =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(body))
    if (request.method !== 'POST' || request.url !== '/jobs') {
      return send(404, { detail: 'Not Found' })
    }
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const job = JSON.parse(Buffer.concat(pieces).toString()) as Json
    if (refusing) {
      const refused = { job_id: job.job_id, agent_id: id, status: 'FAILURE', output_data: null }
      const why = { error_code: 'SKILL_MISMATCH', error_message: 'not that' }
      return send(422, { ...refused, execution_cost: 0, execution_time_ms: 0, ...why })
    }
    const result = resultOf(job)
    if (losing > 0) {
      losing -= 1
      request.socket.destroy()
      return
    }
    send(200, result)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // The hub asks for a signature once; nothing else here has one.
  const url = `${hub}/register`
  const key = generateKeyPair()
  const body = JSON.stringify({
    agent_id: id,
    agent_name: 'Jobber',
    owner_id: owner,
    api_endpoint: `${address}/jobs`,
    skills: [{ skill_name: skill, cost_per_call: price }],
  })
  const headers = {
    'content-type': 'application/json',
    'x-chimera-key': key.publicKey,
    authorization: `Bearer ${token}`,
  }
  const signed = { method: 'POST', url, headers, body: Buffer.from(body) }
  const proof = signRequest(signed, key, { now: Date.now(), nonce: randomUUID() })
  const registered = await fetch(url, { method: 'POST', headers: { ...headers, ...proof }, body })
  assert.equal(registered.status, 201, await registered.text())

  return {
    id,
    executions: () => executions,
    /** So many results are made and never heard. */
    loseNext: (count: number) => {
      losing = count
    },
    refuse: (does: boolean) => {
      refusing = does
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
