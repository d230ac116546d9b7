/**
 * The one way from an agent or a hirer to its hub over HTTP.
 *
 *   U1  The world not answering is a value, never an exception. `unanswered` means that nobody
 *       knows whether it happened: only the same request, under the same key, may be made again.
 *   U2  A refusal that may pass by itself is asked again as often as the plan says, not before the
 *       time that the hub named; the hub says that such a refusal changed nothing.
 *   U3  What went unanswered is asked again by itself only if that does no harm: a reading, or a
 *       body that carries the key which makes it the same request (`repeatable`).
 *   U4  Each try is signed anew, with the key and the token as they are then, so that both rotate
 *       without a restart. Neither is ever sent to another origin: nothing is redirected.
 *   U5  One correlation id goes with all tries, as the trace id of `traceparent`.
 */
import type { Issue } from '@chimera/domain/decision'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import { REFUSALS, type Refusal } from '@chimera/domain/refusals'
import { type BackoffPlan, backoffMs } from '@chimera/domain/voice/backoff'
import { type Chance, createChance } from '@chimera/host/chance'
import { type Clock, createClock } from '@chimera/host/clock'
import { createGuardedClient, type Outcome } from '@chimera/host/guarded/client'
import type { ClientTls } from '@chimera/host/guarded/dial'
import type { GuardFailureCode } from '@chimera/host/guarded/failure'
import { beginTrace, encodeTraceparent } from '@chimera/host/traceparent'
import { signRequest } from '@chimera/identity/http-signature'
import type { KeyPair } from '@chimera/identity/keys'

export type HubClientOptions = {
  /** Its address, such as `http://127.0.0.1:4600`. */
  readonly hub: string
  /** An owner's token; asked for at each try. */
  readonly token?: string | (() => string | undefined)
  /** The key that signs; asked for at each try. */
  readonly key?: KeyPair | (() => KeyPair | undefined)
  readonly clock?: Clock
  readonly chance?: Chance
  /** For one try, in milliseconds. Default: 10 000. */
  readonly timeoutMs?: number
  /** Tries of one call, the first included. Default: 4, which is about a second and a half. */
  readonly tries?: number
  /** Our certificate and whom we believe, as it is now; the same object while it is the same. */
  readonly tls?: () => ClientTls
}

export type HubCall = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** From the root, with its query: `/v1/holds?task_id=…`. */
  readonly path: string
  readonly body?: unknown
  /** Whether asking twice is asking once. Default: for GET and DELETE. */
  readonly repeatable?: boolean
  readonly correlation?: CorrelationId
  /** Of all tries together; nothing is begun or waited for beyond it. */
  readonly deadline?: Instant
  /** For one try of this call. */
  readonly timeoutMs?: number
  /** Tries of this call; 1 where the caller has a plan of its own. */
  readonly tries?: number
  readonly signal?: AbortSignal
}

export type HubAnswered = {
  readonly ok: true
  readonly status: number
  /** The JSON that came; undefined where nothing came. */
  readonly body: unknown
}

/** The hub said no. */
export type HubRefused = {
  readonly ok: false
  readonly kind: 'refused'
  readonly status: number
  /** In the words of the door that was asked. */
  readonly code: string
  /** In ours, where the code or its details tell. */
  readonly refusal?: Refusal
  readonly sentence: string
  readonly retryable: boolean
  readonly retryAt?: Instant
  readonly issues?: readonly Issue[]
  /** All that came, for doors that say no in a message of their own. */
  readonly said?: unknown
}

/** Nobody said anything that could be understood: it may have happened or not. */
export type HubUnanswered = {
  readonly ok: false
  readonly kind: 'unanswered'
  readonly code: GuardFailureCode | 'unintelligible'
  readonly status?: number
  /** For the operator's log. */
  readonly detail: string
  /** Whatever came, if it was JSON. */
  readonly said?: unknown
}

export type HubAnswer = HubAnswered | HubRefused | HubUnanswered

