/**
 * `defineSkill`: from what an author writes to a contract with everything resolved.
 *
 *   D1  All that is wrong with a definition is said at once, when it is defined.
 *   D2  The types of the function's input and output come from the schemas.
 *   D3  Schemas are such that others can check by them: they are published, and whoever checks by a
 *       stranger's schema takes only what ends soon (foreign-schema.ts).
 */
import type { Category } from '@chimera/domain/agent/agent'
import {
  readSkillRef,
  type SkillVersion,
  writeSkillVersion,
} from '@chimera/domain/agent/skill-version'
import type { Issue } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { isPrice } from '@chimera/domain/money/amount'
import type { Fallback } from '@chimera/domain/skill/retry'
import type { Static, TSchema } from 'typebox'
import type { Ended, Idempotency, Reconciled, Skill, SkillContext, Work } from './contract.ts'
import { type Duration, readDuration } from './duration.ts'
import { COMMON_ROWS, type CommonCode, completeRow, type ErrorOption } from './error-rows.ts'
import { readForeignSchema } from './foreign-words.ts'

export { Type } from 'typebox'

export type SkillOptions<
  Input extends TSchema,
  Output extends TSchema,
  Codes extends string = never,
> = {
  /** What it is asked for by: letters, digits, `_`, `.` and `-`, at most 128 characters. */
  readonly name: string
  /** `'1.0'`. A change that callers must know of is a new major. */
  readonly version: string
  readonly title?: string
  /** What it does, for whoever looks for it. At most 1000 characters; the name unless given. */
  readonly description?: string
  /** Credits for one call, with at most two decimals. Free unless given. */
  readonly price?: number
  readonly category?: Category
  readonly input: Input
  readonly output: Output
  /** For one attempt: `'5s'`, or milliseconds. 30 s unless given, a day at most. */
  readonly timeout?: Duration
  /** How long it usually takes; a deadline that leaves less is refused by an agent. */
  readonly duration?: Duration
  /** A person must agree to each call before it runs. */
  readonly approval?: boolean
  /** Its own codes, and what follows from each. A common code may be given another row. */
  readonly errors?: Readonly<Record<Codes, ErrorOption>>
  /** The codes for a wrong input (by the part that is wrong), for lack of time, for bad output. */
  readonly codes?: {
    readonly input?: readonly (readonly [path: string, code: Codes | CommonCode])[]
    readonly timeout?: Codes | CommonCode
    readonly output?: Codes | CommonCode
  }
  /** An answer is good for so long, for the same input or for what `by` makes of it. */
  readonly cache?: { readonly ttl: Duration; readonly by?: (input: Static<Input>) => unknown }
  /** Callers that ask the same at once share one run. On where there is a cache, else off. */
  readonly shared?: boolean
  readonly idempotency?: {
    /** How long answers are kept under their key after the result: 24 h unless given. */
    readonly keep?: Duration | 'for ever'
    /** See `Idempotency`. Off: after a crash a repeat runs again. */
    readonly once?: boolean
    readonly across?: Idempotency['across']
    /** The key where the caller gives none; undefined: there is none. */
    readonly by?: (input: Static<Input>) => string | undefined
    /** What must be the same under one key, or it is a conflict: the input unless given. */
    readonly same?: (input: Static<Input>) => unknown
    /** Finds out how a run ended of which no answer was kept. */
    readonly reconcile?: (
      input: Static<Input>,
      context: SkillContext<Codes | CommonCode>,
    ) => Reconciled<Static<Output>> | PromiseLike<Reconciled<Static<Output>>>
  }
  /** Whom it depends on: when that one fails again and again it is left alone for a while. */
  readonly provider?:
    | string
    | ((input: Static<Input>, fallback?: Fallback['to']) => string | undefined)
  /** Rules between fields that a schema cannot say. */
  readonly check?: {
    readonly input?: (input: Static<Input>) => readonly Issue[]
    readonly output?: (output: Static<Output>) => readonly Issue[]
  }
  /** The answer in place of an error whose recovery asks for one; undefined leaves the error. */
  readonly recover?: (
    ended: Ended<Static<Output>>,
    input: Static<Input>,
  ) => Static<Output> | undefined
  /** Callers are told from now on, and it is gone at `removedAt`, 30 days later at the earliest. */
  readonly deprecation?: {
    readonly declaredAt: Instant | string
    readonly removedAt: Instant | string
  }
} & (
  | {
      readonly run: (
        input: Static<Input>,
        context: SkillContext<Codes | CommonCode>,
      ) => Static<Output> | PromiseLike<Static<Output>>
    }
  | {
      /** Runs in a thread: the address of a module, as `import.meta.resolve` gives it. */
      readonly module: URL | string
      /** What the module exports: `run` unless given. */
      readonly export?: string
      /** Of JavaScript objects, in megabytes: 128 unless given. Buffers are not counted. */
      readonly memoryMb?: number
      /** At once: 4 unless given. */
      readonly threads?: number
      /** Ends a thread that does not react for so long, before its timeout. Off unless given. */
      readonly blocked?: Duration
    }
)

