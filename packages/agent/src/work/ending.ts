/**
 * What the end of a run means for its work. The runner has classified it; the domain decides.
 *
 *   N1  An output that holds a secret goes nowhere: the hub would not take the result, and
 *       the work would never end there. The fault names the place, never the thing.
 */
import type { Fault } from '@chimera/domain/agent/condition'
import { clearWords } from '@chimera/domain/disclosure'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Ask, WorkCommand } from '@chimera/domain/work/work'
import { canonicalDigest } from '@chimera/identity/canonical'
import type { CallError, CallOutcome } from '@chimera/skill/calls'
import type { Particulars } from './moving.ts'

export type Ending = { readonly command: WorkCommand; readonly particulars: Particulars }

const STOPPED: Fault = {
  code: 'AGENT_STOPPED',
  message: 'The agent was stopped before the work was done',
  lasting: 'transient',
}
const NO_OBJECT: Fault = {
  code: 'INTERNAL_ERROR',
  message: 'The skill gave something that is no object, which a result cannot carry',
  lasting: 'permanent',
}

const secretAt = (path: string): Fault => ({
  code: 'OUTPUT_SECRET',
  message: `The output holds what looks like a secret, at ${path.slice(0, LIMITS.nameChars)}`,
  lasting: 'permanent',
})

export type Run = {
  readonly ask: Pick<Ask, 'deadline'>
  readonly endedAt: Instant
  /** The agent was told to stop while it ran. */
  readonly stopped: boolean
  /** What must not leave, by its place. */
  readonly findSecrets: (output: unknown) => readonly { readonly path: string }[]
}

export function endingOf(outcome: CallOutcome, run: Run): Ending {
  const { ask, endedAt, stopped } = run
  const { durationMs } = outcome
  if (outcome.ok) {
    const { output } = outcome
    if (!isRecord(output)) return failing(NO_OBJECT, endedAt, { durationMs })
    const [secret] = run.findSecrets(output)
    if (secret !== undefined) return failing(secretAt(secret.path), endedAt, { durationMs })
    const command = { type: 'finish', endedAt, output: canonicalDigest(output) } as const
    return { command, particulars: { output, durationMs } }
  }
  const { error } = outcome
  // P-3: what may have happened is not failed, and is not done again.
  if (error.why === 'outcome_unknown' || error.why === 'under_way') {
    return { command: { type: 'lose' }, particulars: {} }
  }
  const isLate = ask.deadline !== undefined && ask.deadline <= endedAt
  if (error.why === 'deadline' && isLate) {
    return { command: { type: 'pass_time' }, particulars: { durationMs } }
  }
  return failing(stopped ? STOPPED : faultOf(error), endedAt, { durationMs })
}

const failing = (fault: Fault, endedAt: Instant, particulars: Particulars): Ending => ({
  command: { type: 'fail', endedAt, fault },
  particulars,
})

/** What the runner says of a failure, as the network is told of it. */
const faultOf = ({ code, message, retryable }: CallError): Fault => ({
  code,
  message: clearWords(message),
  lasting: retryable ? 'transient' : 'permanent',
})

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
