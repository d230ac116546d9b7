/**
 * The same ask twice is one ask (P-4), in this process and after its restart.
 *
 *   I1  What was answered under a key is answered again; other content under it is a conflict.
 *   I2  What is worth asking again (a retryable error, a cancelled call) is not remembered.
 *   I3  A skill that may run once only is claimed first. A claim that has no answer and is not
 *       under way is looked up by the skill's `reconcile`; nobody runs it before that says so.
 *   I4  Where answers cannot be kept nothing is begun. One that cannot be kept afterwards is given
 *       all the same: the work is done, and the claim still guards it.
 */
import type { Digest, IdempotencyKey, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Claim, claimUntil, judgeClaim } from '@chimera/domain/skill/claim'
import type { Repeat, Scope } from '@chimera/domain/work/idempotency'
import { scopeKey } from '@chimera/domain/work/idempotency'
import type { Answers } from './answers.ts'
import type { Clock } from './clock.ts'
import type { Reconciled, Skill } from './contract.ts'
import { type Fault, fault } from './failure.ts'
import { readPlain } from './plain.ts'

/** How a call came to its answer. */
export type Origin = 'run' | 'cache' | 'answers' | 'reconciled'

export type Ran = {
  readonly retries: number
  readonly from: Origin
  /** The answer is older than the skill's rule allows, and better than none. */
  readonly stale?: true
  /** The error that the answer stands in for. */
  readonly recovered?: string
} & (
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly fault: Fault }
)

export type RepeatAsk = {
  readonly skill: Skill
  readonly scope: Scope
  readonly content: Digest
  readonly run: () => Promise<Ran>
  /** Answers a fault when looking it up failed. */
  readonly reconcile?: () => Promise<Reconciled | Fault>
}

export type RepeatHands = {
  readonly answers: Answers
  readonly clock: Clock
  /** This runner's own name, new with each start. */
  readonly runner: string
  readonly onTrouble: (error: unknown) => void
}

export type Repeats = { readonly once: (ask: RepeatAsk) => Promise<Ran> }

export function createRepeats({ answers, clock, runner, onTrouble }: RepeatHands): Repeats {
  /** By scope. The same content joins a flight; it comes here when everybody left that one. */
  const underWay = new Map<string, { readonly content: Digest; readonly ended: Promise<unknown> }>()
  const asker = { runner, alone: answers.alone === true }

  async function decided(ask: RepeatAsk): Promise<Ran> {
    const found = await answers.find(ask.scope, ask.content)
    if (found.kind !== 'new') return repeated(found)
    return ask.skill.idempotency.once ? claimed(ask, true) : remembered(ask, await ask.run())
  }

  async function claimed(ask: RepeatAsk, mayLookUp: boolean): Promise<Ran> {
    const scope = claimOf(ask.scope)
    const claim: Claim = {
      by: runner,
      until: claimUntil(clock.now(), longestMs(ask.skill)),
    }
    const kept = await answers.once({
      scope,
      content: ask.content,
      work: async () => ({ answer: claim }),
    })
    if (kept.kind === 'conflict') return repeated(kept)
    if (kept.kind === 'same') return mayLookUp ? lookedUp(ask, kept.answer) : unknown()

    const ran = await ask.run()
    if (!ran.ok && !ran.fault.certain) {
      // The deed may be done: the claim stays, and stands for what nobody knows.
      return unknown(ran)
    }
    if (!isKept(ask.skill, ran)) await answers.forgetAt(scope, RELEASED).catch(onTrouble)
    return remembered(ask, ran)
  }

  async function lookedUp(ask: RepeatAsk, answer: unknown): Promise<Ran> {
    // Between our look for an answer and our claim the other one may have come to its end.
    const found = await answers.find(ask.scope, ask.content)
    if (found.kind !== 'new') return repeated(found)
    const claim = readClaim(answer)
    if (judgeClaim(claim, asker, clock.now()) === 'under_way') {
      const retryAfterMs = Math.min(claim.until - clock.now(), LIMITS.skillMs)
      return failed(fault('TOO_EARLY', 'under_way', { retryAfterMs }))
    }
    const known = ask.reconcile === undefined ? undefined : await ask.reconcile()
    if (known === undefined) return unknown()
    if (!('is' in known)) return failed(known)
    if (known.is === 'unknown') return unknown()
    if (known.is === 'done') {
      return remembered(ask, { ok: true, output: known.output, retries: 0, from: 'reconciled' })
    }
    await answers.forgetAt(claimOf(ask.scope), RELEASED)
    return claimed(ask, false)
  }

  async function remembered(ask: RepeatAsk, ran: Ran): Promise<Ran> {
    if (!isKept(ask.skill, ran)) return ran
    const { keepMs } = ask.skill.idempotency
    const until = keepMs === undefined ? {} : { forgetAt: clock.now() + keepMs }
    try {
      const work = async () => ({ answer: writeRan(ran), ...until })
      const kept = await answers.once({ scope: ask.scope, content: ask.content, work })
      if (ask.skill.idempotency.once && until.forgetAt !== undefined) {
        await answers.forgetAt(claimOf(ask.scope), until.forgetAt)
      }
      // Another process was quicker: its answer is the answer.
      return kept.kind === 'new' ? ran : repeated(kept)
    } catch (error) {
      onTrouble(error)
      return ran
    }
  }

  /** A keeper that does not answer does so before anything is run: afterwards it is passed over. */
  async function guarded(ask: RepeatAsk): Promise<Ran> {
    try {
      return await decided(ask)
    } catch (error) {
      onTrouble(error)
      return failed(fault('UNAVAILABLE', 'answers_down'))
    }
  }

  return {
    async once(ask) {
      const key = scopeKey(ask.scope)
      for (let before = underWay.get(key); before; before = underWay.get(key)) {
        if (before.content !== ask.content) return conflict()
        await before.ended
      }
      const ended = guarded(ask)
      underWay.set(key, { content: ask.content, ended })
      try {
        return await ended
      } finally {
        underWay.delete(key)
      }
    },
  }
}

