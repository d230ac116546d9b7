/** An agent that is started for a test, and what others send to its doors. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type RequestWithBody, signRequest } from '@chimera/identity/http-signature'
import type { KeyPair } from '@chimera/identity/keys'
import { defineSkill, Type } from '@chimera/skill/define'
import { type Agent, type AgentOptions, createAgent } from '../src/create.ts'

export type Body = Record<string, unknown>
export type Told = { readonly status: number; readonly body: Body; readonly headers: Headers }

/** The skill of the README. */
export const wordCount = defineSkill({
  name: 'word_count',
  version: '1.0',
  price: 0.05,
  input: Type.Object({ text: Type.String({ maxLength: 100_000 }) }),
  output: Type.Object({ words: Type.Integer() }),
  timeout: '5s',
  run: async ({ text }) => ({ words: text.split(/\s+/).length }),
})

/** A free skill that runs until it is let go or stopped. */
export function createSlow() {
  const waiting: (() => void)[] = []
  const stopped: string[] = []
  const skill = defineSkill({
    name: 'slow_echo',
    version: '1.0',
    input: Type.Object({ text: Type.String() }),
    output: Type.Object({ text: Type.String() }),
    timeout: '1m',
    run: ({ text }, { signal, progress }) =>
      new Promise<{ text: string }>((resolve, reject) => {
        progress(0.5, 'half')
        const end = () => resolve({ text })
        signal.addEventListener('abort', () => {
          stopped.push(text)
          waiting.splice(waiting.indexOf(end), 1)
          reject(signal.reason)
        })
        waiting.push(end)
      }),
  })
  return {
    skill,
    stopped,
    /** Ends whatever runs. */
    endAll: () => {
      for (const end of waiting.splice(0)) end()
    },
    /** Ends the oldest run, once it has begun. */
    letGo: async () => {
      await until(async () => waiting.length > 0)
      waiting.shift()?.()
    },
  }
}

export async function startAgent(options: Partial<AgentOptions> & Pick<AgentOptions, 'hub'>) {
  const agent: Agent = createAgent({
    name: 'chimera-counter',
    owner: 'acme',
    skills: [wordCount],
    directory: false,
    signals: false,
    log: 'silent',
    ...options,
  })
  await agent.start()
  return agent
}

export type Call = {
  readonly method?: 'GET' | 'POST'
  readonly body?: unknown
  readonly key?: KeyPair
  readonly headers?: Readonly<Record<string, string>>
}

export async function call(url: string, { body, key, ...more }: Call = {}): Promise<Told> {
  const method = more.method ?? (body === undefined ? 'GET' : 'POST')
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers: Record<string, string> = {
    ...more.headers,
    ...(text !== undefined && { 'content-type': 'application/json' }),
    ...(key && { 'x-chimera-key': key.publicKey }),
  }
  if (key !== undefined) {
    const request: RequestWithBody = {
      method,
      url,
      headers,
      ...(text !== undefined && { body: Buffer.from(text) }),
    }
    Object.assign(headers, signRequest(request, key, { now: Date.now(), nonce: randomUUID() }))
  }
  const answer = await fetch(url, { method, headers, ...(text !== undefined && { body: text }) })
  const said = await answer.text()
  return {
    status: answer.status,
    body: said === '' ? {} : (JSON.parse(said) as Body),
    headers: answer.headers,
  }
}

export const request = (more: Body = {}): Body => ({
  protocol_version: '1.0.0',
  request_id: randomUUID(),
  requester_agent_id: randomUUID(),
  capability_id: 'word_count',
  input_data: { text: 'one two three' },
  correlation_id: randomUUID(),
  timestamp: new Date().toISOString(),
  ...more,
})

export const job = (more: Body = {}): Body => ({
  job_id: randomUUID(),
  orchestrator_id: 'ann',
  skill_name: 'word_count',
  input_data: { text: 'one two three' },
  budget: 1,
  currency: 'chorus_credits_v1',
  ...more,
})

/** What another process does takes a moment. */
export async function until(isSo: () => Promise<boolean>, most = 400): Promise<void> {
  for (let tried = 0; tried < most; tried += 1) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.fail('it never came to be so')
}
