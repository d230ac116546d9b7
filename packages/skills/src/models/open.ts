/**
 * A model of one's own, opened by its address and key, asked through the AI SDK: Google's, OpenAI's
 * or any server that speaks OpenAI's language.
 *
 *   O1  One question, one request: the SDK's own retries are off (M2).
 *   O2  Seed and temperature are fixed, so that a model that can repeat itself does.
 *   O3  Everything is bounded: the question, the answer's tokens and bytes, and the time.
 *   O4  No error carries a provider's words, a key, or what was asked.
 */
import { type Clock, createClock } from '@chimera/host/clock'
import type { Secret } from '@chimera/host/settings/secret'
import type { TSchema } from 'typebox'
import { failureFrom } from './failures.ts'
import { createGuardedFetch, type FetchSettings } from './guarded-fetch.ts'
import { type Answered, type Ask, type Model, ModelFailure } from './model.ts'
import { loadPeer } from './peers.ts'
import { costOf, PRICES, type Price, type Tokens, type Use } from './prices.ts'
import { createFits, type Fits, wireSchema } from './wire-schema.ts'

export type ModelSettings = {
  /** As answers name it: `gemini-3-flash`, `gpt-4o-mini`, or a name of one's own. */
  readonly name: string
  /** Whose language it speaks: `compatible` is any server that speaks OpenAI's. */
  readonly kind: 'google' | 'openai' | 'compatible'
  /** What its provider calls it. Default: what the two are called; else the name. */
  readonly model?: string
  /** Its base address. Default: the provider's own; a compatible one needs it. */
  readonly url?: string
  readonly key?: Secret
  /** Private networks that may be dialled for it, such as `10.0.0.0/8`. */
  readonly allowNet?: readonly string[]
  /** Whether it takes a JSON schema, and not only "some JSON". Default: yes. */
  readonly structured?: boolean
  /** Where its price is not the one of the table, or it is in none. */
  readonly price?: Price
}

export type ModelHands = {
  readonly clock?: Clock
  /** Hears of each answer what it cost. */
  readonly onUse?: (use: Use) => void
}

const SEED = 7
/** A hundred trends with their goals are a tenth of it, or all of it in escapes (S1). */
const PROMPT_CHARS = 250_000
const MOST_TOKENS = 100_000_000
/** Given to the SDK where it insists on a key; the real one is put on the request (G2). */
const NO_KEY = 'put on the request by the guarded client'
const IDS: Readonly<Record<string, string>> = { 'gemini-3-flash': 'gemini-3-flash-preview' }
const URLS = {
  google: 'https://generativelanguage.googleapis.com/v1beta',
  openai: 'https://api.openai.com/v1',
} as const

const bearer = (key: string) => ['authorization', `Bearer ${key}`] as const
const KEY_HEADERS: Readonly<Record<ModelSettings['kind'], FetchSettings['keyHeader']>> = {
  google: (key) => ['x-goog-api-key', key] as const,
  openai: bearer,
  compatible: bearer,
}

