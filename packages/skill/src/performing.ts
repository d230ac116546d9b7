/**
 * From a checked input to an answer: key, cache, flight, attempts, recovery.
 *
 *   P1  A cached answer is one that a run gave; what stands in for an error is not cached.
 *   P2  Callers share a run only where the skill says that the same input means the same answer, or
 *       where they ask under the same key.
 *   P3  What `recover` gives is held to the output's schema like any other answer; where it does
 *       not fit, the error stands.
 */
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import { type Scope, scopeKey } from '@chimera/domain/work/idempotency'
import { beginAttempt } from './attempt.ts'
import type { Cache } from './cache.ts'
import type { Checks } from './checks.ts'
import type { Reconciled, Skill, SkillContext, SubHiring } from './contract.ts'
import { digestOf } from './digest.ts'
import type { ErrorRow } from './error-rows.ts'
import { classify, type Fault, fault } from './failure.ts'
import type { Flights, Landed, Member } from './flights.ts'
import { copyOf, readPlain } from './plain.ts'
import type { Ran, Repeats } from './repeats.ts'
import {
  contextOf,
  FIRST,
  knownOf,
  type Trial,
  type TrialHands,
  type Tried,
  trySkill,
} from './trying.ts'

export type Ask = {
  readonly skill: Skill
  readonly checks: Checks
  readonly run: (input: unknown, context: SkillContext) => unknown
  /** As it came, checked; and with the schema's defaults. */
  readonly given: unknown
  readonly input: unknown
  readonly call: string
  readonly caller: string | undefined
  /** What the caller calls it, or else the skill; `scoped` keeps the two apart. */
  readonly key: { readonly shown: string; readonly scoped: string } | undefined
  /** How it hires others; of those who share a run, the first one's. */
  readonly hire: SubHiring | undefined
}

export type PerformHands = TrialHands & {
  readonly agent: () => string
  readonly cache: Cache
  readonly flights: Flights<Ran>
  readonly repeats: Repeats
  readonly onEscalation: (ask: Ask, why: Fault) => void
}

export function createPerforming(hands: PerformHands) {
  const { flights, cache, repeats, clock } = hands

  function perform(ask: Ask, member: Member): Promise<Landed<Ran>> {
    const { skill, key } = ask
    if (key === undefined) return shared(ask, member)
    const scope = scopeOf(hands.agent(), ask, key.scoped)
    const content = contentOf(ask)
    return flights.join(`key ${content} ${scopeKey(scope)}`, member, (flight) =>
      repeats.once({
        skill,
        scope,
        content,
        run: async () => {
          if (flight.leaving.hasLeft()) return leftAlone(true)
          try {
            const landed = await shared(ask, flight)
            return landed.is === 'landed' ? landed.answer : leftAlone(false)
          } catch (error) {
            // An author's rule for the cache: it is asked before anything is run.
            const why = { ...classify(error, knownOf(skill)), certain: true }
            return { ok: false, fault: why, retries: 0, from: 'run' }
          }
        },
        ...(skill.idempotency.reconcile && { reconcile: () => reconcile(ask, flight) }),
      }),
    )
  }

  function shared(ask: Ask, member: Member): Promise<Landed<Ran>> {
    // Alone, a run ends by itself when its one member leaves.
    if (ask.skill.shared) return together(ask, member)
    return run(ask, member).then((answer) =>
      member.leaving.hasLeft() ? { is: 'left' } : { is: 'landed', answer, joined: false },
    )
  }

  async function together(ask: Ask, member: Member): Promise<Landed<Ran>> {
    const { skill, input } = ask
    const same = skill.cache?.by === undefined ? input : plainOf(skill.cache.by(copyOf(input)))
    const key = `${skill.id} ${digestOf(same)}`
    const known = skill.cache === undefined ? undefined : cache.find(key, clock.now())
    if (known?.fresh) {
      const answer: Ran = { ok: true, output: known.value, retries: 0, from: 'cache' }
      return { is: 'landed', answer, joined: false }
    }
    return flights.join(key, member, (flight) => run(ask, flight, key))
  }

  async function run(ask: Ask, flight: Member, cacheKey?: string): Promise<Ran> {
    const { skill } = ask
    const tried = await trySkill(trialOf(ask, flight), hands)
    const { retries } = tried
    if (!tried.ok) return recover(ask, tried, cacheKey)
    if (cacheKey !== undefined && skill.cache !== undefined) {
      const goodUntil = clock.now() + skill.cache.ttlMs
      cache.put(cacheKey, { value: tried.output, bytes: tried.bytes, goodUntil })
    }
    return { ok: true, output: tried.output, retries, from: 'run' }
  }

  function recover(ask: Ask, tried: Tried & { ok: false }, cacheKey?: string): Ran {
    const { retries, fault: why } = tried
    const row = ask.skill.errors.get(why.code)
    const plainly: Ran = { ok: false, fault: why, retries, from: 'run' }
    if (row?.escalate) hands.onEscalation(ask, why)
    if (row === undefined || row.ending === 'refuse' || why.why === 'cancelled') return plainly
    // An answer would hide that nobody knows whether it was done.
    if (ask.skill.idempotency.once && !why.certain) return plainly
    const old = cacheKey === undefined ? undefined : cache.find(cacheKey, clock.now())
    const stale = row.ending === 'cached' && old !== undefined
    const output = stale && !ask.skill.recover ? old.value : madeUp(ask, tried, row, old?.value)
    if (output === undefined) return plainly
    const how = { retries, from: 'run', recovered: why.code } as const
    return { ok: true, output, ...how, ...(stale && { stale }) }
  }

  /** Never longer than one attempt; when it does not answer, nobody knows. */
  async function reconcile(ask: Ask, flight: Member): Promise<Reconciled> {
    const { skill } = ask
    const look = (signal: () => AbortSignal) => {
      const until = clock.now() + skill.timeoutMs
      const { onProgress: progress } = flight
      const own = { signal, until, now: clock.now, log: hands.log, progress, keep: () => {} }
      const context = contextOf(trialOf(ask, flight), FIRST, own)
      return skill.idempotency.reconcile?.(copyOf(ask.input), context)
    }
    const { ended } = beginAttempt(look, {
      clock,
      timeoutMs: skill.timeoutMs,
      leaving: flight.leaving,
      onStray: (stray) => hands.strays.add(skill.id, stray ? 1 : -1),
    })
    const attempted = await ended
    const read = attempted.is === 'done' ? readPlain(attempted.value, { freeze: true }) : undefined
    if (!read?.ok) return { is: 'unknown' }
    const { is, output }: { is?: unknown; output?: unknown } = Object(read.value)
    if (is === 'not_done') return { is }
    return is === 'done' && fits(ask, output) ? { is, output } : { is: 'unknown' }
  }

  return perform
}

