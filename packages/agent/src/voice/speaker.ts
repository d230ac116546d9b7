/**
 * One voice at work: it asks the domain when to speak, sends, and tells the domain what came of it.
 * Registration, identity, capabilities, presence, status and feed are each one of these; they
 * differ by their manner, their course and what they send.
 *
 *   S1  One message is under way at a time; what changes meanwhile is said after it.
 *   S2  Time is the clock's alone: one timer, set for the next moment at which there is something
 *       to decide, and set anew after every change and every outcome.
 *   S3  A sender that throws counts as no answer. Nothing thrown here reaches the agent's work.
 *   S4  Closing waits for what is under way, then says what is so once more if that was not said
 *       or not taken; not later than its signal allows, and never more than the rate does.
 */
import type { Instant } from '@chimera/domain/ids'
import {
  applyChange,
  applySpoken,
  decideRepeat,
  hasSaidAll,
  type Manner,
  openVoice,
  type Saying,
  type Spoken,
  type Voice,
} from '@chimera/domain/voice/cadence'
import type { PublishOutcome } from '@chimera/domain/voice/publishing'
import type { Clock, Timer } from '@chimera/host/clock'
import type { Course } from './course.ts'

export type Send<State extends string> = (
  spoken: Spoken<State>,
  signal: AbortSignal,
) => Promise<PublishOutcome>

export type SpeakerOptions<State extends string> = {
  readonly clock: Clock
  readonly manner: Manner
  readonly course: Course
  readonly first: Saying<State>
  readonly send: Send<State>
  /** Whether it has a last word when it is closed (S4). Default: yes. */
  readonly lastWord?: boolean
  /** After each outcome has been taken in. */
  readonly ended?: (outcome: PublishOutcome) => void
}

export type Speaker<State extends string> = {
  /** Nothing is said before. */
  readonly open: () => void
  readonly change: (next: Saying<State>, urgency?: 'urgent' | 'usual') => void
  /** Says what is so, though it has not changed: whoever heard it may have forgotten it. */
  readonly again: () => void
  /** While it is silenced it says nothing; afterwards it says what is so then. */
  readonly silence: (silent: boolean) => void
  /** Resolves when all that is so was said and taken, or the signal is aborted: then false. */
  readonly settled: (signal: AbortSignal) => Promise<boolean>
  readonly close: (signal: AbortSignal) => Promise<void>
}

// A decision may disagree with its own time by a rounding: then it is asked a moment later.
const LEAST_WAIT_MS = 1

export function createSpeaker<State extends string>(
  options: SpeakerOptions<State>,
): Speaker<State> {
  const { clock, course } = options
  let voice: Voice<State> = openVoice(options.manner, options.first, clock.now())
  let is: 'waiting' | 'open' | 'silent' | 'closed' = 'waiting'
  let timer: Timer | undefined
  let due: Instant | undefined
  let underWay: Promise<void> | undefined
  const closing = new AbortController()
  const waiters = new Set<() => void>()

  const isSettled = (): boolean =>
    is === 'silent' ||
    is === 'closed' ||
    (is === 'open' && underWay === undefined && hasSaidAll(voice) && !course.isFailing())

  function wakeWaiters(): void {
    if (isSettled()) for (const wake of waiters) wake()
  }

  function schedule(leastMs = 0): void {
    const silent = is !== 'open' || underWay !== undefined
    const at = silent ? undefined : course.nextAt(voice)
    // Changes come by the thousand while work comes and goes, and hardly ever move the time.
    if (timer !== undefined && at === due) return
    timer?.cancel()
    due = at
    timer = at === undefined ? undefined : clock.after(Math.max(leastMs, at - clock.now()), look)
  }

  function look(): void {
    timer = undefined
    if (is !== 'open' || underWay !== undefined) return
    const [spoken] = course.decide(voice, clock.now()).facts
    if (spoken === undefined) schedule(LEAST_WAIT_MS)
    else void say(spoken)
  }

  function say(spoken: Spoken<State>): Promise<void> {
    voice = applySpoken(voice, spoken)
    underWay = deliver(spoken)
    return underWay
  }

  async function deliver(spoken: Spoken<State>): Promise<void> {
    const outcome = await send(spoken)
    underWay = undefined
    course.end(outcome, clock.now())
    options.ended?.(outcome)
    schedule()
    wakeWaiters()
  }

  async function send(spoken: Spoken<State>): Promise<PublishOutcome> {
    try {
      return await options.send(spoken, closing.signal)
    } catch {
      return { type: 'unanswered' }
    }
  }

  return {
    open: () => {
      if (is !== 'waiting') return
      is = 'open'
      schedule()
    },
    change: (next, urgency) => {
      if (is === 'closed') return
      const changed = applyChange(voice, next, clock.now(), urgency)
      if (changed === voice) return
      voice = changed
      schedule()
    },
    again: () => {
      if (is === 'closed') return
      voice = unsaid(voice, clock.now())
      schedule()
    },
    silence: (silent) => {
      if (is === 'closed' || silent === (is === 'silent')) return
      is = silent ? 'silent' : 'open'
      if (!silent) voice = unsaid(voice, clock.now())
      schedule()
      wakeWaiters()
    },
    settled: (signal) =>
      new Promise((resolve) => {
        const end = (): void => {
          waiters.delete(end)
          signal.removeEventListener('abort', end)
          resolve(isSettled())
        }
        if (isSettled() || signal.aborted) return end()
        waiters.add(end)
        signal.addEventListener('abort', end, { once: true })
      }),
    close: async (signal) => {
      if (is === 'closed') return
      const speaks = is === 'open' && options.lastWord !== false
      is = 'closed'
      schedule()
      wakeWaiters()
      const giveUp = (): void => closing.abort(signal.reason)
      if (signal.aborted) giveUp()
      signal.addEventListener('abort', giveUp, { once: true })
      await underWay
      const owed = !hasSaidAll(voice) || course.isFailing()
      const [last] = decideRepeat(voice, 'probe', clock.now()).facts
      if (speaks && owed && last !== undefined && !closing.signal.aborted) await say(last)
      signal.removeEventListener('abort', giveUp)
    },
  }
}

const unsaid = <State extends string>(voice: Voice<State>, now: Instant): Voice<State> => ({
  ...voice,
  unsaidSince: voice.unsaidSince ?? now,
})
