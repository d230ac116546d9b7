/**
 * A connection to an MCP server that many callers share.
 *
 *   N1  It is made when it is first needed, once for all who wait, and made anew after it broke;
 *       after failures in a row with growing pauses, half a minute at most.
 *   N2  Each question has its signal and its time, in which also the connecting counts.
 *   N3  Reading is repeated once when the connection breaks under it. A tool is not: nobody knows
 *       what it did (`sent`).
 *   N4  A server that was silent three times is ended: the next caller gets a new one.
 *   N5  What is read is data, cleaned (clean.ts), bounded in bytes, parts, depth and values.
 */
import type { Clock } from '@chimera/host/clock'
import type { GuardedClient } from '@chimera/host/guarded/client'
import type { Client } from '@modelcontextprotocol/client'
import { cleanText, cleanValue } from './clean.ts'
import { McpFailure } from './failure.ts'
import { explain } from './reasons.ts'
import { type Environment, type McpServer, resolveServer, sayOf } from './server.ts'
import { MCP_LIMITS, type McpLimits, NO_TIMEOUT, openSession, type Session } from './session.ts'

export type McpHands = {
  readonly clock: Clock
  /** Dials the addresses. Not needed for commands. */
  readonly guard?: GuardedClient
  /** Where the variables are that the settings name. */
  readonly environment?: Environment
  readonly limits?: Partial<McpLimits>
}

export type McpQuestion = { readonly signal?: AbortSignal; readonly limitMs?: number }

/** What came back, cleaned. */
export type McpAnswer = {
  readonly texts: readonly string[]
  /** Addresses that a tool points at. */
  readonly links: readonly { readonly uri: string; readonly mimeType?: string }[]
  /** What a tool gave as data. */
  readonly data?: unknown
}

export type McpConnection = {
  readonly name: string
  /** A resource. Rejects with a `McpFailure`, as all of these do. */
  readonly read: (uri: string, question?: McpQuestion) => Promise<McpAnswer>
  readonly call: (
    tool: string,
    input: Readonly<Record<string, unknown>>,
    question?: McpQuestion,
  ) => Promise<McpAnswer>
  /** What the server has to offer, for whoever checks the settings. */
  readonly look: (question?: McpQuestion) => Promise<McpOffer>
  readonly close: () => Promise<void>
}

export type McpOffer = {
  readonly server: string
  readonly tools: readonly string[]
  readonly resources: readonly string[]
}

const PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
const MOST_SILENT = 3
// A tool has no code for it.
const RATE_LIMIT = /\brate.?limit|\btoo many requests/i
/** Names of what is offered; more is for nobody to read. */
const MOST_OFFERED = 200

type Options = { readonly signal: AbortSignal; readonly timeout: number }
type Use<Value> = (client: Client, options: Options) => Promise<Value>
type Tried<Value> =
  | { readonly is: 'answered'; readonly value: Value }
  | { readonly is: 'failed'; readonly failure: McpFailure }

