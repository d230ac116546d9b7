/**
 * The agents of a hub, over HTTP.
 *
 *   H1  Asked once: whether to ask again is for the runner, by the rows of the skill's errors.
 *   H2  Each request is signed with the key, or carries the token, or both, as they are then; they
 *       go to the address of the settings and, as nothing is redirected, nowhere else.
 *   H3  What comes back is held to its schema. Anything else comes from no hub.
 *   H4  No word of the hub, of a token or of a key is in what is thrown but the hub's sentence.
 */
import type { Check } from '@chimera/dialects/check'
import { checkAgentProfile, checkUpdateAgentStateOutput } from '@chimera/dialects/skills/checks'
import { SKILL_CODES } from '@chimera/dialects/skills/refusals'
import { REFUSALS, type Refusal } from '@chimera/domain/refusals'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import { createGuardedClient } from '@chimera/host/guarded/client'
import type { Secret } from '@chimera/host/settings/secret'
import { signRequest } from '@chimera/identity/http-signature'
import type { KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { type AgentRegistry, type RegistryCode, RegistryFailure } from './registry.ts'

export type HttpRegistryOptions = {
  /** The hub's address, such as `http://127.0.0.1:4600`. */
  readonly address: string
  readonly token?: Secret
  /** The agent's own key. Without it no profile can be registered, as each is signed by it. */
  readonly key?: KeyPair
  readonly clock: Clock
  readonly chance: Chance
}

type Asked = {
  readonly method: 'GET' | 'PUT' | 'PATCH'
  readonly path: string
  readonly body?: unknown
}

/** As the skill with the longest patience; the runner's own timeout ends it sooner. */
const MOST_MS = 10_000
/** The public key of whoever signs, for a hub that does not know it yet. */
const KEY_FIELD = 'x-chimera-key'
const SENTENCE_CHARS = 200

export function createHttpRegistry(options: HttpRegistryOptions): AgentRegistry {
  const { token, key, clock, chance } = options
  const address = options.address.replace(/\/+$/, '')
  const http = createGuardedClient({
    clock,
    // The address is the user's own and not a stranger's, so it may be anywhere, but only there.
    allowNet: ['*'],
    limits: { redirects: 0, headersMs: MOST_MS, totalMs: MOST_MS },
  })

  async function ask<Message>(
    asked: Asked,
    check: Check<Message>,
    signal: AbortSignal,
  ): Promise<Message> {
    const { method, path, body } = asked
    const url = address + path
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = headersFor({ method, url, text })
    const request = { url, method, headers, signal, ...(text !== undefined && { body: text }) }
    const outcome = await http.request(request)
    signal.throwIfAborted()
    if (!outcome.ok) throw new RegistryFailure('NETWORK_ERROR', outcome.failure.code)
    const said = parse(Buffer.from(outcome.body).toString())
    if (outcome.status < 200 || outcome.status >= 300) throw refusedWith(outcome.status, said)
    const checked = check(said)
    if (!checked.ok) throw new RegistryFailure('UNAVAILABLE', 'what answers there is no hub')
    return checked.message
  }

  function headersFor({ method, url, text }: Requested): Record<string, string> {
    const headers: Record<string, string> = {
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token.reveal()}` }),
      ...(key && { [KEY_FIELD]: key.publicKey }),
    }
    if (key === undefined) return headers
    const signed = { method, url, headers, ...(text !== undefined && { body: Buffer.from(text) }) }
    return {
      ...headers,
      ...signRequest(signed, key, { now: clock.now(), nonce: chance.uuid() }),
    }
  }

  return {
    name: `the hub at ${address}`,
    show: (agent, signal) => ask({ method: 'GET', path: pathOf(agent) }, checkAgentProfile, signal),
    update: ({ agent_id, state_updates, expected_version }, signal) =>
      ask(
        {
          method: 'PATCH',
          path: pathOf(agent_id),
          body: {
            ...state_updates,
            ...(expected_version !== undefined && { expected_version }),
          },
        },
        checkUpdateAgentStateOutput,
        signal,
      ),
    async register(profile, signal) {
      if (key === undefined) {
        throw new RegistryFailure('UNAUTHENTICATED', 'no key is configured to sign it with')
      }
      const path = pathOf(profile.agent_id)
      const body = signMessage(profile, key)
      const entered = await ask({ method: 'PUT', path, body }, checkAgentProfile, signal)
      return {
        registered: true,
        profile_url: `${address}/openclaw/v1/identities/${entered.agent_id}`,
        directory_id: entered.agent_id,
        registered_at: new Date(clock.now()).toISOString(),
      }
    },
    close: () => http.close(AbortSignal.abort()),
  }
}

type Requested = {
  readonly method: string
  readonly url: string
  readonly text?: string | undefined
}

const pathOf = (agent: string): string => `/v1/profiles/${encodeURIComponent(agent)}`

/** The hub said no, in its own words; ours for them is the skills' dialect. */
function refusedWith(status: number, said: unknown): RegistryFailure {
  const { code, message, retry_after_seconds: seconds }: Said = Object(said)
  const sentence = typeof message === 'string' ? message.slice(0, SENTENCE_CHARS) : `HTTP ${status}`
  const waitMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : undefined
  if (typeof code === 'string' && isRefusal(code)) {
    return new RegistryFailure(codeFor(code), sentence, waitMs)
  }
  return new RegistryFailure(status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE', sentence, waitMs)
}

type Said = Readonly<Partial<Record<'code' | 'message' | 'retry_after_seconds', unknown>>>

const CODES: ReadonlySet<string> = new Set<RegistryCode>([
  'AGENT_NOT_FOUND',
  'CONCURRENCY_ERROR',
  'INVALID_STATE_TRANSITION',
  'INVALID_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'CONFLICT',
  'LIMIT_REACHED',
  'RATE_LIMITED',
])

function codeFor(refusal: Refusal): RegistryCode {
  const code: string = SKILL_CODES[refusal]
  return isRegistryCode(code) ? code : 'UNAVAILABLE'
}

const isRegistryCode = (code: string): code is RegistryCode => CODES.has(code)

const isRefusal = (code: string): code is Refusal => Object.hasOwn(REFUSALS, code)

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
