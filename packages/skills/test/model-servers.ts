/**
 * A model's server on loopback that speaks Google's and OpenAI's wire formats, and does what a test
 * tells it: answer, hold, break, refuse. It keeps what it was asked.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Seen = {
  readonly format: 'google' | 'openai'
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
  readonly roles: readonly string[]
  readonly system: string
  readonly user: string
  readonly seed: unknown
  readonly temperature: unknown
  readonly maxTokens: unknown
  readonly schema: unknown
}

export type Turn =
  /** What the model says, as JSON. */
  | { readonly say: unknown; readonly usage?: Usage }
  /** Word by word. */
  | { readonly text: string }
  /** Its provider answers in its place. */
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'hold'
  | 'refuse'
  | 'cut'
  | 'drop'
  | 'huge'

type Usage = { readonly input: number; readonly cached?: number; readonly output: number }

export type ModelServer = {
  /** Base address for models of either kind. */
  readonly url: string
  readonly seen: readonly Seen[]
  /** Requests that it will not answer, while somebody still waits for them. */
  readonly held: () => number
  readonly close: () => Promise<void>
}

const USAGE: Usage = { input: 1_000, output: 100 }

export async function startModelServer(
  script: (seen: Seen, turn: number) => Turn,
): Promise<ModelServer> {
  const seen: Seen[] = []
  let held = 0

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const read = readAsk(request, JSON.parse(Buffer.concat(pieces).toString()))
    seen.push(read)
    const turn = script(read, seen.length)
    if (turn === 'hold') {
      held += 1
      response.on('close', () => {
        held -= 1
      })
      return
    }
    if (turn === 'drop') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 })
      response.write('{"choices":[')
      setImmediate(() => response.destroy())
      return
    }
    if (typeof turn === 'object' && 'status' in turn) {
      response.writeHead(turn.status, { 'content-type': 'application/json', ...turn.headers })
      response.end(turn.body ?? '{}')
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(read.format === 'google' ? asGoogle(turn) : asOpenAi(turn, read)))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    held: () => held,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type Said = Exclude<Turn, 'hold' | 'drop' | { readonly status: number }>

const textOf = (turn: Said): string => {
  if (turn === 'cut') return '{"scores":[{"n":1,'
  if (turn === 'huge') return 'x'.repeat(2 * 1024 * 1024)
  if (turn === 'refuse') return ''
  return 'text' in turn ? turn.text : JSON.stringify(turn.say)
}
const usageOf = (turn: Said): Usage =>
  typeof turn === 'object' && 'usage' in turn ? (turn.usage ?? USAGE) : USAGE

function asGoogle(turn: Said): unknown {
  const { input, cached = 0, output } = usageOf(turn)
  const usageMetadata = {
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  }
  const parts = [{ text: textOf(turn) }]
  const finishReason = turn === 'cut' ? 'MAX_TOKENS' : turn === 'refuse' ? 'SAFETY' : 'STOP'
  const content = turn === 'refuse' ? {} : { content: { role: 'model', parts } }
  return { candidates: [{ ...content, finishReason, index: 0 }], usageMetadata }
}

/** A refusal ends OpenAI's answers as any other; compatible servers say that it was one. */
function asOpenAi(turn: Said, { body }: Seen): unknown {
  const { input, cached = 0, output } = usageOf(turn)
  const refused = turn === 'refuse'
  const refusedAs = body.model === 'gpt-4o-mini' ? 'stop' : 'content_filter'
  const message = {
    role: 'assistant',
    content: refused ? null : textOf(turn),
    ...(refused && { refusal: 'I cannot help with that.' }),
  }
  return {
    id: 'answer-1',
    object: 'chat.completion',
    created: 1_767_225_600,
    model: 'any',
    choices: [
      {
        index: 0,
        message,
        finish_reason: turn === 'cut' ? 'length' : refused ? refusedAs : 'stop',
      },
    ],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    },
  }
}

type Part = { readonly text?: string }
type Message = { readonly role?: string; readonly content?: unknown; readonly parts?: Part[] }

/** The same view of both formats. */
function readAsk(request: IncomingMessage, body: Record<string, unknown>): Seen {
  const path = request.url ?? ''
  const shared = { path, headers: request.headers, body }
  if (path.includes(':generateContent')) {
    const config = Object(body.generationConfig)
    const contents = body.contents as Message[]
    const system = Object(body.systemInstruction) as Message
    return {
      ...shared,
      format: 'google',
      roles: ['system', ...contents.map(({ role = '' }) => role)],
      system: (system.parts ?? []).map(({ text = '' }) => text).join(''),
      user: contents.flatMap(({ parts = [] }) => parts.map(({ text = '' }) => text)).join(''),
      seed: config.seed,
      temperature: config.temperature,
      maxTokens: config.maxOutputTokens,
      schema: config.responseSchema,
    }
  }
  const messages = body.messages as Message[]
  const said = (wanted: string): string =>
    messages
      .filter(({ role }) => role === wanted)
      .map(({ content }) => wordsOf(content))
      .join('')
  return {
    ...shared,
    format: 'openai',
    roles: messages.map(({ role = '' }) => role),
    system: said('system'),
    user: said('user'),
    seed: body.seed,
    temperature: body.temperature,
    maxTokens: body.max_tokens ?? body.max_completion_tokens,
    schema: Object(Object(body.response_format).json_schema).schema,
  }
}

const wordsOf = (content: unknown): string =>
  typeof content === 'string' ? content : (content as Part[]).map(({ text = '' }) => text).join('')
