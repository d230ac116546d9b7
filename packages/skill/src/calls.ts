/**
 * One call as its caller sees it: what it may say with it, what it is answered, and the record that
 * is left of it (SK-3). Inputs and outputs are not in the record, only their hashes.
 */
import type { DeprecationNotice } from '@chimera/domain/agent/skill-version'
import type { Issue } from '@chimera/domain/decision'
import type { CorrelationId, Digest, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { BreakerChange } from './breakers.ts'
import { type Checks, inputCode } from './checks.ts'
import type { Progress, Skill, SubHiring } from './contract.ts'
import { withDefaults } from './defaults.ts'
import { digestOf } from './digest.ts'
import { COMMON_ROWS, type ErrorRow } from './error-rows.ts'
import { classify, type Fault, fault, type Why } from './failure.ts'
import type { Leaving } from './leaving.ts'
import type { Ask } from './performing.ts'
import { copyOf, readPlain } from './plain.ts'
import type { Origin, Ran } from './repeats.ts'
import type { Shelf } from './shelf.ts'

export type CallOptions = {
  /** Who asks: the name in the record, and whose the key is. */
  readonly caller?: string
  /** A repeat under the same key gets the same answer. At most 256 characters. */
  readonly key?: string
  /** Caps all attempts together. */
  readonly deadline?: Instant
  readonly signal?: AbortSignal
  /** Like a signal, for whoever makes many calls. */
  readonly leaving?: Leaving
  /** What `examine` found of the same input: it is not looked at again. */
  readonly looked?: Looked
  readonly correlation?: CorrelationId
  readonly onProgress?: (progress: Progress) => void
  /** How the skill hires others (P-9). Without it nobody can be hired. */
  readonly hire?: SubHiring
}

export type CallError = {
  readonly code: string
  /** For the caller. */
  readonly message: string
  readonly retryable: boolean
  readonly http: number
  readonly why: Why
  readonly issues: readonly Issue[]
  readonly retryAfterMs?: number
  readonly needs?: NonNullable<ErrorRow['needs']>
  readonly versions?: readonly string[]
}

/** As the dialect's `encodeCall` takes it. */
export type CallRecord = {
  readonly skill: string
  readonly version?: string
  readonly agent: string
  readonly at: Instant
  readonly input: Digest
  readonly output?: Digest
  readonly durationMs: number
  /** Absent: it succeeded. With an output: that stands in for the error. */
  readonly code?: string
  readonly retries: number
  readonly correlation?: CorrelationId
}

export type CallOutcome<Output = unknown> = {
  readonly call: string
  readonly skill: string
  readonly durationMs: number
  readonly retries: number
  readonly from: Origin | 'flight'
  /** The version is deprecated, and gone at a time (SK-5). */
  readonly notice?: DeprecationNotice
  readonly record: CallRecord
} & (
  | {
      readonly ok: true
      readonly output: Output
      readonly stale?: true
      /** The error that the output stands in for. */
      readonly recovered?: string
    }
  | { readonly ok: false; readonly error: CallError }
)

export type Examined =
  | {
      readonly ok: true
      readonly skill: Skill
      readonly looked: Looked
      readonly notice?: DeprecationNotice
    }
  | { readonly ok: false; readonly error: CallError; readonly notice?: DeprecationNotice }

/** What an operator wants to know. Details are for the operator's log only. */
export type RunnerEvent =
  | ({ readonly is: 'failed'; readonly skill: string; readonly call: string } & Fault)
  /** A person must look (SK-2). */
  | {
      readonly is: 'escalated'
      readonly skill: string
      readonly call: string
      readonly code: string
      readonly detail: string
    }
  /** Runs that ignored their signal and still go on. */
  | { readonly is: 'stray'; readonly skill: string; readonly count: number }
  | ({ readonly is: 'breaker' } & BreakerChange)
  /** Something that was handed in failed. */
  | { readonly is: 'trouble'; readonly port: string; readonly error: unknown }

export type Asked = {
  readonly asked: Skill | string
  readonly input: unknown
  readonly id: string
  readonly call: CallOptions
}

/** `given` is what came, to be hashed for the record; what cannot be written down is null. */
type Given = {
  readonly name: string
  readonly given: unknown
  readonly notice: DeprecationNotice | undefined
}
type Unfit = Given & {
  readonly ok: false
  readonly skill: Skill | undefined
  readonly fault: Fault
}

/** An input that fits its skill, as a copy that nobody else has. */
export type Looked = Given & {
  readonly ok: true
  readonly skill: Skill
  readonly checks: Checks
  /** With the schema's defaults. */
  readonly filled: unknown
}

export type ReadCall =
  | Unfit
  | (Given & { readonly ok: true; readonly skill: Skill; readonly ask: Omit<Ask, 'run'> })

/** The hash of what cannot be written down. */
const UNREADABLE = null

/** Version, size, schema, key, deadline: all that can be said before anything is run. */
export function readCall(shelf: Shelf, { asked, input, id, call }: Asked, now: Instant): ReadCall {
  const looked = call.looked ?? lookAt(shelf, asked, input, now)
  return looked.ok ? readTerms(looked, id, call, now) : looked
}

export function lookAt(
  shelf: Shelf,
  asked: Skill | string,
  input: unknown,
  now: Instant,
): Looked | Unfit {
  const plain = readPlain(input)
  const given = plain.ok ? plain.value : UNREADABLE
  const found = shelf.find(asked, now)
  if (!found.ok) {
    const name = typeof asked === 'string' ? asked.slice(0, LIMITS.skillChars) : asked.name
    return { ok: false, name, given, notice: undefined, skill: undefined, fault: found.fault }
  }
  const { skill, checks, notice } = found
  const unfit = (why: Fault): Unfit => ({
    ok: false,
    name: skill.name,
    given,
    notice,
    skill,
    fault: why,
  })
  if (!plain.ok) {
    const code = plain.because === 'oversized' ? 'INPUT_TOO_LARGE' : 'INVALID_INPUT'
    return unfit(fault(code, 'input_invalid', { issues: [plain.issue] }))
  }
  try {
    const issues = checks.input(given)
    if (issues.length > 0) return unfit({ ...badInput(issues), code: inputCode(skill, issues) })
    const filled = withDefaults(skill.input, given)
    return { ok: true, name: skill.name, given, notice, skill, checks, filled }
  } catch (error) {
    return unfit(classify(error, { isCode: () => false, timeout: skill.codes.timeout }))
  }
}

export function readTerms(
  { name, given, notice, skill, checks, filled }: Looked,
  id: string,
  call: CallOptions,
  now: Instant,
): ReadCall {
  const unfit = (why: Fault): Unfit => ({ ok: false, name, given, notice, skill, fault: why })
  try {
    const key = keyOf(skill, call.key, filled)
    const issue = callIssue(call) ?? (key === undefined ? keylessIssue(skill) : undefined)
    if (issue !== undefined) return unfit(badInput([issue]))
    if (call.deadline !== undefined && call.deadline <= now) {
      return unfit(fault('DEADLINE_TOO_SOON', 'deadline'))
    }
    const { caller, hire } = call
    const ask = { skill, checks, given, input: filled, call: id, caller, key, hire }
    return { ok: true, name, given, notice, skill, ask }
  } catch (error) {
    return unfit(classify(error, { isCode: () => false, timeout: skill.codes.timeout }))
  }
}

const badInput = (issues: readonly Issue[]): Fault =>
  fault('INVALID_INPUT', 'input_invalid', { issues })

/** The skill's own keys are apart from those that callers choose. */
function keyOf({ name, idempotency }: Skill, key: string | undefined, input: unknown) {
  if (key !== undefined) return { shown: key, scoped: `given ${key}` }
  const own = idempotency.by?.(copyOf(input))
  // Whatever an author makes it of, it is short.
  return own === undefined ? undefined : { shown: own, scoped: `of ${name} ${digestOf(own)}` }
}

function callIssue({ caller, deadline, key }: CallOptions): Issue | undefined {
  if (key !== undefined && (key === '' || key.length > LIMITS.keyChars)) {
    const expected = `1 to ${LIMITS.keyChars} characters`
    return { path: 'key', expected, got: String(key.length) }
  }
  if (caller !== undefined && (caller === '' || caller.length > LIMITS.ownerChars)) {
    const expected = `1 to ${LIMITS.ownerChars} characters`
    return { path: 'caller', expected, got: String(caller.length) }
  }
  if (deadline !== undefined && !Number.isFinite(deadline)) {
    return { path: 'deadline', expected: 'an instant', got: String(deadline) }
  }
  return undefined
}

/** Without a key nobody would know the second one for the first. */
const keylessIssue = ({ idempotency }: Skill): Issue | undefined =>
  idempotency.once ? { path: 'key', expected: 'to be present', got: 'nothing' } : undefined

export type Finishing = {
  readonly id: string
  readonly call: CallOptions
  readonly agent: string
  readonly begunAt: Instant
  readonly endedAt: Instant
}

export function finishCall(
  read: ReadCall,
  ran: Ran & { readonly joined?: boolean },
  finishing: Finishing,
): CallOutcome {
  const { skill, notice } = read
  const about = new Finished(read, ran, finishing)
  const noticed = notice ? { notice } : undefined
  if (!ran.ok) {
    return Object.assign(about, { ok: false as const, error: errorOf(skill, ran.fault) }, noticed)
  }
  const { output, recovered, stale } = ran
  const good = Object.assign(about, { ok: true as const, output }, noticed)
  if (recovered === undefined && !stale) return good
  return Object.assign(good, { ...(recovered && { recovered }), ...(stale && { stale }) })
}

/** A class for its one getter: two hashes are a good part of a small call, and few look at them. */
class Finished {
  readonly call: string
  readonly skill: string
  readonly durationMs: number
  readonly retries: number
  readonly from: Origin | 'flight'
  readonly #make: () => CallRecord
  #record: CallRecord | undefined

  constructor(read: ReadCall, ran: Ran & { readonly joined?: boolean }, finishing: Finishing) {
    const { id, begunAt, endedAt } = finishing
    const durationMs = Math.max(0, Math.round(endedAt - begunAt))
    this.call = id
    this.skill = read.skill?.id ?? read.name
    this.durationMs = durationMs
    this.retries = ran.retries
    this.from = ran.joined && ran.from === 'run' ? 'flight' : ran.from
    this.#make = () => recordOf(read, ran, finishing, durationMs)
  }

  get record(): CallRecord {
    this.#record ??= this.#make()
    return this.#record
  }
}

function recordOf(
  { skill, name, given }: ReadCall,
  ran: Ran,
  { call, agent, begunAt }: Finishing,
  durationMs: number,
): CallRecord {
  const code = codeOf(ran)
  return {
    skill: name,
    agent: call.caller ?? agent,
    at: begunAt,
    input: digestOf(given),
    durationMs,
    retries: ran.retries,
    ...(skill && { version: `v${skill.version.major}.${skill.version.minor}` }),
    ...(ran.ok && { output: digestOf(ran.output) }),
    ...(code !== undefined && { code }),
    ...(call.correlation !== undefined && { correlation: call.correlation }),
  }
}

/** What it ended in, or what the answer stands in for. */
export const codeOf = (ran: Ran): string | undefined => (ran.ok ? ran.recovered : ran.fault.code)

export function errorOf(skill: Skill | undefined, why: Fault): CallError {
  const common: Readonly<Record<string, ErrorRow>> = COMMON_ROWS
  const row: ErrorRow =
    skill?.errors.get(why.code) ?? common[why.code] ?? COMMON_ROWS.INTERNAL_ERROR
  return {
    code: why.code,
    message: row.words,
    retryable: row.retryable,
    http: row.http,
    why: why.why,
    issues: why.issues ?? [],
    ...(row.retryable && why.retryAfterMs !== undefined && { retryAfterMs: why.retryAfterMs }),
    ...(row.needs && { needs: row.needs }),
    ...(why.versions && { versions: why.versions }),
  }
}
