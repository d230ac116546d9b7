/**
 * One life of an MCP server: started or dialled, greeted, and watched until it ends.
 *
 *   S1  A server is asked and never obeyed: it may not sample our models, read our files or ask our
 *       user. What it sends unasked is counted and dropped; too much of it ends the session.
 *   S2  Its diagnostics are read, so that it never blocks on them, and only their end is kept.
 *   S3  Schemas that it publishes are not compiled: a pattern in one could hold us up for good.
 */
import type { GuardedClient } from '@chimera/host/guarded/client'
import {
  Client,
  type JSONRPCMessage,
  type jsonSchemaValidator,
  ProtocolError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { McpFailure } from './failure.ts'
import { guardedFetch } from './guarded-fetch.ts'
import type { ResolvedServer } from './server.ts'

export type McpLimits = {
  /** To start or dial a server and to greet it. */
  readonly connectMs: number
  /** For one question, unless the question says otherwise. */
  readonly answerMs: number
  /** Of one answer. */
  readonly answerBytes: number
  /** Parts of one answer. */
  readonly contents: number
}

/** 2 MiB are 600 long trends twice over; pictures come as addresses. */
export const MCP_LIMITS: McpLimits = {
  connectMs: 10_000,
  answerMs: 30_000,
  answerBytes: 2 * 1024 * 1024,
  contents: 100,
}

export type Session = {
  readonly client: Client
  /** What went wrong last, and the end of what it wrote to its diagnostics. */
  readonly saying: () => string
  readonly hasEnded: () => boolean
  readonly close: () => Promise<void>
}

export type SessionHands = {
  readonly server: ResolvedServer
  readonly limits: McpLimits
  readonly guard?: GuardedClient
  readonly signal: AbortSignal
  /** It ended after it was greeted. */
  readonly onEnd: () => void
  /** Hears of what is being closed, to wait for. */
  readonly onLeave: (left: Promise<void>) => void
}

// Longer than any limit of ours: time is kept by our own clock, not by the library's.
export const NO_TIMEOUT = 2 ** 31 - 1
// Between two answers: progress and log lines of a talkative but honest server.
const MOST_UNASKED = 1_000
export const UNASKED = 'too many messages that nobody asked for'
const LAST_WORDS_CHARS = 2_000
const MOST_PAGES = 4

/** S3. */
const ANYTHING: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
}

/** The older greeting first where asking for the newer one costs a process. */
export async function openSession(hands: SessionHands): Promise<Session> {
  if (hands.server.is === 'address') return greet(hands, 'auto')
  try {
    return await greet(hands, 'legacy')
  } catch (error) {
    if (!(error instanceof Error && error.cause instanceof ProtocolError)) throw error
    return greet(hands, 'auto')
  }
}

async function greet(hands: SessionHands, mode: 'auto' | 'legacy'): Promise<Session> {
  const transport = transportOf(hands)
  let trouble = ''
  let unasked = 0
  let state: 'new' | 'greeted' | 'ended' = 'new'

  const client = new Client(
    { name: 'chimera', version: '0.1.0' },
    {
      capabilities: {},
      jsonSchemaValidator: ANYTHING,
      inputRequired: { autoFulfill: false },
      listMaxPages: MOST_PAGES,
      versionNegotiation: { mode },
    },
  )
  const close = async (): Promise<void> => {
    if (transport instanceof StreamableHTTPClientTransport && state === 'greeted') {
      await transport.terminateSession().catch(() => undefined)
    }
    await client.close().catch(() => undefined)
  }
  /** S1. */
  const count = (): void => {
    unasked += 1
    if (unasked !== MOST_UNASKED) return
    trouble = UNASKED
    hands.onLeave(close())
  }
  const onmessage = (message: JSONRPCMessage): void => {
    if ('method' in message) count()
    else unasked = 0
  }
  const onerror = ({ message }: Error): void => {
    if (trouble !== UNASKED) trouble = message
    count()
  }
  const onclose = (): void => {
    const wasGreeted = state === 'greeted'
    state = 'ended'
    if (wasGreeted) hands.onEnd()
  }
  Object.assign(transport, { onmessage })
  Object.assign(client, { onerror, onclose })
  const lastWords = lastWordsOf(transport)
  const saying = (): string => [trouble, lastWords()].filter(Boolean).join('; ')
  try {
    await client.connect(transport, { signal: hands.signal, timeout: NO_TIMEOUT })
    state = 'greeted'
  } catch (cause) {
    hands.onLeave(close())
    throw new Error(saying(), { cause })
  }
  return { client, saying, hasEnded: () => state === 'ended', close }
}

function transportOf({ server, limits, guard }: SessionHands) {
  if (server.is === 'command') {
    const { command, args, env, cwd } = server
    return new StdioClientTransport({
      command,
      args: [...args],
      env: { ...env },
      stderr: 'pipe',
      maxBufferSize: limits.answerBytes,
      ...(cwd !== undefined && { cwd }),
    })
  }
  if (guard === undefined) throw new McpFailure('misconfigured', 'no guarded client was handed in')
  const { url, headers } = server
  if (!URL.canParse(url)) throw new McpFailure('misconfigured', 'the address is not a URL')
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: guardedFetch(guard, {
      bodyBytes: limits.answerBytes,
      totalMs: Math.max(limits.answerMs, limits.connectMs),
    }),
    requestInit: { headers: { ...headers } },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  })
}

/** S2. */
function lastWordsOf(transport: StdioClientTransport | StreamableHTTPClientTransport) {
  let last = ''
  if (transport instanceof StdioClientTransport) {
    transport.stderr?.on('data', (piece: Buffer) => {
      last = (last + piece.toString('utf8')).slice(-LAST_WORDS_CHARS)
    })
  }
  return () => last.trim()
}
