/** A result that comes by itself: posted to a callback, signed by the agent that did the work. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAgent } from '@chimera/agent'
import type { PublicKey } from '@chimera/domain/ids'
import { createSeenNonces } from '@chimera/identity/freshness'
import { type RequestWithBody, verifyRequest } from '@chimera/identity/http-signature'
import { createKeyring } from '@chimera/identity/keyring'
import { wordCount } from '../skills.ts'
import { aside, openHub, say, title } from '../stage.ts'

const hub = await openHub()
title('A result by callback')

/** Somebody who waits: reads what is posted, and says thank you. */
const inbox = createServer((request, reply) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => void parts.push(part))
  request.on('end', () => {
    reply.writeHead(204).end()
    inbox.emit('posted', {
      method: request.method,
      url: `http://${request.headers.host}${request.url}`,
      headers: request.headers,
      body: Buffer.concat(parts),
    })
  })
})
inbox.listen(0, '127.0.0.1')
await once(inbox, 'listening')
const callback = `http://127.0.0.1:${(inbox.address() as AddressInfo).port}/results`

const agent = createAgent({
  name: 'chimera-counter',
  owner: 'bolt',
  hub: hub.address,
  skills: [wordCount],
  directory: false,
  signals: false,
  log: 'silent',
})
await agent.start()

const posted = once(inbox, 'posted')
const asked = await fetch(`${agent.address()}/jobs`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    job_id: crypto.randomUUID(),
    orchestrator_id: 'acme',
    skill_name: 'word_count',
    input_data: { text: 'do not call us, we call you' },
    budget: 0.1,
    currency: 'chorus_credits_v1',
    callback_url: callback,
  }),
})
const pending = (await asked.json()) as { status: string }
assert.deepEqual([asked.status, pending.status], [202, 'PENDING'])
say('asked: 202 PENDING, and the connection is free again')

const [letter] = (await posted) as [RequestWithBody]
const result = JSON.parse(Buffer.from(letter.body ?? []).toString()) as Record<string, unknown>
assert.deepEqual([result.status, result.output_data], ['SUCCESS', { words: 7 }])
say(`posted to us a moment later: ${JSON.stringify(result.output_data)}`)

// Whoever knows our address could post there. Only the agent can sign (RFC 9421).
const { keys } = await hub.get(`/v1/keys/${agent.id()}`)
const [key] = keys as { key_id: string; public_key: PublicKey }[]
const verdict = await verifyRequest(letter, {
  now: Date.now(),
  keyOf: (id) => (id === key?.key_id ? key.public_key : undefined),
  keyring: createKeyring(),
  nonces: createSeenNonces(),
  also: ['idempotency-key'],
})
assert.ok(verdict.ok)
say('the signature is that of the key which the hub has for this agent')
aside('an inbox that is away is tried again for a day; what is given up can be sent by hand')

inbox.close()
await agent.stop()
await hub.stop()
