/**
 * What a skill is once it is defined: a plain function with its contract beside it, every option
 * resolved, and what the function is given while it runs.
 */
import type { Category } from '@chimera/domain/agent/agent'
import type { VersionOffer } from '@chimera/domain/agent/skill-version'
import type { Issue } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import type { Fallback } from '@chimera/domain/skill/retry'
import type { TSchema } from 'typebox'
import type { Duration } from './duration.ts'
import type { Ending, ErrorRow } from './error-rows.ts'
import type { FailureOptions, SkillFailure } from './failure.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type SkillLog = Readonly<
  Record<Level, (message: string, fields?: Readonly<Record<string, unknown>>) => void>
>

export type Progress = {
  /** From 0 to 1. */
  readonly share: number
  readonly note?: string
  /** It waits for a person from now on, or no longer does. */
  readonly awaiting?: boolean
}

/** What a skill may say when it has somebody else do a part of its work. */
export type SubTerms = {
  /** The most that it may cost, in credits, out of what this work is paid. Default: 0. */
  readonly budget?: number
  /** From now, and never beyond the end of the attempt. Default: the end of the attempt. */
  readonly deadline?: Duration
  /**
   * The skill's own name for this part. Default: made of skill and input, so that a run that is
   * repeated after a crash finds what the first one had done.
   */
  readonly key?: string
  /** 0–100. */
  readonly minReputation?: number
}

export type SubHired = {
  readonly output: Readonly<Record<string, unknown>>
  /** In credits. */
  readonly cost: number
}

/** What is handed in by whoever runs skills on a network. */
export type SubHiring = (asked: {
  readonly skill: string
  readonly input: Readonly<Record<string, unknown>>
  readonly terms: SubTerms
  readonly attempt: number
  readonly until: Instant
  readonly signal: AbortSignal
}) => Promise<SubHired>

export type SkillContext<Code extends string = string> = {
  /**
   * Aborted at the timeout, at the deadline, or when nobody waits any longer. Of work that was
   * called off the reason's `message` is `cancelled`; of an agent that only stops it is not.
   */
  readonly signal: AbortSignal
  /** `progress(0.5, 'half of the pages')`. */
  readonly progress: (share: number, note?: string) => void
  /**
   * Says that a person has to look before it goes on, or no longer has to: the network is told that
   * the agent waits for somebody (HUMAN_REVIEW).
   */
  readonly awaiting: (does: boolean, note?: string) => void
  readonly log: SkillLog
  /**
   * Has somebody else on the network do a part of the work, paid out of what this work is paid
   * (P-9): `await hire('word_count', { text }, { budget: 0.02 })`. Rejects where there is no
   * network, and with the reason where nobody does it.
   */
  readonly hire: (
    skill: string,
    input: Readonly<Record<string, unknown>>,
    terms?: SubTerms,
  ) => Promise<SubHired>
  /** The same for all attempts of one call. */
  readonly call: string
  /** The first is 1. */
  readonly attempt: number
  /** Whom to ask instead of the usual one, after failures whose recovery says so. */
  readonly fallback?: Fallback['to']
  /** When this attempt ends at the latest. */
  readonly until: Instant
  readonly now: () => Instant
  /** Who asked, where the caller said. */
  readonly caller?: string
  /** The key under which a repeat of this call is recognised. */
  readonly key?: string
  /** Keeps what is done so far, for `recover`; the latest counts. */
  readonly keep: (partial: unknown) => void
  /** `throw failure('RATE_LIMITED', { retryAfter: '30s' })`. */
  readonly failure: (code: Code, options?: FailureOptions) => SkillFailure<Code>
}

/** What `recover` makes an answer of, when the tries are used up. */
export type Ended<Output = unknown> = {
  readonly code: string
  readonly ending: Ending
  readonly issues: readonly Issue[]
  /** What the last attempt kept. */
  readonly partial?: unknown
  /** The last answer to the same input, however old. */
  readonly cached?: Output
}

/** How something that was begun ended, found out afterwards. */
export type Reconciled<Output = unknown> =
  | { readonly is: 'done'; readonly output: Output }
  | { readonly is: 'not_done' }
  | { readonly is: 'unknown' }

export type Idempotency = {
  /** Answers are kept so long after the result; absent: for ever. */
  readonly keepMs?: number
  /** At most one run under a key: one whose end is not known is looked up and never repeated. */
  readonly once: boolean
  /** Whether a key is the caller's own or means the same whoever brings it. */
  readonly across: 'caller' | 'everybody'
  readonly by?: (input: unknown) => string | undefined
  /** What must be the same under one key; absent: all of the input. */
  readonly same?: (input: unknown) => unknown
  readonly reconcile?: (
    input: unknown,
    context: SkillContext,
  ) => Reconciled | PromiseLike<Reconciled>
}

export type ThreadRules = {
  /** The module that exports the function. */
  readonly module: string
  readonly export: string
  readonly memoryMb: number
  /** At once. */
  readonly threads: number
  /** A thread that does not react for so long is ended before its timeout. */
  readonly blockedMs?: number
}

export type Work =
  | {
      readonly is: 'function'
      readonly run: (input: unknown, context: SkillContext) => unknown
    }
  | ({ readonly is: 'thread' } & ThreadRules)

export type CrossCheck = (value: unknown) => readonly Issue[]

/** The type parameters are the schemas', so that a caller in TypeScript gets what they say. */
export type Skill<
  Input extends TSchema = TSchema,
  Output extends TSchema = TSchema,
> = VersionOffer & {
  /** `name@v1.0` */
  readonly id: string
  readonly title?: string
  readonly description: string
  readonly priceCents: number
  readonly category?: Category
  readonly input: Input
  readonly output: Output
  readonly timeoutMs: number
  /** How long it usually takes. */
  readonly durationMs?: number
  readonly needsApproval: boolean
  /** Its own rows and the common ones. */
  readonly errors: ReadonlyMap<string, ErrorRow>
  readonly codes: {
    /** By the first path that an issue begins with; else INVALID_INPUT. */
    readonly input: readonly (readonly [path: string, code: string])[]
    readonly timeout: string
    readonly output: string
  }
  readonly cache?: { readonly ttlMs: number; readonly by?: (input: unknown) => unknown }
  /** Callers that ask the same at once share one run. */
  readonly shared: boolean
  readonly idempotency: Idempotency
  readonly provider?: (input: unknown, fallback?: Fallback['to']) => string | undefined
  readonly check: { readonly input?: CrossCheck; readonly output?: CrossCheck }
  readonly recover?: (ended: Ended, input: unknown) => unknown
  readonly work: Work
}
