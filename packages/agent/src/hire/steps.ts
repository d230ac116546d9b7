/**
 * What becomes of a hire, step by step, for whoever shows it: a terminal, a page, a log.
 *
 *   S1  Steps tell and decide nothing: a listener that throws, or is slow, changes nothing.
 *   S2  They come in the order in which things happened, each with the hire's task and its time.
 *       Progress comes from the agent's live events; what got lost on the way is not told later.
 *   S3  `settled` is the last step of a hire that is done. A hire that fails throws instead.
 */
import type { AgentId, InstanceId, Instant, ReservationId, TaskId } from '@chimera/domain/ids'
import type { End } from '@chimera/domain/work/result'
import type { Declined } from './failure.ts'

/** Whom a step is about. */
type About = { readonly agent: AgentId; readonly name: string }

/** One of those who were found, in the order in which they are asked. */
export type Ranked = About & {
  /** In credits. */
  readonly price: number
  /** 0–100; absent where a directory of one's own found it. */
  readonly reputation?: number
  /** Why it is here and in this place (P-6). */
  readonly why: readonly string[]
}

export type HireMoment =
  | { readonly is: 'looking'; readonly skill: string }
  /** Those that are asked now; `more` may be found if they all refuse. */
  | { readonly is: 'found'; readonly candidates: readonly Ranked[]; readonly more: boolean }
  | ({ readonly is: 'reserving'; readonly instance: InstanceId } & About)
  | ({
      readonly is: 'reserved'
      readonly reservation: ReservationId
      /** Unless the work is asked for by then. */
      readonly lapsesAt: Instant
    } & About)
  /** In credits; they are put aside by now. */
  | ({ readonly is: 'asked'; readonly price: number } & About)
  | ({ readonly is: 'accepted' } & About)
  /** It waits for a slot, or for a person; a second answer follows. */
  | ({ readonly is: 'deferred'; readonly until: Instant } & About)
  /** From 0 to 1, with the skill's own words. */
  | ({ readonly is: 'progress'; readonly share: number; readonly note?: string } & About)
  /** Refused or silent, and out: the next one follows, if there is one. */
  | { readonly is: 'declined'; readonly declined: Declined }
  /** All are full for now; they are asked again then. */
  | { readonly is: 'waiting'; readonly until: Instant }
  /** An answer was lost: whether it is at work is found out before anybody else is asked (P-3). */
  | ({ readonly is: 'unknown' } & About)
  /** An earlier run under the same key had begun: this one goes on from there. */
  | ({ readonly is: 'resumed' } & About)
  /** The version that is asked for is gone at that time (SK-5). */
  | ({ readonly is: 'deprecated'; readonly skill: string; readonly removedAt: Instant } & About)
  | ({ readonly is: 'result'; readonly how: End } & About)
  /** In credits, with all that the agent hired for it. */
  | ({ readonly is: 'settled'; readonly cost: number } & About)

export type HireStep = HireMoment & { readonly task: TaskId; readonly at: Instant }

export type Tell = (moment: HireMoment) => void

/** S1. */
export function createTeller(
  listener: ((step: HireStep) => void) | undefined,
  { task, now }: { readonly task: TaskId; readonly now: () => Instant },
): Tell | undefined {
  if (listener === undefined) return undefined
  let answered = ''
  const notices = new Set<string>()

  /** An answer is heard on several ways, and told once. */
  function isRepeat(moment: HireMoment): boolean {
    if (moment.is === 'deprecated') {
      const seen = notices.size
      return notices.add(moment.agent).size === seen
    }
    if (!['accepted', 'deferred', 'unknown'].includes(moment.is)) return false
    const before = answered
    answered = JSON.stringify(moment)
    return answered === before
  }

  return (moment) => {
    if (isRepeat(moment)) return
    try {
      listener({ ...moment, task, at: now() })
    } catch {
      // Whoever listens has its own log.
    }
  }
}
