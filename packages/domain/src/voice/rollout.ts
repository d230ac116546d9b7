/**
 * Who publishes to the status feed at all: the toggle, the canary, and what switches it off.
 *
 * Off, then a canary share, then everybody. An operator moves it on; trouble moves it off, and then
 * it begins with the canary again. A pause by the operator resumes where it was, except that a
 * canary's time starts over: what was not running has not been tried.
 *
 *   W1  Everybody publishes only after a canary of `canaryMs` without a break.
 *   W2  The canary is a fixed subset: the same agents every time; a larger share only adds some.
 *   W3  A schema rejection, repeated authentication failures or too many failures switch it off.
 */
import { type Accepted, accept, type Decision, refuse } from '../decision.ts'
import type { Digest, Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import type { FailureReason } from './publishing.ts'

/** The window is kept by the minute: exact enough for ten of them, and bounded. */
const BUCKET_MS = 60_000

type Bucket = {
  readonly from: Instant
  readonly ended: number
  readonly failed: number
  readonly unauthorised: number
  readonly schema: number
}

export type Rollout = {
  readonly stage: 'off' | 'canary' | 'everybody'
  /** Where switching on leads to. */
  readonly resumes: 'canary' | 'everybody'
  /** When the present stage began. */
  readonly since: Instant
  readonly buckets: readonly Bucket[]
}

export type RolloutSettings = {
  readonly failureShare: number
  /** Of authentication: how many in the window are repeated ones. */
  readonly failures: number
}

const DEFAULTS: RolloutSettings = {
  failureShare: LIMITS.rolloutFailureShare,
  failures: LIMITS.alertFailures,
}

export type RolloutCommand = 'switch_on' | 'switch_off' | 'open_to_everybody'
export type SwitchOffCause = 'operator' | 'schema' | 'unauthorised' | 'failures'

export type RolloutMoved = {
  readonly type: 'rollout_moved'
  readonly stage: 'canary' | 'everybody'
  readonly at: Instant
}
export type RolloutSwitchedOff = {
  readonly type: 'rollout_switched_off'
  /** Any cause but the operator is also an alert. */
  readonly cause: SwitchOffCause
  readonly at: Instant
}
export type RolloutFact = RolloutMoved | RolloutSwitchedOff

/** How a message ended, once its retries are over: a retry that got through is no failure. */
export type PublishEnd = { readonly failure: FailureReason | undefined; readonly at: Instant }

export function openRollout(at: Instant): Rollout {
  return { stage: 'off', resumes: 'canary', since: at, buckets: [] }
}

export function decideRollout(
  rollout: Rollout,
  command: RolloutCommand,
  now: Instant,
): Decision<RolloutFact, 'transition_illegal'> {
  const { stage, resumes, since } = rollout
  switch (command) {
    case 'switch_on':
      return stage === 'off' ? accept({ type: 'rollout_moved', stage: resumes, at: now }) : accept()
    case 'switch_off':
      if (stage === 'off') return accept()
      return accept({ type: 'rollout_switched_off', cause: 'operator', at: now })
    case 'open_to_everybody': {
      if (stage === 'everybody') return accept()
      const openAt = since + LIMITS.canaryMs
      if (stage === 'off') return refuse('transition_illegal')
      if (now < openAt) return refuse('transition_illegal', { figures: { openAt } })
      return accept({ type: 'rollout_moved', stage: 'everybody', at: now })
    }
  }
}

export function applyRollout(rollout: Rollout, fact: RolloutFact): Rollout {
  if (fact.type === 'rollout_moved') {
    return { stage: fact.stage, resumes: fact.stage, since: fact.at, buckets: [] }
  }
  const resumes = fact.cause === 'operator' ? rollout.resumes : 'canary'
  return { stage: 'off', resumes, since: fact.at, buckets: [] }
}

/** What still ends after a switch-off is forgotten when publishing is switched on again. */
export function applyPublishEnd(rollout: Rollout, { failure, at }: PublishEnd): Rollout {
  const from = Math.floor(at / BUCKET_MS) * BUCKET_MS
  const kept = rollout.buckets.filter((each) => inWindow(each, at))
  const before = kept.find((each) => each.from === from) ?? empty(from)
  const after: Bucket = {
    from,
    ended: before.ended + 1,
    failed: before.failed + (failure === undefined ? 0 : 1),
    unauthorised: before.unauthorised + (failure === 'unauthorised' ? 1 : 0),
    schema: before.schema + (failure === 'schema' ? 1 : 0),
  }
  return { ...rollout, buckets: [...kept.filter((each) => each.from !== from), after] }
}

/** Asked after each end. Fewer than `failures` of them are chance, whatever share they make. */
export function decideSwitchOff(
  rollout: Rollout,
  now: Instant,
  settings: RolloutSettings = DEFAULTS,
): Accepted<RolloutSwitchedOff> {
  if (rollout.stage === 'off') return accept()
  const { ended, failed, unauthorised, schema } = rollout.buckets
    .filter((each) => inWindow(each, now))
    .reduce(add, empty(now))
  const off = (cause: SwitchOffCause) =>
    accept<RolloutSwitchedOff>({ type: 'rollout_switched_off', cause, at: now })
  if (schema > 0) return off('schema')
  if (unauthorised >= settings.failures) return off('unauthorised')
  if (failed >= settings.failures && failed > ended * settings.failureShare) return off('failures')
  return accept()
}

/** `digest` is that of the agent's name, so that the subset is the same on every hub. */
export function mayPublish(
  { stage }: Rollout,
  digest: Digest,
  share: number = LIMITS.canaryShare,
): boolean {
  if (stage === 'off') return false
  return stage === 'everybody' || placeOf(digest) < share
}

/** From 0 up to, but not including, 1; thirty-two bits spread any fleet evenly enough. */
function placeOf(digest: Digest): number {
  return Number.parseInt(digest.slice(0, 8), 16) / 2 ** 32
}

function inWindow(bucket: Bucket, now: Instant): boolean {
  return bucket.from > now - LIMITS.rolloutWindowMs
}

function empty(from: Instant): Bucket {
  return { from, ended: 0, failed: 0, unauthorised: 0, schema: 0 }
}

function add(sum: Bucket, each: Bucket): Bucket {
  return {
    from: sum.from,
    ended: sum.ended + each.ended,
    failed: sum.failed + each.failed,
    unauthorised: sum.unauthorised + each.unauthorised,
    schema: sum.schema + each.schema,
  }
}