export function connectMcp(server: McpServer, hands: McpHands): McpConnection {
  const { clock, guard, environment = {} } = hands
  const limits: McpLimits = { ...MCP_LIMITS, ...hands.limits }
  const closing = new AbortController()
  const leaving = new Set<Promise<void>>()
  let secrets: readonly string[] = []
  let opening: Promise<Session> | undefined
  let live: Session | undefined
  let failures = 0
  let silent = 0
  let notBefore = 0

  const say = (words: string): string => sayOf(words, secrets)

  /** N1. The first failure after an answer costs no pause. */
  function pause(): void {
    opening = undefined
    live = undefined
    failures += 1
    const pauseMs = failures < 2 ? 0 : Math.min(PAUSE_MS * 2 ** (failures - 2), LONGEST_PAUSE_MS)
    notBefore = clock.now() + pauseMs
  }

  function waitFor(left: Promise<void>): void {
    leaving.add(left)
    void left.finally(() => leaving.delete(left))
  }

  /** Lets go of a session, so that the next caller gets a new one. */
  function drop(session: Session): void {
    if (live === session) pause()
    waitFor(session.close())
  }

  async function open(): Promise<Session> {
    const stop = new AbortController()
    const giveUp = (): void => stop.abort()
    const waitMs = notBefore - clock.now()
    if (waitMs > 0) await clock.sleep(waitMs, closing.signal)
    closing.signal.addEventListener('abort', giveUp, { once: true })
    const timer = clock.after(limits.connectMs, giveUp)
    let mine: Session | undefined
    const onEnd = (): void => {
      if (mine !== undefined && live === mine) pause()
    }
    try {
      const resolved = resolveServer(server, environment)
      ;({ secrets } = resolved)
      const hand = { server: resolved, limits, signal: stop.signal, onEnd, onLeave: waitFor }
      const greeted = openSession({ ...hand, ...(guard && { guard }) })
      // A server that hangs in its greeting may not notice that it is given up.
      mine = await abortable(greeted, stop.signal, (late) => waitFor(late.close()))
      live = mine
      return mine
    } catch (error) {
      pause()
      if (closing.signal.aborted) throw new McpFailure('closed', server.name)
      if (stop.signal.aborted) throw new McpFailure('timeout', 'no greeting in time')
      throw explain(error, { say, sent: false })
    } finally {
      timer.cancel()
      closing.signal.removeEventListener('abort', giveUp)
    }
  }

  /** Whoever waits for it may leave; the connecting goes on for the others. */
  function connected(): Promise<Session> {
    if (opening === undefined) {
      opening = open()
      opening.catch(() => undefined)
    }
    return opening
  }

  async function once<Value>(session: Session, use: Use<Value>, signal: AbortSignal) {
    const tried: Tried<Value> = await abortable(
      use(session.client, { signal, timeout: NO_TIMEOUT }),
      signal,
    ).then(
      (value) => ({ is: 'answered', value }),
      (error: unknown) => {
        const failure = explain(error, { say, sent: true, saying: session.saying() })
        return { is: 'failed', failure }
      },
    )
    if (tried.is === 'answered' || isAnswer(tried.failure)) {
      failures = 0
      silent = 0
    } else if (!signal.aborted) drop(session)
    return tried
  }

  async function ask<Value>(use: Use<Value>, question: McpQuestion, repeats: boolean) {
    const { signal, limitMs = limits.answerMs } = question
    if (closing.signal.aborted) throw new McpFailure('closed', server.name)
    if (signal?.aborted) throw new McpFailure('cancelled', 'before it was asked')
    const waitMs = notBefore - clock.now()
    if (opening === undefined && waitMs > limitMs) {
      throw new McpFailure('unreachable', `it failed ${failures} times; again in ${waitMs} ms`)
    }
    const stop = new AbortController()
    let why: 'timeout' | 'cancelled' | 'closed' | undefined
    let sent = false
    const end = (reason: NonNullable<typeof why>) => (): void => {
      why ??= reason
      stop.abort()
    }
    const [cancel, close] = [end('cancelled'), end('closed')]
    const timer = clock.after(limitMs, end('timeout'))
    signal?.addEventListener('abort', cancel, { once: true })
    closing.signal.addEventListener('abort', close, { once: true })
    try {
      for (let again = true; ; again = false) {
        const session = await abortable(connected(), stop.signal)
        sent = true
        const tried = await once(session, use, stop.signal)
        if (tried.is === 'answered') return tried.value
        const { failure } = tried
        // N3. What was not sent may be asked again in any case.
        const isBroken = failure.code === 'unreachable' && (repeats || !failure.sent)
        if (!again || !isBroken || why !== undefined) throw failure
      }
    } catch (error) {
      if (why === 'timeout' && sent) countSilence()
      throw why === undefined ? error : new McpFailure(why, `within ${limitMs} ms`, { sent })
    } finally {
      timer.cancel()
      signal?.removeEventListener('abort', cancel)
      closing.signal.removeEventListener('abort', close)
    }
  }

  /** N4. */
  function countSilence(): void {
    silent += 1
    if (silent < MOST_SILENT || live === undefined) return
    silent = 0
    drop(live)
  }

  return {
    name: server.name,
    read: async (uri, question = {}) => {
      const result = await ask((client, options) => readOf(client, uri, options), question, true)
      return answerOf(result.contents, undefined, limits)
    },
    call: async (tool, input, question = {}) => {
      const asked = { name: tool, arguments: { ...input } }
      const result = await ask(
        (client, options) => client.callTool(asked, options),
        question,
        false,
      )
      const answer = answerOf(result.content, result.structuredContent, limits)
      if (result.isError !== true) return answer
      const words = say(answer.texts.join(' '))
      const code = RATE_LIMIT.test(words) ? 'rate_limited' : 'refused'
      throw new McpFailure(code, words, { sent: true, data: answer.data })
    },
    look: (question = {}) => ask(offerOf, question, true),
    close: async () => {
      closing.abort()
      await opening?.catch(() => undefined)
      if (live) drop(live)
      while (leaving.size > 0) await Promise.allSettled(leaving)
    },
  }
}

