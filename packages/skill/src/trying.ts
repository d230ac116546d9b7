/**
 * A skill tried until it succeeds or its recovery says that it is enough (SK-2).
 *
 *   Y1  Each attempt has the skill's whole timeout, and never more than the deadline leaves.
 *   Y2  An attempt is not repeated while the one before still runs.
 *   Y3  A provider whose breaker is open is not asked; where the recovery names another one to ask
 *       instead, that one is.
 *   Y4  Whatever the skill does, this answers and never rejects.
 */
import type { Issue } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Verdict } from '@chimera/domain/skill/breaker'
import { decideRetry, type Fallback } from '@chimera/domain/skill/retry'
import { type Attempted, beginAttempt } from './attempt.ts'
import type { Breakers } from './breakers.ts'
import type { Checks } from './checks.ts'
import { type Chance, type Clock, waitFor } from './clock.ts'
import type { Level, Progress, Skill, SkillContext, SkillLog, SubHiring } from './contract.ts'
import { classify, type Fault, fault, SkillFailure } from './failure.ts'
import type { Member } from './flights.ts'
import { copyOf, readPlain } from './plain.ts'
import type { Soon } from './soon.ts'
import { ThreadFailure } from './threads.ts'

export type LogLine = {
  readonly skill: string
  readonly call: string
  readonly level: Level
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export type Trial = {
  readonly skill: Skill
  readonly checks: Checks
  /** The function, in this thread or in another. */
  readonly run: (input: unknown, context: SkillContext) => unknown
  readonly input: unknown
  readonly call: string
  readonly caller: string | undefined
  readonly key: string | undefined
  readonly hire: SubHiring | undefined
  /** Who waits. */
  readonly flight: Member
}

export type TrialHands = {
  readonly clock: Clock
  readonly chance: Chance
  readonly breakers: Breakers
  readonly log: (line: LogLine) => void
  readonly strays: {
    readonly count: (skill: string) => number
    readonly add: (skill: string, by: 1 | -1) => void
  }
}

export type Tried = {
  readonly retries: number
  /** What the last attempt kept. */
  readonly partial?: unknown
} & (
  | { readonly ok: true; readonly output: unknown; readonly bytes: number }
  | { readonly ok: false; readonly fault: Fault }
)

type Once = { readonly attempt: number; readonly fallback?: Fallback['to'] }

export const FIRST: Once = { attempt: 1 }

export async function trySkill(trial: Trial, hands: TrialHands): Promise<Tried> {
  const made = await tryOnce(trial, FIRST, hands)
  // Nearly always: nothing was kept by the way, and nothing is to be tried again.
  if (made.ok && made.partial === undefined) {
    return { ok: true, output: made.output, bytes: made.bytes, retries: 0 }
  }
  return tryAgain(trial, made, hands)
}

async function tryAgain(trial: Trial, first: Made, hands: TrialHands): Promise<Tried> {
  const { skill, flight } = trial
  const { clock, chance } = hands
  let next = FIRST
  let made = first
  let partial: unknown

  for (;;) {
    if (made.partial !== undefined) partial = made.partial
    const retries = next.attempt - 1
    const kept = { retries, ...(partial !== undefined && { partial }) }
    if (made.ok) return { ok: true, output: made.output, bytes: made.bytes, ...kept }

    const { fault: failed } = made
    const recovery = skill.errors.get(failed.code)
    const isDown = failed.why === 'provider_down'
    if (recovery === undefined || (isDown && !turnsElsewhere(recovery.fallback, retries + 1))) {
      return { ok: false, fault: failed, ...kept }
    }
    const retry = decideRetry(
      {
        recovery,
        retries,
        hazardous: skill.idempotency.once && !failed.certain,
        chance: chance.fraction(),
        ...deadlineOf(flight),
        ...(failed.retryAfterMs !== undefined && !isDown && { retryAfterMs: failed.retryAfterMs }),
      },
      clock.now(),
    )
    if (!retry.again) return { ok: false, fault: failed, ...kept }
    const waited = await waitFor(clock, retry.at - clock.now(), flight.leaving)
    if (!waited) return { ok: false, fault: cancelled(true), ...kept }
    // Two of them side by side would be more than anybody asked for (Y2).
    if (!made.isOver()) return { ok: false, fault: failed, ...kept }
    next = { attempt: retry.retry + 1, ...(retry.fallback && { fallback: retry.fallback }) }
    made = await tryOnce(trial, next, hands)
  }
}

const turnsElsewhere = (fallback: Fallback | undefined, retry: number): boolean =>
  fallback !== undefined && retry >= fallback.fromRetry

const cancelled = (certain: boolean): Fault => fault('CANCELLED', 'cancelled', { certain })

function deadlineOf(flight: Member) {
  const deadline = flight.deadline()
  return deadline === undefined ? {} : { deadline }
}

type Made = { readonly partial?: unknown; readonly isOver: () => boolean } & (
  | { readonly ok: true; readonly output: unknown; readonly bytes: number }
  | { readonly ok: false; readonly fault: Fault }
)

const failedBefore = (failed: Fault): Made => ({ ok: false, fault: failed, isOver: () => true })

function tryOnce(trial: Trial, once: Once, hands: TrialHands): Soon<Made> {
  const { skill, input, flight } = trial
  const { clock, breakers, strays } = hands
  if (flight.leaving.hasLeft()) return failedBefore(cancelled(true))
  if (strays.count(skill.id) >= LIMITS.skillStrays) {
    return failedBefore(fault('UNAVAILABLE', 'strays', { retryAfterMs: LIMITS.skillGraceMs }))
  }
  let provider: string | undefined
  try {
    provider = skill.provider?.(input, once.fallback)
  } catch (error) {
    return failedBefore(classify(error, knownOf(skill)))
  }
  const asked = provider === undefined ? undefined : breakers.ask(provider)
  if (asked?.ok === false) {
    const code = asked.code !== undefined && skill.errors.has(asked.code) ? asked.code : undefined
    const more = { retryAfterMs: asked.retryAt - clock.now(), ...(code && { code }) }
    return failedBefore(fault('UNAVAILABLE', 'provider_down', more))
  }
  const attempt = attemptOnce(trial, once, hands)
  if (provider === undefined || !asked?.ok) return attempt
  const { pass } = asked
  return attempt.then((made) => {
    breakers.tell(provider, { ...verdictOf(skill, made), pass })
    return made
  })
}

/** A provider that refuses what it was asked for works; a bug of ours says nothing about it. */
function verdictOf(skill: Skill, made: Made): { verdict: Verdict; code?: string } {
  if (made.ok) return { verdict: 'works' }
  const { code, why } = made.fault
  if (why === 'cancelled' || why === 'deadline' || why === 'overloaded')
    return { verdict: 'unsaid' }
  if (skill.errors.get(code)?.retryable) return { verdict: 'fails', code }
  return { verdict: why === 'declared' ? 'works' : 'unsaid' }
}

export const knownOf = (skill: Skill) => ({
  isCode: (code: string) => skill.errors.has(code),
  timeout: skill.codes.timeout,
})

/** What an attempt says while it runs, and nothing of it afterwards. */
class Saying implements Own {
  readonly until: Instant
  readonly now: () => Instant
  readonly signal: () => AbortSignal
  readonly #flight: Member
  readonly #log: (line: LogLine) => void
  #listening = true
  partial: unknown

  constructor(flight: Member, { clock, log }: TrialHands, until: Instant, signal: Own['signal']) {
    this.until = until
    this.now = clock.now
    this.signal = signal
    this.#flight = flight
    this.#log = log
  }

  log(line: LogLine): void {
    if (this.#listening) this.#log(line)
  }

  progress(progress: Progress): void {
    if (this.#listening) this.#flight.onProgress(progress)
  }

  keep(value: unknown): void {
    const read = this.#listening ? readPlain(value, { freeze: true }) : undefined
    if (read?.ok) this.partial = read.value
  }

  end(): void {
    this.#listening = false
  }
}

async function attemptOnce(trial: Trial, once: Once, hands: TrialHands): Promise<Made> {
  const { skill, flight, run, input } = trial
  const { clock, strays } = hands
  const deadline = flight.deadline()
  const leftMs = deadline === undefined ? skill.timeoutMs : deadline - clock.now()
  const timeoutMs = Math.max(0, Math.min(skill.timeoutMs, leftMs))
  let saying: Saying | undefined
  const work = (signal: () => AbortSignal): unknown => {
    saying = new Saying(flight, hands, clock.now() + timeoutMs, signal)
    return run(copyOf(input), contextOf(trial, once, saying))
  }
  const { ended, isOver } = beginAttempt(work, {
    clock,
    timeoutMs,
    leaving: flight.leaving,
    onStray: (stray) => strays.add(skill.id, stray ? 1 : -1),
  })
  const attempted = await ended
  const said: Saying | undefined = saying
  said?.end()
  return madeOf(trial, attempted, { timeoutMs, isOver, partial: said?.partial })
}

function madeOf(
  trial: Trial,
  attempted: Attempted,
  how: { readonly timeoutMs: number; readonly partial: unknown; readonly isOver: () => boolean },
): Made {
  const { skill } = trial
  const { isOver, timeoutMs } = how
  const kept = how.partial === undefined ? { isOver } : { isOver, partial: how.partial }
  switch (attempted.is) {
    case 'done': {
      const made = checked(trial, attempted.value)
      if (!made.ok) return { ok: false, fault: made.fault, ...kept }
      return { ok: true, output: made.output, bytes: made.bytes, ...kept }
    }
    case 'threw':
      return { ok: false, fault: faultOf(skill, attempted.error), ...kept }
    case 'stopped': {
      if (attempted.because === 'left') return { ok: false, fault: cancelled(false), ...kept }
      const why = timeoutMs < skill.timeoutMs ? 'deadline' : 'timed_out'
      const late = { code: skill.codes.timeout, why, certain: false, detail: why } as const
      return { ok: false, fault: late, ...kept }
    }
  }
}

/** What a skill gives is frozen: it is shared by all who asked, and by the cache. */
function checked(
  { skill, checks }: Trial,
  value: unknown,
): { ok: true; output: unknown; bytes: number } | { ok: false; fault: Fault } {
  const wrong = (why: 'unserialisable' | 'output_invalid', issues: readonly Issue[]) => ({
    ok: false as const,
    fault: { code: skill.codes.output, why, certain: false, detail: why, issues },
  })
  const plain = readPlain(value, { freeze: true })
  if (!plain.ok) {
    return wrong(plain.because === 'unplain' ? 'unserialisable' : 'output_invalid', [plain.issue])
  }
  try {
    const issues = checks.output(plain.value)
    if (issues.length > 0) return wrong('output_invalid', issues)
    return { ok: true, output: plain.value, bytes: plain.bytes }
  } catch (error) {
    return { ok: false, fault: classify(error, knownOf(skill)) }
  }
}

function faultOf(skill: Skill, error: unknown): Fault {
  if (!(error instanceof ThreadFailure)) return classify(error, knownOf(skill))
  const { why, message } = error
  const detail = message.slice(0, LIMITS.nameChars)
  if (why === 'overloaded') return fault('UNAVAILABLE', why, { detail })
  const code = why === 'blocked' || why === 'timed_out' ? skill.codes.timeout : 'INTERNAL_ERROR'
  return { code, why, certain: false, detail }
}

type Own = Pick<SkillContext, 'until' | 'now'> & {
  readonly signal: () => AbortSignal
  log(line: LogLine): void
  progress(progress: Progress): void
  keep(value: unknown): void
}

/**
 * A class, since what a function does not ask for is then not made: most never look at their signal
 * or log, and both cost more than a small skill itself.
 */
class Context implements SkillContext {
  readonly call: string
  readonly attempt: number
  readonly until: Instant
  readonly now: () => Instant
  readonly fallback?: Fallback['to']
  readonly caller?: string
  readonly key?: string
  readonly #trial: Trial
  readonly #own: Own
  #share = 0

  constructor(trial: Trial, { attempt, fallback }: Once, own: Own) {
    this.#trial = trial
    this.#own = own
    this.call = trial.call
    this.attempt = attempt
    this.until = own.until
    this.now = own.now
    if (fallback !== undefined) this.fallback = fallback
    if (trial.caller !== undefined) this.caller = trial.caller
    if (trial.key !== undefined) this.key = trial.key
  }

  get signal(): AbortSignal {
    return this.#own.signal()
  }

  get log(): SkillLog {
    return logOf(this.#trial, this.#own)
  }

  get keep(): SkillContext['keep'] {
    const own = this.#own
    return (value) => own.keep(value)
  }

  get progress(): SkillContext['progress'] {
    return (share, note) => {
      this.#share = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0
      this.#own.progress({ share: this.#share, ...noted(note) })
    }
  }

  get awaiting(): SkillContext['awaiting'] {
    return (does, note) =>
      this.#own.progress({ share: this.#share, awaiting: does, ...noted(note) })
  }

  get hire(): SkillContext['hire'] {
    const { hire } = this.#trial
    const { attempt, until } = this
    const own = this.#own
    return async (skill, input, terms = {}) => {
      if (hire === undefined) throw new Error('nobody can be hired: there is no network here')
      return hire({ skill, input, terms, attempt, until, signal: own.signal() })
    }
  }

  get failure(): SkillContext['failure'] {
    return (code, options) => new SkillFailure(code, options)
  }
}

/** An author without types may hand over anything. */
const noted = (note: unknown) =>
  typeof note === 'string' ? { note: note.slice(0, LIMITS.notesChars) } : {}

export const contextOf = (trial: Trial, once: Once, own: Own): SkillContext =>
  new Context(trial, once, own)

function logOf({ skill, call }: Trial, own: Own): SkillLog {
  const logger =
    (level: Level) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      own.log({ skill: skill.id, call, level, message, fields })
  return {
    debug: logger('debug'),
    info: logger('info'),
    warn: logger('warn'),
    error: logger('error'),
  }
}