/** Over by every clock, also by one that is behind ours. */
const RELEASED: Instant = 0

const failed = (why: Fault): Ran => ({ ok: false, fault: why, retries: 0, from: 'run' })
const conflict = (): Ran => failed(fault('CONFLICT', 'key_conflict'))

function unknown(ran?: Ran & { readonly ok: false }): Ran {
  const detail = ran?.fault.detail ?? 'begun earlier'
  const lost = fault('OUTCOME_UNKNOWN', 'outcome_unknown', { certain: false, detail })
  return { ok: false, fault: lost, retries: ran?.retries ?? 0, from: 'run' }
}

const claimOf = (scope: Scope): Scope => ({
  ...scope,
  key: `begun ${scope.key}` as IdempotencyKey,
})

/** All attempts of one call, with their waits. */
function longestMs({ timeoutMs }: Skill): number {
  const attempts = LIMITS.skillRetries + 1
  return attempts * timeoutMs + LIMITS.skillRetries * LIMITS.skillWaitMs
}

function isKept({ errors }: Skill, ran: Ran): boolean {
  if (ran.stale) return false
  if (ran.ok) return ran.recovered === undefined || !errors.get(ran.recovered)?.retryable
  const { code, why } = ran.fault
  return why !== 'cancelled' && errors.get(code)?.retryable === false
}

function readClaim(answer: unknown): Claim {
  const { by, until }: Partial<Record<keyof Claim, unknown>> = Object(answer)
  return { by: String(by), until: Number(until) }
}

type Kept = {
  readonly output?: unknown
  readonly recovered?: string
  readonly fault?: Omit<Fault, 'detail'>
}

function writeRan(ran: Ran): Kept {
  if (ran.ok) {
    return { output: ran.output, ...(ran.recovered !== undefined && { recovered: ran.recovered }) }
  }
  const { detail: _, ...shown } = ran.fault
  return { fault: shown }
}

function repeated(found: Exclude<Repeat<unknown>, { kind: 'new' }>): Ran {
  if (found.kind === 'conflict') return conflict()
  const kept: Kept = Object(found.answer)
  const from = 'answers'
  if (kept.fault !== undefined) {
    return { ok: false, fault: { ...kept.fault, detail: 'answered before' }, retries: 0, from }
  }
  const recovered = kept.recovered === undefined ? {} : { recovered: kept.recovered }
  // All who repeat it share it, as they share what a run gives.
  const plain = readPlain(kept.output, { freeze: true })
  return { ok: true, output: plain.ok ? plain.value : null, retries: 0, from, ...recovered }
}