/** It works, and says no. */
const isAnswer = ({ code }: McpFailure): boolean => code === 'refused' || code === 'rate_limited'

const readOf = (client: Client, uri: string, options: Options) =>
  client.readResource({ uri }, { ...options, cacheMode: 'bypass' })

async function offerOf(client: Client, options: Options): Promise<McpOffer> {
  const can = client.getServerCapabilities() ?? {}
  const [tools, resources] = await Promise.all([
    can.tools ? client.listTools(undefined, options) : { tools: [] },
    can.resources ? client.listResources(undefined, options) : { resources: [] },
  ])
  const { name = '', version = '' } = client.getServerVersion() ?? {}
  const clean = (words: readonly string[]) => words.slice(0, MOST_OFFERED).map(cleanText)
  return {
    server: cleanText(`${name} ${version}`).trim(),
    tools: clean(tools.tools.map((tool) => tool.name)),
    resources: clean(resources.resources.map(({ uri }) => uri)),
  }
}

type Content = Readonly<Record<string, unknown>>

/** N5. Pictures and sounds that come as bytes are not taken. */
function answerOf(contents: readonly Content[], data: unknown, limits: McpLimits): McpAnswer {
  if (contents.length > limits.contents) {
    throw new McpFailure('too_large', `${contents.length} parts`, { sent: true })
  }
  const clean = data === undefined ? undefined : cleanValue(data)
  if (data !== undefined && clean === undefined) {
    throw new McpFailure('too_large', 'data too deep or too large', { sent: true })
  }
  return {
    texts: contents.flatMap((each) => textsOf(each)),
    links: contents.flatMap(({ type, uri, mimeType }) =>
      type === 'resource_link' && typeof uri === 'string'
        ? [{ uri: cleanText(uri), ...(typeof mimeType === 'string' && { mimeType }) }]
        : [],
    ),
    ...(clean !== undefined && { data: clean }),
  }
}

/** As they came: who reads them as JSON cleans them after that (clean.ts). */
function textsOf({ text, resource }: Content): readonly string[] {
  if (typeof text === 'string') return [text]
  const inner: { readonly text?: unknown } = Object(resource)
  return typeof inner.text === 'string' ? [inner.text] : []
}

/** Ends with the signal, whatever the promise does; what comes later is handed to `late`. */
async function abortable<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
  late: (value: Value) => void = () => undefined,
): Promise<Value> {
  let leave = (): void => undefined
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(new Error('given up'))
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
  })
  try {
    return await Promise.race([promise, left])
  } catch (error) {
    if (signal.aborted) void promise.then(late, () => undefined)
    throw error
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
