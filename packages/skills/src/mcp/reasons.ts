/** From what the MCP client and the guarded client throw to a reason of ours. */
import { GuardFailure, type GuardFailureCode } from '@chimera/host/guarded/failure'
import { ProtocolError, SdkHttpError } from '@modelcontextprotocol/client'
import { McpFailure, type McpFailureCode } from './failure.ts'
import { UNASKED } from './session.ts'

export type Explaining = {
  /** Takes secrets out of words. */
  readonly say: (words: string) => string
  readonly sent: boolean
  /** What the session knows beside the error. */
  readonly saying?: string
}

const GUARDED: Readonly<Record<GuardFailureCode, McpFailureCode>> = {
  refused_address: 'misconfigured',
  timeout: 'timeout',
  too_large: 'too_large',
  too_many_redirects: 'misconfigured',
  network: 'unreachable',
  tls: 'unreachable',
  cancelled: 'cancelled',
}

const UNEXPECTED = 'CLIENT_HTTP_UNEXPECTED_CONTENT'
const TOO_LARGE = /exceeded maximum size/
const RATE_LIMITED = 429
// Not read, no request, no such method, not with these parameters (JSON-RPC 2.0).
const NOT_BEGUN = new Set([-32_700, -32_600, -32_601, -32_602])
// A chain of causes is followed so far; longer ones lead in a circle.
const MOST_CAUSES = 5

export function explain(error: unknown, { say, sent, saying = '' }: Explaining): McpFailure {
  if (error instanceof McpFailure) return error
  const chain = causesOf(error)
  const words = say([...chain.map(messageOf), saying].filter(Boolean).join('; '))
  const failed = (code: McpFailureCode): McpFailure => new McpFailure(code, words, { sent })

  for (const each of chain) {
    if (each instanceof GuardFailure) {
      return new McpFailure(GUARDED[each.code], say(`${each.code}: ${each.detail}`), { sent })
    }
    if (each instanceof SdkHttpError) {
      // A session that the server has forgotten: nothing was done, and it is reached anew.
      if (each.status === 404) return new McpFailure('unreachable', words)
      return failed(httpCode(each.status))
    }
    if (each instanceof ProtocolError) {
      const code = isRateLimit(each) ? 'rate_limited' : 'refused'
      return new McpFailure(code, words, { sent: sent && !NOT_BEGUN.has(each.code) })
    }
    const code = codeOf(each)
    if (code === 'ENOENT' || code === 'EACCES') return failed('misconfigured')
    if (code === 'NOT_CONNECTED') return new McpFailure('unreachable', words)
    if (code === 'INVALID_RESULT' || code === UNEXPECTED) return failed('rubbish')
  }
  const all = [...chain.map(messageOf), saying].join(' ')
  if (TOO_LARGE.test(all)) return failed('too_large')
  return failed(all.includes(UNASKED) || isUnreadable(chain) ? 'rubbish' : 'unreachable')
}

function httpCode(status: number): McpFailureCode {
  if (status === RATE_LIMITED) return 'rate_limited'
  if (status === 401 || status === 403) return 'denied'
  if (status < 400) return 'misconfigured'
  return status >= 500 ? 'unreachable' : 'rubbish'
}

/** Servers say it in their own ways: by the code of HTTP, or by a word beside the code. */
function isRateLimit({ code, data }: ProtocolError): boolean {
  const { code: word }: { readonly code?: unknown } = Object(data)
  return code === RATE_LIMITED || word === 'RATE_LIMITED' || word === RATE_LIMITED
}

/** What is no JSON, or JSON that is no message. */
function isUnreadable(chain: readonly unknown[]): boolean {
  return chain.some((each) => each instanceof SyntaxError || nameOf(each) === 'ZodError')
}

function causesOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = []
  let each = error
  while (each !== undefined && chain.length < MOST_CAUSES) {
    chain.push(each)
    each = each instanceof Error ? each.cause : undefined
  }
  return chain
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '')

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
