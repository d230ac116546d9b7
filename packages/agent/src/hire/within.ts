/**
 * Hiring from inside a skill: a part of the work is done by somebody else, and paid out of what the
 * work itself is paid (P-9).
 *
 *   I1  What is hired is cut out of the hold of the work that runs, by the hub. However many run at
 *       once, together they never cost more than that hold has left; what one does not use goes
 *       back to it, and what is left is the agent's own.
 *   I2  Work that is not paid has nothing to hire from: only what is free can be hired for it.
 *   I3  Deadline, trace and signal are those of the run: a part ends with its whole.
 *   I4  A part has a name that a repeated run makes again, so that what was done before a crash is
 *       found and neither done nor paid twice. One that has ended badly gets a new name at the next
 *       try, since its end is kept; one that nobody took on keeps its name, or a run after a crash,
 *       which knows nothing of the tries before, would ask under another.
 */
import { readCents } from '@chimera/dialects/wire'
import type { CorrelationId, HoldId, WorkId } from '@chimera/domain/ids'
import type { Clock } from '@chimera/host/clock'
import { canonicalDigest } from '@chimera/identity/canonical'
import type { SubHiring } from '@chimera/skill/contract'
import { readDuration } from '@chimera/skill/duration'
import type { Network } from './connect.ts'
import { HireFailure, type HireFailureCode } from './failure.ts'

/** The work that runs, as far as hiring for it needs to know. */
export type Within = {
  readonly work: WorkId
  readonly correlation: CorrelationId
  /** What it is paid from. */
  readonly hold?: HoldId
  /** The work has ended, however: what it left unawaited ends too. */
  readonly over: AbortSignal
}

export type WithinHands = {
  /** Made when it is first needed: most skills hire nobody. */
  readonly network: () => Pick<Network, 'hire'>
  readonly clock: Pick<Clock, 'now'>
}

export function createWithin({ network, clock }: WithinHands): (work: Within) => SubHiring {
  return ({ work, correlation, hold, over }) => {
    /** How often the same was asked for in an attempt, and how often it came to nothing (I4). */
    const asked = new Map<string, number>()
    const failed = new Map<string, number>()

    return async ({ skill, input, terms, attempt, until, signal }) => {
      const { budget = 0, minReputation } = terms
      if (hold === undefined && readCents(budget) !== 0) {
        const detail =
          'budget: this work is not paid, so that only what is free can be hired for it'
        throw new HireFailure('terms_invalid', { detail })
      }
      const part = terms.key ?? canonicalDigest({ skill, input })
      const turn = countUp(asked, `${attempt} ${part}`)
      const name = terms.key === undefined ? `${part} ${turn}` : part
      const leftMs = until - clock.now()
      const wantedMs = terms.deadline === undefined ? leftMs : readDuration(terms.deadline)
      const once = async () => {
        const { output, cost } = await network().hire(skill, input, {
          budget,
          deadline: Math.min(wantedMs ?? Number.NaN, leftMs),
          key: `${work} ${name} ${failed.get(name) ?? 0}`,
          correlation,
          signal: AbortSignal.any([signal, over]),
          ...(hold !== undefined && { parent: hold }),
          ...(minReputation !== undefined && { minReputation }),
        })
        return { output, cost }
      }
      const hadFailed = failed.has(name)
      try {
        return await once()
      } catch (error) {
        if (!(error instanceof HireFailure)) throw error
        if (ENDED.includes(error.code)) countUp(failed, name)
        // Called off when the agent was stopped before: this run asks for it anew.
        if (error.code !== 'work_cancelled' || hadFailed || signal.aborted) throw error
        return await once()
      }
    }
  }
}

/** I4: what the agent that was asked remembers under the name. */
const ENDED: readonly HireFailureCode[] = [
  'work_failed',
  'work_cancelled',
  'deadline_passed',
  'given_up',
]

function countUp(counts: Map<string, number>, name: string): number {
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  return count
}