const leftAlone = (certain: boolean): Ran => ({
  ok: false,
  fault: fault('CANCELLED', 'cancelled', { certain }),
  retries: 0,
  from: 'run',
})

function trialOf(ask: Ask, flight: Member): Trial {
  const { skill, checks, run, input, call, caller, key, hire } = ask
  return { skill, checks, run, input, call, caller, key: key?.shown, hire, flight }
}

function madeUp(ask: Ask, tried: Tried & { ok: false }, row: ErrorRow, cached: unknown): unknown {
  const { code, issues = [] } = tried.fault
  const ended = {
    code,
    ending: row.ending,
    issues,
    ...(tried.partial !== undefined && { partial: tried.partial }),
    ...(cached !== undefined && { cached }),
  }
  try {
    const made = ask.skill.recover?.(ended, copyOf(ask.input))
    if (made === undefined) return undefined
    const plain = readPlain(made, { freeze: true })
    return plain.ok && fits(ask, plain.value) ? plain.value : undefined
  } catch {
    return undefined
  }
}

function fits({ checks }: Ask, output: unknown): boolean {
  try {
    return checks.output(output).length === 0
  } catch {
    return false
  }
}

function scopeOf(agent: string, { skill, caller }: Ask, key: string): Scope {
  const everybody = skill.idempotency.across === 'everybody'
  // A caller has a name of at least one character, so nobody's own scope is everybody's.
  const requester = everybody ? '' : (caller ?? agent)
  return { requester, responder: agent, key: key as IdempotencyKey }
}

/** A key names one ask: another skill or another input under it is another ask. */
function contentOf({ skill, given, input }: Ask): Digest {
  const { same } = skill.idempotency
  const compared = same === undefined ? given : plainOf(same(copyOf(input)))
  return digestOf([skill.name, skill.version.major, compared])
}

/** What an author's rule makes of an input is compared as JSON writes it. */
function plainOf(value: unknown): unknown {
  const plain = readPlain(value)
  if (!plain.ok) throw new TypeError(`a rule of the skill gave ${plain.issue.got}`)
  return plain.value
}