export function openModel(settings: ModelSettings, hands: ModelHands = {}): Model {
  const { name, kind, key, allowNet } = settings
  const { clock = createClock(), onUse } = hands
  const url = urlOf(settings)
  if (key === undefined && settings.url === undefined) {
    throw new ModelFailure('no_key', `a key for ${name}`)
  }
  const guarded = createGuardedFetch(
    { url, keyHeader: KEY_HEADERS[kind], ...(key && { key }), ...(allowNet && { allowNet }) },
    clock,
  )
  const price = settings.price ?? PRICES[name]
  const fits = createFits()
  let loaded: ReturnType<typeof loadModel> | undefined

  /** M3. */
  function account(purpose: string, tokens: Tokens): Use {
    const costNanos = price === undefined ? 0 : costOf(tokens, price)
    const use = { model: name, purpose, tokens, costNanos, priced: price !== undefined }
    try {
      onUse?.(use)
    } catch {
      // Whoever counts must not cost an answer.
    }
    return use
  }

  function load(): ReturnType<typeof loadModel> {
    loaded ??= loadModel({ ...settings, url }, guarded.fetch).catch((cause: unknown) => {
      // Installed in the meantime, it works without a restart.
      loaded = undefined
      throw cause
    })
    return loaded
  }

  async function put(ask: Ask, signal: AbortSignal) {
    const { sdk, model } = await load()
    const { generateText, jsonSchema, Output, NoObjectGeneratedError } = sdk
    const { temperature, maxOutputTokens, prompt } = ask
    const schema = wireSchema(ask.schema)
    const isTold = settings.structured === false
    const system = isTold ? `${ask.system} The JSON: ${JSON.stringify(schema)}` : ask.system
    try {
      const { text, usage, finishReason } = await generateText({
        model,
        system,
        prompt,
        temperature,
        maxOutputTokens,
        seed: SEED,
        maxRetries: 0,
        abortSignal: signal,
        output: Output.object({ schema: jsonSchema({ ...schema }) }),
        providerOptions: { google: { thinkingConfig: { thinkingLevel: 'minimal' } } },
      })
      return { text, finishReason, tokens: tokensOf(usage) }
    } catch (error) {
      if (!NoObjectGeneratedError.isInstance(error)) throw error
      const { text = '', finishReason, usage } = error
      return { text, finishReason, tokens: tokensOf(usage) }
    }
  }

  async function ask<Schema extends TSchema>(asked: Ask<Schema>, signal: AbortSignal) {
    signal.throwIfAborted()
    if (asked.system.length + asked.prompt.length > PROMPT_CHARS) {
      throw new ModelFailure('too_long', `${asked.system.length + asked.prompt.length} characters`)
    }
    // Once in a process, and not on the model's time.
    await load()
    signal.throwIfAborted()
    const stop = new AbortController()
    let late = false
    const leave = (): void => stop.abort(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    const timer = clock.after(asked.timeoutMs, () => {
      late = true
      stop.abort()
    })
    try {
      const { text, finishReason, tokens } = await put(asked, stop.signal)
      const use = account(asked.purpose, tokens)
      const value = valueIn(text, finishReason, asked.schema, fits)
      return { value, use } satisfies Answered<unknown>
    } catch (error) {
      if (late) throw new ModelFailure('timeout', `not within ${asked.timeoutMs} ms`)
      signal.throwIfAborted()
      throw failureFrom(error, clock.now())
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', leave)
    }
  }

  return { name, ask, close: guarded.close }
}

function urlOf({ kind, url }: ModelSettings): string {
  if (url !== undefined) return url
  if (kind !== 'compatible') return URLS[kind]
  throw new ModelFailure('bad_address', 'a compatible model needs one of its own')
}

/** M1: read and checked by us, whatever the provider promised. */
function valueIn<Schema extends TSchema>(
  text: string,
  finishReason: string | undefined,
  schema: Schema,
  fits: Fits,
) {
  if (finishReason === 'content-filter') throw new ModelFailure('refused')
  if (finishReason === 'length') throw new ModelFailure('cut')
  const value = readJson(text)
  if (fits(schema, value)) return value
  throw new ModelFailure('unusable', value === undefined ? 'no JSON' : 'another shape')
}

function readJson(text: string): unknown {
  try {
    // Small models like to fence what they were asked to give bare.
    return JSON.parse(text.replace(/^\s*```(?:json)?\s*|\s*```\s*$/g, ''))
  } catch {
    return undefined
  }
}

type Counted = {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly cachedInputTokens?: number | undefined
}

/** What a server counts is believed within reason. */
function tokensOf(usage: Counted | undefined): Tokens {
  const count = (said: number | undefined): number =>
    said !== undefined && Number.isSafeInteger(said) && said >= 0 ? Math.min(said, MOST_TOKENS) : 0
  const input = count(usage?.inputTokens)
  return {
    input,
    cachedInput: Math.min(input, count(usage?.cachedInputTokens)),
    output: count(usage?.outputTokens),
  }
}

async function loadModel(
  {
    name,
    kind,
    model = IDS[name] ?? name,
    url,
    structured = true,
  }: ModelSettings & { url: string },
  fetch: typeof globalThis.fetch,
) {
  const sdk = await loadPeer(['ai'], () => import('ai'))
  const baseURL = url.replace(/\/+$/, '')
  const hands = { baseURL, apiKey: NO_KEY, fetch }
  const made = await {
    google: async () => {
      const peer = await loadPeer(['ai', '@ai-sdk/google'], () => import('@ai-sdk/google'))
      return peer.createGoogleGenerativeAI(hands)(model)
    },
    openai: async () => {
      const peer = await loadPeer(['ai', '@ai-sdk/openai'], () => import('@ai-sdk/openai'))
      // Not the newer interface: that one takes no seed.
      return peer.createOpenAI(hands).chat(model)
    },
    compatible: async () => {
      const peers = ['ai', '@ai-sdk/openai-compatible'] as const
      const peer = await loadPeer(peers, () => import('@ai-sdk/openai-compatible'))
      const more = { name: 'compatible', supportsStructuredOutputs: structured }
      return peer.createOpenAICompatible({ ...hands, ...more }).chatModel(model)
    },
  }[kind]()
  // The SDK writes a model's warnings to the console, where the CLI's answers stand.
  const quiet = sdk.wrapLanguageModel({
    model: made,
    middleware: {
      specificationVersion: 'v3',
      wrapGenerate: async ({ doGenerate }) => ({ ...(await doGenerate()), warnings: [] }),
    },
  })
  return { sdk, model: quiet }
}