export type HubClient = {
  /** As it stands in addresses: without a slash at its end. */
  readonly address: string
  readonly call: (asked: HubCall) => Promise<HubAnswer>
  readonly get: (path: string, more?: Omit<HubCall, 'path' | 'method' | 'body'>) => Called
  readonly post: (path: string, body: unknown, more?: Omit<HubCall, 'path' | 'body'>) => Called
  /** Waits for what is under way; gives that up when the signal is aborted. */
  readonly close: (signal?: AbortSignal) => Promise<void>
}
type Called = Promise<HubAnswer>

const TIMEOUT_MS = 10_000
const TRIES = 4
/** 0.2, 0.4, 0.8 s, half off at most: a restart of the hub is seldom longer, a hirer waits. */
const PLAN: BackoffPlan = { firstMs: 200, factor: 2, mostMs: 5_000, spread: 0.5 }
/** A page of results with their content; sixteen times what one message may be. */
const ANSWER_BYTES = 4 * 1024 * 1024
/** An answer that says no without our error shape is read for this much of its text. */
const SENTENCE_CHARS = 200

/** The public key of whoever signs, for those who do not know it yet. */
export const KEY_FIELD = 'x-chimera-key'

/** Throws for an address that is none: a mistake of whoever wrote the settings. */
export function createHubClient(options: HubClientOptions): HubClient {
  const { clock = createClock(), chance = createChance(), tls, tries: usualTries = TRIES } = options
  const usualMs = options.timeoutMs ?? TIMEOUT_MS
  const address = readAddress(options.hub)
  const http = createGuardedClient({
    clock,
    // The address is our own settings' and not a stranger's, so it may be anywhere, but only there.
    allowNet: ['*'],
    limits: { redirects: 0, bodyBytes: ANSWER_BYTES },
    ...(tls && { tls }),
  })

  async function attempt(asked: HubCall, trace: string): Promise<HubAnswer> {
    const { method = 'GET', path, body, deadline, signal } = asked
    const leftMs = deadline === undefined ? Number.POSITIVE_INFINITY : deadline - clock.now()
    const timeoutMs = Math.min(asked.timeoutMs ?? usualMs, leftMs)
    if (timeoutMs <= 0) return unanswered('timeout', 'the deadline has passed')
    const url = address + path
    const text = body === undefined ? undefined : JSON.stringify(body)
    const outcome = await http.request({
      url,
      method,
      headers: headersFor({ method, url, text, trace }),
      ...(text !== undefined && { body: text }),
      ...(signal && { signal }),
      limits: { headersMs: timeoutMs, totalMs: timeoutMs },
    })
    return readAnswer(outcome, clock.now())
  }

  function headersFor({ method, url, text, trace }: Asked): Record<string, string> {
    const token = current(options.token)
    const pair = current(options.key)
    const headers: Record<string, string> = {
      traceparent: trace,
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(pair && { [KEY_FIELD]: pair.publicKey }),
    }
    if (pair === undefined) return headers
    const signed = { method, url, headers, ...(text !== undefined && { body: Buffer.from(text) }) }
    const fields = signRequest(signed, pair, { now: clock.now(), nonce: chance.uuid() })
    return { ...headers, ...fields }
  }

  async function call(asked: HubCall): Promise<HubAnswer> {
    const { tries = usualTries, deadline, signal } = asked
    const correlation = asked.correlation ?? (chance.uuid() as CorrelationId)
    const trace = encodeTraceparent(beginTrace(correlation, chance))
    for (let tried = 1; ; tried += 1) {
      const answer = await attempt(asked, trace)
      if (tried >= tries || signal?.aborted || !mayRepeat(asked, answer)) return answer
      const waitMs = Math.max(
        backoffMs(PLAN, { failures: tried, chance: chance.fraction() }),
        (retryAtOf(answer) ?? 0) - clock.now(),
      )
      if (deadline !== undefined && clock.now() + waitMs >= deadline) return answer
      // Given up while waiting: what is known is the last answer.
      if (!(await slept(clock, waitMs, signal))) return answer
    }
  }

  return {
    address,
    call,
    get: (path, more = {}) => call({ ...more, path, method: 'GET' }),
    post: (path, body, more = {}) => call({ method: 'POST', ...more, path, body }),
    close: (signal) => http.close(signal),
  }
}

