/**
 * Asking the hub. The token goes along as a header, which no other page can make a browser send:
 * there is no cookie, and so nothing to be forged.
 */
export type HubAnswer = { readonly code: string; readonly message: string }

/** The hub said no, or could not be reached (status 0). */
export class HubRefused extends Error {
  readonly status: number
  readonly code: string
  readonly retryAfterMs: number | undefined
  constructor(status: number, { code, message }: HubAnswer, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

export type Asker = {
  readonly get: <Answer>(path: string, signal?: AbortSignal) => Promise<Answer>
  readonly text: (path: string, signal?: AbortSignal) => Promise<string>
  readonly send: <Answer>(
    method: 'POST' | 'DELETE',
    path: string,
    body?: object,
  ) => Promise<Answer | undefined>
  readonly headers: () => Record<string, string>
}

const UNREACHABLE: HubAnswer = {
  code: 'unreachable',
  message: 'The hub does not answer. It may be restarting, or the network is down.',
}

export function createAsker(token: () => string | undefined): Asker {
  const headers = (): Record<string, string> => {
    const text = token()
    return text === undefined ? {} : { authorization: `Bearer ${text}` }
  }

  async function call(path: string, init: RequestInit): Promise<Response> {
    const answer = await fetch(path, {
      ...init,
      headers: { ...headers(), ...init.headers },
      credentials: 'omit',
      cache: 'no-store',
    }).catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') throw error
      throw new HubRefused(0, UNREACHABLE)
    })
    if (answer.ok) return answer
    throw await refusalIn(answer)
  }

  return {
    headers,
    get: async <Answer>(path: string, signal?: AbortSignal) =>
      (await call(path, signal ? { signal } : {})).json() as Promise<Answer>,
    text: async (path, signal) => (await call(path, signal ? { signal } : {})).text(),
    send: async <Answer>(method: 'POST' | 'DELETE', path: string, body?: object) => {
      const said = body && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }
      const text = await (await call(path, { method, ...said })).text()
      return text === '' ? undefined : (JSON.parse(text) as Answer)
    },
  }
}

export async function refusalIn(answer: Response): Promise<HubRefused> {
  const after = Number(answer.headers.get('retry-after') ?? Number.NaN)
  const retryAfterMs = Number.isFinite(after) ? after * 1_000 : undefined
  const words = (await answer.json().catch(() => undefined)) as Partial<HubAnswer> | undefined
  const code = words?.code ?? `status_${answer.status}`
  const message = words?.message ?? `The hub answered with ${answer.status}.`
  return new HubRefused(answer.status, { code, message }, retryAfterMs)
}
