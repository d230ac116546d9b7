/**
 * The result of work, as the agent that did it says, and what it does to the money.
 *
 *   E1  A result is named by its agent and the name that the agent gave to the work. The same one
 *       again changes nothing; another one under that name is refused (K1).
 *   E2  The fact holds the digest of the output and nothing of its content, which can be deleted.
 *   E3  The agent's own word settles its hold: done pays the price that it was accepted at, failed
 *       and cancelled give the credits back. What the books answer is final, but for "not yet".
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type {
  AgentId,
  CorrelationId,
  Digest,
  HoldId,
  Instant,
  OwnerId,
  TaskId,
  TransferId,
  WorkId,
} from '../ids.ts'
import type { Hold } from '../money/ledger.ts'
import type { MoneyCommand } from '../money/money.ts'
import type { Refusal } from '../refusals.ts'
import type { WorkReported } from './work.ts'

export type End = 'done' | 'failed' | 'cancelled'

/** Work that has ended, according to whoever did it. */
export type EndReported = WorkReported & {
  readonly how: End
  readonly work: WorkId
  readonly correlation: CorrelationId
}

export type ResultRecorded = {
  readonly type: 'result_recorded'
  readonly at: Instant
  readonly agent: AgentId
  readonly work: WorkId
  readonly task: TaskId
  /** Whoever is known to have asked for it. */
  readonly requester?: OwnerId
  readonly how: End
  readonly endedAt: Instant
  /** Of work that is done. */
  readonly output?: Digest
}

/** A result as it stays, whatever becomes of its content. */
export type Result = Omit<ResultRecorded, 'type' | 'at'> & {
  readonly recordedAt: Instant
  /** The agent's owner. */
  readonly owner: OwnerId
  /** Of everything in the report that must be the same when it comes again. */
  readonly content: Digest
  readonly correlation: CorrelationId
  /** Names the payment, should there be one. */
  readonly transfer: TransferId
  readonly hold?: HoldId
}

export type ResultKnown = Omit<Result, 'recordedAt' | 'endedAt'> & { readonly endedAt?: Instant }

export function decideResult(
  earlier: Pick<Result, 'content'> | undefined,
  known: ResultKnown,
  now: Instant,
): Decision<ResultRecorded, 'work_ended'> {
  if (earlier !== undefined) {
    return earlier.content === known.content ? accept() : refuse('work_ended')
  }
  const { agent, work, task, requester, how, output } = known
  return accept({
    type: 'result_recorded',
    at: now,
    agent,
    work,
    task,
    how,
    // Nobody has ended work in the future.
    endedAt: Math.min(known.endedAt ?? now, now),
    ...(requester === undefined ? {} : { requester }),
    ...(output === undefined ? {} : { output }),
  })
}

/** E3. A hold that nobody has accepted yet is asked for all the same: the books say "not yet". */
export function settlementOf(
  { how, agent, transfer }: Pick<Result, 'how' | 'agent' | 'transfer'>,
  { id: hold, priceCents, amountCents }: Pick<Hold, 'id' | 'priceCents' | 'amountCents'>,
): MoneyCommand {
  return how === 'done'
    ? { type: 'capture_hold', hold, transfer, agent, amountCents: priceCents ?? amountCents }
    : { type: 'release_hold', hold, because: how, agent }
}

/** Whether asking again later may have another answer. */
export function isUnsettled(refusal: Refusal): boolean {
  return refusal === 'work_not_begun' || refusal === 'service_unavailable'
}

/**
 * The hold that a result is about: one of this agent's, for the request or for the work by the
 * agent's own name. Two payers may use the same name (they never meet), so one that is accepted
 * goes before one that is not, and of several that could be meant none is touched.
 */
export function holdMeant(
  holds: readonly Hold[],
  asked: { readonly agent: AgentId; readonly requester?: OwnerId },
): Hold | undefined {
  const own = holds.filter(
    ({ agent, payer }) =>
      agent === asked.agent && (asked.requester === undefined || payer === asked.requester),
  )
  for (const stage of ['confirmed', 'placed'] as const) {
    const standing = own.filter((each) => each.stage === stage)
    if (standing.length > 0) return standing.length === 1 ? standing[0] : undefined
  }
  const ended = new Set(own.map(({ payer }) => payer))
  return ended.size === 1
    ? own.reduce((one, other) => (later(other, one) ? other : one))
    : undefined
}

const later = (one: Hold, other: Hold): boolean => one.attempt > other.attempt