type Asked = {
  readonly method: string
  readonly url: string
  readonly text: string | undefined
  readonly trace: string
}

/** U2, U3. */
function mayRepeat({ method = 'GET', repeatable }: HubCall, answer: HubAnswer): boolean {
  if (answer.ok) return false
  if (answer.kind === 'refused') return answer.retryable
  if (!PASSING.includes(answer.code)) return false
  return repeatable ?? (method === 'GET' || method === 'DELETE')
}

/** What may be otherwise the next time. */
const PASSING: readonly HubUnanswered['code'][] = ['timeout', 'network', 'tls', 'unintelligible']

const retryAtOf = (answer: HubAnswer): Instant | undefined =>
  !answer.ok && answer.kind === 'refused' ? answer.retryAt : undefined

async function slept(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await clock.sleep(ms, signal)
    return true
  } catch {
    return false
  }
}

/** What came, as what it means; `now` turns a wait into a time. */
export function readAnswer(outcome: Outcome, now: Instant): HubAnswer {
  if (!outcome.ok) return unanswered(outcome.failure.code, outcome.failure.detail)
  const { status, body, headers } = outcome
  const text = Buffer.from(body).toString()
  const parsed = readJson(text)
  if (status >= 200 && status < 300) {
    if (text === '') return { ok: true, status, body: undefined }
    if (parsed === undefined) return unanswered('unintelligible', 'not JSON', status)
    return { ok: true, status, body: parsed }
  }
  const said = isRecord(parsed) ? parsed : {}
  // A gateway that speaks for a hub that it could not reach: the hub may have done it.
  const foreign = typeof said.code !== 'string'
  if (foreign && status >= 500) {
    const gone = unanswered('unintelligible', text.slice(0, SENTENCE_CHARS), status)
    return parsed === undefined ? gone : { ...gone, said: parsed }
  }
  const details = isRecord(said.details) ? said.details : {}
  const refusal = [said.code, details.reason].find(isRefusal)
  const seconds = Number(said.retry_after_seconds ?? headers['retry-after'])
  return {
    ok: false,
    kind: 'refused',
    status,
    code: foreign ? `http_${status}` : String(said.code),
    ...(refusal !== undefined && { refusal }),
    sentence: typeof said.message === 'string' ? said.message : text.slice(0, SENTENCE_CHARS),
    retryable: foreign ? status === 429 : said.retryable === true,
    ...(seconds > 0 && { retryAt: now + seconds * 1_000 }),
    ...(Array.isArray(details.issues) && { issues: details.issues.filter(isIssue) }),
    ...(parsed !== undefined && { said: parsed }),
  }
}

function unanswered(code: HubUnanswered['code'], detail: string, status?: number): HubUnanswered {
  return { ok: false, kind: 'unanswered', code, detail, ...(status !== undefined && { status }) }
}

function readAddress(text: string): string {
  const wrong = new TypeError(`hub: an address such as http://127.0.0.1:4600, not ${text}`)
  if (!URL.canParse(text)) throw wrong
  const { protocol, username, password, search, hash, origin, pathname } = new URL(text)
  const plain = username === '' && password === '' && search === '' && hash === ''
  if (!plain || (protocol !== 'http:' && protocol !== 'https:')) throw wrong
  return origin + pathname.replace(/\/+$/, '')
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const current = <Value extends string | KeyPair>(
  given: Value | (() => Value | undefined) | undefined,
): Value | undefined => (typeof given === 'function' ? given() : given)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isRefusal = (word: unknown): word is Refusal =>
  typeof word === 'string' && Object.hasOwn(REFUSALS, word)

const isIssue = (value: unknown): value is Issue =>
  isRecord(value) &&
  typeof value.path === 'string' &&
  typeof value.expected === 'string' &&
  typeof value.got === 'string'
