/**
 * What a hirer asks for, read once: spans of time, credits, and the name under which the work goes.
 *
 *   T1  One task has one name. A key of the hirer's own always makes the same name, so that a hire
 *       that is repeated after a crash finds what the first one began.
 *   T2  Money is read to the hundredth, and a third decimal is refused (CH-7).
 */
import { createHash } from 'node:crypto'
import { readCents } from '@chimera/dialects/wire'
import type { CorrelationId, HoldId, Instant, TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Chance } from '@chimera/host/chance'
import { type Duration, readDuration } from '@chimera/skill/duration'
import type { Directory } from './directory.ts'
import { HireFailure } from './failure.ts'
import type { HireStep } from './steps.ts'

export type HireTerms = {
  /** The most that it may cost, in credits, over all attempts. Default: 0, only what is free. */
  readonly budget?: number
  /** From now, over all attempts: `'30s'`, or milliseconds. Default: one minute. */
  readonly deadline?: Duration
  /**
   * The hirer's own name for this hire. The same key finds the same work, also from another process
   * and after a crash. Default: a new one each time.
   */
  readonly key?: string
  /** A hold that the hirer is paid from: what is hired is cut out of it (P-9). */
  readonly parent?: string
  /** 1 is the highest, 5 if not given. */
  readonly priority?: number
  /** 0–100. */
  readonly minReputation?: number
  /**
   * Whether a slot is taken before the work is asked for, where hirer and agent are such that can
   * (AV-8). Default: true.
   */
  readonly reserve?: boolean
  /** Chooses from a directory of one's own instead of the hub's (AV-7). */
  readonly directory?: Pick<Directory, 'find'>
  /** The trace that this is part of, a uuid: in every message that it causes. */
  readonly correlation?: string
  /** Hears how it goes, step by step (steps.ts). */
  readonly onProgress?: (step: HireStep) => void
  /** Gives the hire up: what was asked for is called off, and what is held given back. */
  readonly signal?: AbortSignal
}

export type Terms = {
  readonly task: TaskId
  /** The hirer named it, so somebody may have begun it before. */
  readonly named: boolean
  readonly budgetCents: number
  readonly deadline: Instant
  readonly parent?: HoldId
  readonly priority?: number
  readonly minScoreMicro?: number
  readonly reserves: boolean
  readonly directory?: Pick<Directory, 'find'>
  readonly correlation: CorrelationId
  readonly signal?: AbortSignal
}

const DEADLINE: Duration = '1m'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function readTerms(
  terms: HireTerms,
  { owner, chance, now }: { owner: string | undefined; chance: Chance; now: Instant },
): Terms {
  const { budget = 0, deadline = DEADLINE, key, parent, priority, minReputation, signal } = terms
  const { reserve = true, directory, correlation } = terms
  const budgetCents = readCents(budget)
  if (budgetCents === undefined || budgetCents < 0) {
    throw invalid('budget: credits with at most two decimals, 0 or more')
  }
  const spanMs = readDuration(deadline)
  if (spanMs === undefined || spanMs <= 0 || spanMs > LIMITS.workMs) {
    throw invalid("deadline: a span of time such as '30s', up to a month")
  }
  if (key !== undefined && (key === '' || key.length > LIMITS.keyChars)) {
    throw invalid(`key: 1 to ${LIMITS.keyChars} characters`)
  }
  if (parent !== undefined && !UUID.test(parent)) throw invalid('parent: the id of a hold')
  if (priority !== undefined && !(Number.isInteger(priority) && priority > 0 && priority <= 10)) {
    throw invalid('priority: a whole number from 1 to 10')
  }
  if (minReputation !== undefined && !(minReputation >= 0 && minReputation <= 100)) {
    throw invalid('minReputation: a number from 0 to 100')
  }
  if (correlation !== undefined && !UUID.test(correlation)) throw invalid('correlation: a uuid')
  const task = key === undefined ? (chance.uuid() as TaskId) : taskOf(owner, key)
  return {
    task,
    correlation: (correlation?.toLowerCase() ?? task) as CorrelationId,
    reserves: reserve,
    ...(directory && { directory }),
    named: key !== undefined,
    budgetCents,
    deadline: now + spanMs,
    ...(parent !== undefined && { parent: parent.toLowerCase() as HoldId }),
    ...(priority !== undefined && { priority }),
    ...(minReputation !== undefined && { minScoreMicro: Math.round(minReputation * 1_000_000) }),
    ...(signal && { signal }),
  }
}

/** T1: a uuid of version 8, which is for names made like this. Two hirers never share one. */
function taskOf(owner: string | undefined, key: string): TaskId {
  const hex = createHash('sha256')
    .update(JSON.stringify([owner ?? '', key]))
    .digest('hex')
  const [a, b, c] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16)]
  return `${a}-${b}-8${c}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}` as TaskId
}

const invalid = (detail: string): HireFailure => new HireFailure('terms_invalid', { detail })
