/**
 * How a skill says that it did not succeed, and how whatever else it throws is understood.
 *
 *   F1  Every end has a code of the skill's own table; what nobody foresaw is INTERNAL_ERROR.
 *   F2  `certain` means that the skill itself said how it ended. A broken connection or a plain
 *       exception leaves open what was done before.
 *   F3  The detail is for the operator and is cut short; the caller reads the row's words.
 */
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import { type Duration, readDuration } from './duration.ts'
import type { CommonCode } from './error-rows.ts'

export type FailureOptions = {
  /** For the operator's log; never shown to the caller. */
  readonly detail?: string
  /** How long the provider asked us to wait. */
  readonly retryAfter?: Duration
  readonly cause?: unknown
}

/** Throw it in a skill: `throw new SkillFailure('RATE_LIMITED', { retryAfter: '30s' })`. */
export class SkillFailure<Code extends string = string> extends Error {
  override readonly name = 'SkillFailure'
  readonly code: Code
  readonly retryAfterMs?: number

  constructor(code: Code, { detail = code, retryAfter, cause }: FailureOptions = {}) {
    super(detail, { cause })
    this.code = code
    const waitMs = retryAfter === undefined ? undefined : readDuration(retryAfter)
    if (waitMs !== undefined) this.retryAfterMs = waitMs
  }
}

/** Why it ended so, for programs; the code is for the caller. */
export type Why =
  | 'declared' // the skill said so
  | 'undeclared' // with a code that is not in its table
  | 'threw'
  | 'network'
  | 'timed_out'
  | 'deadline'
  | 'cancelled'
  | 'input_invalid'
  | 'output_invalid'
  | 'unserialisable'
  | 'provider_down' // its breaker is open
  | 'overloaded'
  | 'strays' // earlier runs ignored their signal and still go on
  | 'out_of_memory'
  | 'blocked'
  | 'thread_died'
  | 'unknown_skill'
  | 'unknown_version'
  | 'key_conflict'
  | 'under_way'
  | 'outcome_unknown'
  | 'answers_down'

export type Fault = {
  readonly code: string
  readonly why: Why
  readonly certain: boolean
  readonly detail: string
  readonly retryAfterMs?: number
  readonly issues?: readonly Issue[]
  /** The versions that are run, where another was asked for. */
  readonly versions?: readonly string[]
}

/** A fault in the runner's own words. */
export function fault(code: CommonCode, why: Why, more: Partial<Fault> = {}): Fault {
  return { code, why, certain: true, detail: why, ...more }
}

export type Known = {
  /** The codes of the skill's table. */
  readonly isCode: (code: string) => boolean
  readonly timeout: string
}

/** What is thrown may be anything, and may even throw when it is looked at. */
export function classify(thrown: unknown, known: Known): Fault {
  try {
    return understand(thrown, known)
  } catch {
    return fault('INTERNAL_ERROR', 'threw', { certain: false })
  }
}

// A chain of causes is followed so far; longer ones lead in a circle.
const MOST_CAUSES = 5
const NETWORK =
  /^(ECONN(REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|EPIPE|E(HOST|NET)UNREACH|UND_ERR_(SOCKET|CONNECT_TIMEOUT))$/
const TIMED_OUT = /^(ETIMEDOUT|UND_ERR_(HEADERS|BODY)_TIMEOUT)$/

function understand(thrown: unknown, { isCode, timeout }: Known): Fault {
  const { name, code, message, retryAfterMs } = membersOf(thrown)
  const detail = clip(typeof message === 'string' ? message : String(thrown))
  const wait = Number.isSafeInteger(retryAfterMs) ? { retryAfterMs: Number(retryAfterMs) } : {}
  if (typeof code === 'string' && isCode(code)) {
    return { code, why: 'declared', certain: true, detail, ...wait }
  }
  if (name === 'SkillFailure') {
    const said = clip(`undeclared code ${String(code)}: ${detail}`)
    return fault('INTERNAL_ERROR', 'undeclared', { detail: said })
  }
  let cause = thrown
  for (let at = 0; at < MOST_CAUSES && cause !== undefined; at += 1) {
    const { name: kind, code: word, cause: next } = membersOf(cause)
    if (kind === 'TimeoutError' || (typeof word === 'string' && TIMED_OUT.test(word))) {
      return { code: timeout, why: 'timed_out', certain: false, detail }
    }
    if (typeof word === 'string' && NETWORK.test(word)) {
      return fault('NETWORK_ERROR', 'network', { certain: false, detail })
    }
    cause = next
  }
  return fault('INTERNAL_ERROR', 'threw', { certain: false, detail })
}

type Members = Readonly<
  Partial<Record<'name' | 'code' | 'message' | 'cause' | 'retryAfterMs', unknown>>
>

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? value : {}

const clip = (text: string): string => text.slice(0, LIMITS.nameChars)