/** The skill is not one: each issue names the option. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'
  readonly issues: readonly Issue[]

  constructor(skill: string, issues: readonly Issue[]) {
    const list = issues.map(
      ({ path, expected, got }) => `${path}: expected ${expected}, got ${got}`,
    )
    super(`skill ${skill}: ${list.join('; ')}`)
    this.issues = issues
  }
}

/** A skill of what is written here. Throws a `DefinitionError` that says all that is wrong. */
export function defineSkill<
  Input extends TSchema,
  Output extends TSchema,
  Codes extends string = never,
>(given: SkillOptions<Input, Output, Codes>): Skill<Input, Output> {
  // The runner holds values to the schemas before it calls a function, and knows no more of them.
  const options = given as unknown as SkillOptions<TSchema, TSchema, string>
  const issues: Issue[] = []
  const wrong = (path: string, expected: string, got: unknown): void => {
    issues.push({ path, expected, got: String(got).slice(0, LIMITS.nameChars) })
  }
  const ms = (path: string, span: Duration | undefined, most: number): number | undefined => {
    if (span === undefined) return undefined
    const read = readDuration(span)
    if (read !== undefined && read > 0 && read <= most) return read
    wrong(path, `a span such as '5s', at most ${most} ms`, span)
    return undefined
  }

  const version = versionOf(options.name, options.version)
  if (version === undefined) {
    wrong(
      'name, version',
      "a name and a version such as '1.0'",
      `${options.name} ${options.version}`,
    )
  }
  const priceCents = Math.round((options.price ?? 0) * 100)
  if (!isPrice(priceCents) || priceCents / 100 !== (options.price ?? 0)) {
    wrong('price', 'credits with at most two decimals', options.price)
  }
  const description = options.description ?? options.title ?? options.name
  if (description.length > LIMITS.descriptionChars) {
    wrong('description', `at most ${LIMITS.descriptionChars} characters`, description.length)
  }
  for (const part of ['input', 'output'] as const) issues.push(...schemaIssues(part, options[part]))

  const errors = new Map(Object.entries(COMMON_ROWS).map(([code, row]) => [code, completeRow(row)]))
  for (const [code, option] of Object.entries<ErrorOption>(options.errors ?? {})) {
    const row = completeRow(option)
    if (!/^[A-Z][A-Z0-9_]{0,127}$/.test(code)) wrong('errors', 'codes in capitals', code)
    if (row.retries > LIMITS.skillRetries) {
      wrong(`errors.${code}.retries`, `at most ${LIMITS.skillRetries}`, row.retries)
    }
    errors.set(code, row)
  }
  const codes = { input: [], timeout: 'TIMEOUT', output: 'INTERNAL_ERROR', ...options.codes }
  for (const code of [...codes.input.map(([, each]) => each), codes.timeout, codes.output]) {
    if (!errors.has(code)) wrong('codes', 'codes that are listed in `errors`', code)
  }

  const timeoutMs = ms('timeout', options.timeout, LIMITS.skillMostMs) ?? LIMITS.skillMs
  const durationMs = ms('duration', options.duration, LIMITS.skillMostMs)
  const ttlMs = ms('cache.ttl', options.cache?.ttl, LIMITS.skillMostMs)
  const { keep = LIMITS.answerMs, once = false, across = 'caller' } = options.idempotency ?? {}
  const keepMs = keep === 'for ever' ? undefined : ms('idempotency.keep', keep, 1e12)
  const deprecation = deprecationOf(options.deprecation)
  if (options.deprecation !== undefined && deprecation === undefined) {
    wrong('deprecation', `two times, at least ${LIMITS.deprecationMs} ms apart`, 'others')
  }
  const work = workOf(options, wrong, ms)
  if (issues.length > 0 || version === undefined) throw new DefinitionError(options.name, issues)

  const { name, title, category, cache, idempotency, provider, check, recover } = options
  const { approval = false, shared = cache !== undefined } = options
  return Object.freeze({
    id: writeSkillVersion(name, version),
    name,
    version,
    description,
    priceCents,
    input: given.input,
    output: given.output,
    timeoutMs,
    needsApproval: approval,
    errors,
    codes,
    shared,
    idempotency: {
      once,
      across,
      ...(keepMs !== undefined && { keepMs }),
      ...(idempotency?.by && { by: idempotency.by }),
      ...(idempotency?.same && { same: idempotency.same }),
      ...(idempotency?.reconcile && { reconcile: idempotency.reconcile }),
    },
    check: { ...check },
    work,
    ...(title !== undefined && { title }),
    ...(category !== undefined && { category }),
    ...(durationMs !== undefined && { durationMs }),
    ...(deprecation !== undefined && { deprecation }),
    ...(ttlMs !== undefined && { cache: { ttlMs, ...(cache?.by && { by: cache.by }) } }),
    ...(typeof provider === 'string' && { provider: () => provider }),
    ...(typeof provider === 'function' && { provider }),
    ...(recover && { recover }),
  })
}

