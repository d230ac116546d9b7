/**
 * When to speak: one machine for the three voices in which an instance repeats its state (OpenClaw
 * status, status feed, presence). They differ by numbers only, and the numbers are in `MANNERS`.
 *
 * A voice holds what is so (`current`) and what was said last. A change is said at once; changes
 * that follow are folded into one message, `foldMs` after the previous. If nothing changes, what is
 * so is said again after its beat. Every message, a retry too, restarts the beat.
 *
 *   K1  Each change, or a later state, is said within `foldMs`, unless K2 forbids it.
 *   K2  Never more than `mostPerMinute` messages in any sixty seconds, whatever asks for one.
 *   K3  Stamps rise strictly from message to message; a retry is the same message, stamp and all.
 *   K4  A silent rhythm says changes and nothing else.
 *   K5  A clock that is set back makes us speak early, never late.
 */
import { type Accepted, accept } from '../decision.ts'
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'

const MINUTE_MS = 60_000

/** How often a state is repeated. Which state has which rhythm is the dialect's to say. */
export type Rhythm = 'steady' | 'slow' | 'silent'

export type Manner = {
  readonly beatMs: Readonly<Record<Rhythm, number>>
  readonly foldMs: number
  readonly mostPerMinute: number
}

const NEVER = Infinity

export const MANNERS = {
  /** Steady: idle and busy. Slow: maintenance, whose announced end is renewed before it passes. */
  openclaw: {
    beatMs: { steady: LIMITS.openclawBeatMs, slow: LIMITS.maintenanceBeatMs, silent: NEVER },
    foldMs: LIMITS.coalesceMs,
    mostPerMinute: LIMITS.statusPerMinute,
  },
  /** Steady: available and busy. The feed has no slow rhythm: waiting and paused are silent. */
  feed: {
    beatMs: { steady: LIMITS.statusCadenceMs, slow: NEVER, silent: NEVER },
    foldMs: LIMITS.coalesceMs,
    mostPerMinute: LIMITS.statusPerMinute,
  },
  /** Slow: draining. Silent: offline, which is said once. */
  presence: {
    beatMs: { steady: LIMITS.presenceCadenceMs, slow: LIMITS.drainingCadenceMs, silent: NEVER },
    foldMs: LIMITS.presenceFoldMs,
    mostPerMinute: LIMITS.statusPerMinute,
  },
} as const satisfies Record<string, Manner>

/** `state` is compared, never read: a word, or a digest of all that a message would tell. */
export type Saying<State extends string> = { readonly state: State; readonly rhythm: Rhythm }

export type Spoken<State extends string> = {
  readonly type: 'spoken'
  readonly at: Instant
  /** What the message gives as its time: `at`, unless that would not rise. */
  readonly stamp: Instant
  readonly why: 'change' | 'heartbeat' | 'retry' | 'probe'
  readonly state: State
  /** What the listeners heard last, which after folding is not what was so last. */
  readonly previous: State | undefined
}

export type Voice<State extends string> = {
  readonly manner: Manner
  readonly current: Saying<State>
  /** When the oldest change that no message has told yet happened. */
  readonly unsaidSince: Instant | undefined
  readonly urgent: boolean
  readonly last: Spoken<State> | undefined
  /** When the newest messages went out, at most as many as a minute may hold. */
  readonly recent: readonly Instant[]
}

/** A voice begins with something to say. */
export function openVoice<State extends string>(
  manner: Manner,
  current: Saying<State>,
  at: Instant,
): Voice<State> {
  return { manner, current, unsaidSince: at, urgent: false, last: undefined, recent: [] }
}

/** An urgent change (draining, offline, planned maintenance) is not folded; K2 holds for it too. */
export function applyChange<State extends string>(
  voice: Voice<State>,
  next: Saying<State>,
  at: Instant,
  urgency: 'urgent' | 'usual' = 'usual',
): Voice<State> {
  const { current } = voice
  if (current.state === next.state && current.rhythm === next.rhythm) return voice
  // There and back again is still told: somebody may have acted on what was in between.
  return {
    ...voice,
    current: next,
    unsaidSince: voice.unsaidSince ?? at,
    urgent: voice.urgent || urgency === 'urgent',
  }
}

/** Whether all that is so was said: what must not begin before it is announced waits for this. */
export function hasSaidAll(voice: Voice<string>): boolean {
  return voice.unsaidSince === undefined
}

/** When to call `decideSpeak`; never, for a silent rhythm without a change. */
export function nextSpeakAt(voice: Voice<string>): Instant | undefined {
  const due = dueAt(voice)
  return due === NEVER ? undefined : Math.max(due, roomAt(voice))
}

export function decideSpeak<State extends string>(
  voice: Voice<State>,
  now: Instant,
): Accepted<Spoken<State>> {
  const due = dueAt(voice)
  const setBack = voice.last !== undefined && now < voice.last.at
  if (due === NEVER || (now < due && !setBack) || !hasRoom(voice, now)) return accept()
  return accept(say(voice, voice.unsaidSince === undefined ? 'heartbeat' : 'change', now))
}

/** When a message that failed may be followed by another, wanted `from` then on. */
export function nextRepeatAt(voice: Voice<string>, from: Instant): Instant {
  return Math.max(from, roomAt(voice))
}

/**
 * To speak out of turn, because the last message did not arrive. A retry is that same message, so
 * that a receiver who did get it can tell; what changed meanwhile makes a new one. A probe is
 * always new: what it repeats may be long past.
 */
export function decideRepeat<State extends string>(
  voice: Voice<State>,
  why: 'retry' | 'probe',
  now: Instant,
): Accepted<Spoken<State>> {
  if (!hasRoom(voice, now)) return accept()
  if (why === 'probe') return accept(say(voice, 'probe', now))
  if (voice.last === undefined || voice.unsaidSince !== undefined) {
    return accept(say(voice, 'change', now))
  }
  return accept({ ...voice.last, at: now, why })
}

export function applySpoken<State extends string>(
  voice: Voice<State>,
  fact: Spoken<State>,
): Voice<State> {
  const recent = [...voice.recent, fact.at].slice(-voice.manner.mostPerMinute)
  return { ...voice, unsaidSince: undefined, urgent: false, last: fact, recent }
}

function say<State extends string>(
  { current, last }: Voice<State>,
  why: Spoken<State>['why'],
  now: Instant,
): Spoken<State> {
  const stamp = last === undefined ? now : Math.max(now, last.stamp + 1)
  return { type: 'spoken', at: now, stamp, why, state: current.state, previous: last?.state }
}

function dueAt({ manner, current, unsaidSince, urgent, last }: Voice<string>): Instant {
  if (unsaidSince === undefined) {
    return last === undefined ? NEVER : last.at + manner.beatMs[current.rhythm]
  }
  if (last === undefined || urgent) return unsaidSince
  return Math.max(unsaidSince, last.at + manner.foldMs)
}

function roomAt({ manner, recent }: Voice<string>): Instant {
  const oldest = recent[recent.length - manner.mostPerMinute]
  return oldest === undefined ? -Infinity : oldest + MINUTE_MS
}

/** What lies ahead of the clock was said before it was set back, and is not counted (K5). */
function hasRoom({ manner, recent }: Voice<string>, now: Instant): boolean {
  const counted = recent.filter((at) => at <= now && now - at < MINUTE_MS)
  return counted.length < manner.mostPerMinute
}
