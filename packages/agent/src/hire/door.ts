/**
 * An agent's own door, as a hirer knocks at it: collaborations by OpenClaw, over HTTP (OC-23).
 *
 *   D1  The address is the agent's own word, so it is dialled through the guarded client.
 *   D2  A token never goes to an agent. Who hires as an agent signs, or shows a pass for this one
 *       door; who hires as an owner is known by the hold, which names the task (CH-15).
 *   D3  The same ask may be made again: its key is the task (OC-12).
 *   D4  An answer is what the agent says. A result counts only if the agent has signed it.
 */
import { besideJobs } from '@chimera/dialects/chorus'
import * as openclaw from '@chimera/dialects/openclaw'
import { type KeyHistory, keyAt, presentKey } from '@chimera/domain/agent/keys'
import type { AgentId, InstanceId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { EndReported } from '@chimera/domain/work/result'
import type { WorkAsked } from '@chimera/domain/work/work'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import { createGuardedClient, type GuardedClient, type Outcome } from '@chimera/host/guarded/client'
import { beginTrace, encodeTraceparent } from '@chimera/host/traceparent'
import { signRequest } from '@chimera/identity/http-signature'
import { createKeyring } from '@chimera/identity/keyring'
import type { KeyPair } from '@chimera/identity/keys'
import { verifyMessage } from '@chimera/identity/message'
import { type HubAnswer, type HubRefused, KEY_FIELD, readAnswer } from '../hub/client.ts'
import type { Passes } from './passes.ts'

export type DoorOptions = {
  readonly clock: Clock
  readonly chance: Chance
  /** What may be dialled beside public addresses. */
  readonly allowNet: readonly string[]
  /** The key of the agent that hires; absent where an owner does. */
  readonly key?: () => KeyPair
  /** What stands for a signature at a door that is knocked at often. */
  readonly passes?: Passes
}

/** One agent, as it was found. */
export type Place = {
  readonly id: AgentId
  readonly endpoint: string
  /** It takes Chorus jobs and nothing else (jobs.ts). */
  readonly byJobs?: boolean
}

export type OfferedTo = {
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly callback: string
}

export type Limits = { readonly timeoutMs: number; readonly signal?: AbortSignal }

export type Silent = { readonly kind: 'silent'; readonly code: string; readonly detail: string }
/** `final`: it answers the request. Else it is about this call, and says nothing of the work. */
export type Refusing = { readonly kind: 'refused'; readonly final: boolean } & RefusalStated
type RefusalStated = Omit<openclaw.RefusalStated, 'details'>

export type Answered =
  /** `looked`: it has ended by now, and how. */
  | ({ readonly kind: 'accepted'; readonly looked?: Looked } & Noticed)
  /** It waits for a slot, or for a person; a second answer follows. */
  | ({ readonly kind: 'deferred'; readonly until: Instant } & Noticed)
  | Refusing
  | Silent
  /** Nobody takes collaborations there at all. */
  | { readonly kind: 'elsewhere' }
/** When the version that was asked for is gone (SK-5). */
type Noticed = { readonly removedAt?: Instant }

export type EventsAsked = Limits & {
  /** The last one that was seen. */
  readonly after?: string
  readonly silenceMs: number
  readonly mostBytes: number
  readonly onPiece: (piece: Uint8Array) => void
}

export type Looked =
  | Answered
  /** As it came, for `believe`. */
  | { readonly kind: 'ended'; readonly report: EndReported; readonly message: object }

export type Door = {
  /** With `waits` the agent may take the time of a quick skill, and answer with its end. */
  readonly ask: (
    place: Place,
    asked: WorkAsked,
    limits: Limits & { readonly waits?: boolean },
  ) => Promise<Answered>
  /** How it stands with what was asked, by the name that the requester gave it. */
  readonly look: (place: Place, asked: WorkAsked, limits: Limits) => Promise<Looked>
  readonly cancel: (place: Place, asked: WorkAsked, limits: Limits) => Promise<Looked>
  /** Whether anybody is there at all; asks for nothing to be done. */
  readonly isThere: (place: Pick<Place, 'endpoint'>, limits: Limits) => Promise<boolean>
  /** Hears what is said of the work, until the end of it; the status, where one came. */
  readonly events: (place: Place, asked: WorkAsked, how: EventsAsked) => Promise<number | undefined>
  /** A planner's signed offer, to the instance that it names (AV-8). */
  readonly offer: (to: OfferedTo, message: object, limits: Limits) => Promise<HubAnswer>
  /** The raw way, for messages of another dialect. */
  readonly get: (url: string, limits: Limits) => Promise<HubAnswer>
  readonly post: (url: string, message: object, limits: Limits) => Promise<HubAnswer>
  readonly close: () => Promise<void>
}

/** How long an agent may keep a look waiting for its result; half of what proxies put up with. */
const WAIT_SECONDS = 20
/** And its answer to an ask: longer, and whether it was accepted would be told too late. */
const ASK_SECONDS = 3
const UNPROVEN = 401

export function createDoor(options: DoorOptions): Door {
  const { clock, chance, allowNet, key, passes } = options
  const http: GuardedClient = createGuardedClient({ clock, allowNet, limits: { redirects: 0 } })

  type Sent = Limits & {
    readonly url: string
    readonly method: 'GET' | 'POST'
    readonly message?: object
    readonly more?: Readonly<Record<string, string>>
    /** Whose door it is, where a pass may stand for the signature. */
    readonly at?: AgentId
    /** The message is signed itself, and nobody looks for more. */
    readonly bare?: true
  }

  async function send(sent: Sent): Promise<HubAnswer> {
    return readAnswer(await carry(sent), clock.now())
  }

  async function carry(sent: Sent): Promise<Outcome> {
    const { url, method, message, more, timeoutMs, signal, at, bare } = sent
    const text = message === undefined ? undefined : JSON.stringify(message)
    const headers = { ...more, ...(text !== undefined && { 'content-type': 'application/json' }) }
    const go = (shown: Readonly<Record<string, string>>) =>
      http.request({
        url,
        method,
        headers: { ...headers, ...shown },
        ...(text !== undefined && { body: text }),
        ...(signal && { signal }),
        limits: { headersMs: timeoutMs, totalMs: timeoutMs, pauseMs: timeoutMs },
      })
    if (bare) return go({})
    const pass = at === undefined ? undefined : passes?.at(at, url)
    if (pass === undefined || at === undefined) return go(proof({ url, method, headers, text }))
    const outcome = await go({ authorization: `Bearer ${pass}` })
    if (!outcome.ok || outcome.status !== UNPROVEN) return outcome
    // The hub may have another key by now. Nothing was begun: the same again, signed (D3).
    passes?.refused(at)
    return go(proof({ url, method, headers, text }))
  }

  /** D2. */
  function proof(request: {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly text: string | undefined
  }): Readonly<Record<string, string>> {
    const pair = key?.()
    if (pair === undefined) return {}
    const { url, method, text } = request
    const headers = { ...request.headers, [KEY_FIELD]: pair.publicKey }
    const signed = { url, method, headers, ...(text !== undefined && { body: Buffer.from(text) }) }
    const fields = signRequest(signed, pair, { now: clock.now(), nonce: chance.uuid() })
    return { [KEY_FIELD]: pair.publicKey, ...fields }
  }

  const traceOf = ({ correlation }: WorkAsked) => ({
    traceparent: encodeTraceparent(beginTrace(correlation, chance)),
  })

  return {
    async ask(place, asked, { waits = false, ...limits }) {
      const url = collaborations(place)
      const message = openclaw.encodeRequest(asked, clock.now())
      const seconds = waits ? Math.min(ASK_SECONDS, Math.floor(limits.timeoutMs / 2_000)) : 0
      const more = { ...traceOf(asked), ...(seconds > 0 && { prefer: `wait=${seconds}` }) }
      passes?.asked(place.id, url)
      const at = place.id
      const outcome = await carry({ url, method: 'POST', message, more, at, ...limits })
      const looked = readLooked(readAnswer(outcome, clock.now()), place)
      const notice = outcome.ok ? noticeIn(outcome.headers) : {}
      // Work that has ended by now was accepted before.
      if (looked.kind === 'ended') return { kind: 'accepted', looked, ...notice }
      const taken = looked.kind === 'accepted' || looked.kind === 'deferred'
      return taken ? { ...looked, ...notice } : looked
    },
    async look(place, asked, limits) {
      const url = `${collaborations(place)}/${asked.task}`
      // As long as it may take: whoever does not know this field answers at once.
      const seconds = Math.min(WAIT_SECONDS, Math.floor(limits.timeoutMs / 2_000))
      const more = { ...traceOf(asked), ...(seconds > 0 && { prefer: `wait=${seconds}` }) }
      const at = place.id
      return readLooked(await send({ url, method: 'GET', more, at, ...limits }), place)
    },
    async cancel(place, asked, limits) {
      const url = `${collaborations(place)}/${asked.task}/cancel`
      const more = traceOf(asked)
      return readLooked(await send({ url, method: 'POST', message: {}, more, ...limits }), place)
    },
    async isThere(place, limits) {
      const url = `${besideJobs(place.endpoint)}/health`
      const answer = await send({ url, method: 'GET', ...limits })
      return answer.ok || answer.kind === 'refused' || answer.status !== undefined
    },
    async events(place, asked, { after, silenceMs, mostBytes, onPiece, timeoutMs, signal }) {
      const url = `${collaborations(place)}/${asked.task}/events`
      const method = 'GET'
      const headers = {
        ...traceOf(asked),
        accept: 'text/event-stream',
        ...(after !== undefined && { 'last-event-id': after }),
      }
      const outcome = await http.request({
        url,
        method,
        headers: { ...headers, ...proof({ url, method, headers, text: undefined }) },
        ...(signal && { signal }),
        onPiece,
        limits: { totalMs: timeoutMs, pauseMs: silenceMs, bodyBytes: mostBytes },
      })
      return outcome.ok ? outcome.status : undefined
    },
    offer: ({ callback: url }, message, limits) =>
      send({ url, method: 'POST', message, bare: true, ...limits }),
    get: (url, limits) => send({ url, method: 'GET', ...limits }),
    post: (url, message, limits) => send({ url, method: 'POST', message, ...limits }),
    close: () => http.close(AbortSignal.abort()),
  }
}

const collaborations = ({ endpoint }: Place): string =>
  openclaw.collaborationsAddress(besideJobs(endpoint))

export function readLooked(answer: HubAnswer, { id }: Place): Looked {
  const body = answer.ok ? answer.body : answer.said
  const result = openclaw.readResult(body)
  if (result.ok && typeof body === 'object' && body !== null) {
    if (result.value.agent !== id) return notUnderstood('a result of somebody else')
    return { kind: 'ended', report: result.value, message: body }
  }
  const response = openclaw.readResponse(body)
  if (response.ok) {
    const { value } = response
    if (value.answer === 'accepted') return { kind: 'accepted' }
    if (value.answer === 'deferred') return { kind: 'deferred', until: value.until }
    return { kind: 'refused', final: true, ...statedIn(value) }
  }
  if (answer.ok) return notUnderstood('neither a response nor a result')
  if (isNoDoor(answer)) return { kind: 'elsewhere' }
  return answer.kind === 'refused'
    ? refusingIn(answer)
    : { kind: 'silent', code: answer.code, detail: answer.detail }
}

/** Nothing is served there; an agent that has the door says in its own words what it misses. */
function isNoDoor(answer: Exclude<HubAnswer, { ok: true }>): boolean {
  if (answer.status === undefined || ![404, 405, 501].includes(answer.status)) return false
  return answer.kind === 'unanswered' || answer.refusal === undefined
}

/** RFC 8594, which says when; that it is deprecated says RFC 9745. */
function noticeIn(headers: Readonly<Record<string, string>>): Noticed {
  const removedAt =
    headers.deprecation === undefined ? Number.NaN : Date.parse(headers.sunset ?? '')
  return Number.isFinite(removedAt) ? { removedAt } : {}
}

function statedIn(stated: RefusalStated): RefusalStated {
  const { refusal, sentence, retryable, retryAfterMs } = stated
  return { refusal, sentence, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

/** OC-22: an error without a response. One that we have no word for closes this door to us. */
function refusingIn({ refusal = 'policy_violated', sentence, retryable }: HubRefused): Refusing {
  return { kind: 'refused', final: false, refusal, sentence, retryable }
}

const notUnderstood = (detail: string): Silent => ({
  kind: 'silent',
  code: 'unintelligible',
  detail: detail.slice(0, LIMITS.notesChars),
})

/** D4: by the key that speaks for the agent now, or spoke for it when the work ended (P-15). */
export function createBelief(): (
  message: object,
  said: { readonly history: KeyHistory; readonly at: Instant },
) => boolean {
  const keyring = createKeyring()
  return (message, { history, at }) =>
    [presentKey(history), keyAt(history, at)].some(
      (key) => key !== undefined && verifyMessage(message, key.publicKey, keyring).ok,
    )
}