type Wrong = (path: string, expected: string, got: unknown) => void
type Span = (path: string, span: Duration | undefined, most: number) => number | undefined

function workOf(options: SkillOptions<TSchema, TSchema, string>, wrong: Wrong, ms: Span): Work {
  if ('run' in options) {
    if (typeof options.run !== 'function') wrong('run', 'a function', typeof options.run)
    return { is: 'function', run: options.run }
  }
  const { memoryMb = LIMITS.skillMemoryMb, threads = LIMITS.skillThreads } = options
  const module = String(options.module)
  if (!URL.canParse(module)) wrong('module', 'the address of a module', module)
  if (!Number.isSafeInteger(memoryMb) || memoryMb < 16) wrong('memoryMb', 'at least 16', memoryMb)
  if (!Number.isSafeInteger(threads) || threads < 1) wrong('threads', 'at least 1', threads)
  const blockedMs = ms('blocked', options.blocked, LIMITS.skillMostMs)
  return {
    is: 'thread',
    module,
    export: options.export ?? 'run',
    memoryMb,
    threads,
    ...(blockedMs !== undefined && { blockedMs }),
  }
}

function versionOf(name: string, version: string): SkillVersion | undefined {
  const ref = readSkillRef(`${name}@v${version}`)
  if (ref?.major === undefined || name.length > LIMITS.skillChars) return undefined
  return { major: ref.major, minor: ref.minor ?? 0 }
}

function schemaIssues(part: string, schema: TSchema): readonly Issue[] {
  const read = readForeignSchema({ ...schema })
  if (read.ok) return []
  return [{ ...read.issue, path: `${part}${read.issue.path}` }]
}

type Times = { readonly declaredAt: Instant; readonly removedAt: Instant }

function deprecationOf(
  given: { readonly [Each in keyof Times]: Instant | string } | undefined,
): Times | undefined {
  if (given === undefined) return undefined
  const at = (time: Instant | string) => (typeof time === 'string' ? Date.parse(time) : time)
  const times = { declaredAt: at(given.declaredAt), removedAt: at(given.removedAt) }
  return times.removedAt - times.declaredAt >= LIMITS.deprecationMs ? times : undefined
}
