/**
 * Outcomes as they follow from the trail: what scores are computed from, by the hub as it goes and
 * by anybody else from an export (P-2, P-10).
 *
 *   T1  An outcome is read from facts alone: a captured hold is work done, a hold that was released
 *       as failed or overdue is work failed. Every other end of a hold says nothing about anybody.
 *   T2  A payment without a hold does not say which agent earned it. The payer's report does, once,
 *       and only for an agent of the owner that was paid.
 *   T3  Work counts once, however it is reported (CH-14).
 */
import type { AgentFact } from '../agent/agent.ts'
import { accept, type Decision, refuse } from '../decision.ts'
import type { AgentId, HoldId, Instant, OwnerId, TaskId, WorkId } from '../ids.ts'
import type { HoldTerms, MoneyFact, Payment } from '../money/ledger.ts'
import type { Ending, Outcome } from './outcome.ts'
import type { TrustRules, TrustRulesSet } from './pair-limit.ts'

export type OutcomeReported = {
  readonly type: 'outcome_reported'
  readonly agent: AgentId
  readonly hirer: OwnerId
  readonly task: TaskId
  readonly at: Instant
}

export type TrustFact = MoneyFact | AgentFact | OutcomeReported | TrustRulesSet

type HeldWork = {
  readonly terms: HoldTerms
  readonly heldAt: Instant
  readonly takenAt?: Instant
  readonly deadline?: Instant
}

/** What must be remembered of earlier facts. Written in place by `readOutcome`. */
export type TrailMemory = {
  readonly holds: Map<HoldId, HeldWork>
  readonly owners: Map<AgentId, OwnerId>
  /** Payments for a task without a hold, not yet reported. */
  readonly unclaimed: Map<TaskId, readonly Payment[]>
  /** Those that were set last; absent where nobody has set any. */
  rules?: TrustRules
}

export function openMemory(): TrailMemory {
  return { holds: new Map(), owners: new Map(), unclaimed: new Map() }
}

/**
 * The outcome that this fact completes, if it completes one. Facts come in the order of the trail.
 */
export function readOutcome(memory: TrailMemory, fact: TrustFact): Outcome | undefined {
  switch (fact.type) {
    case 'agent_registered':
      memory.owners.set(fact.id, fact.owner)
      return undefined
    case 'credits_held':
      memory.holds.set(fact.hold.id, { terms: fact.hold, heldAt: fact.at })
      return undefined
    case 'hold_confirmed': {
      const held = memory.holds.get(fact.hold)
      if (held === undefined) return undefined
      const { at: takenAt, deadline } = fact
      const taken = deadline === undefined ? { takenAt } : { takenAt, deadline }
      memory.holds.set(fact.hold, { ...held, ...taken })
      return undefined
    }
    case 'hold_captured':
      return ended(memory, fact.hold, { how: 'done' }, fact)
    case 'hold_released':
      if (fact.because === 'failed') {
        return ended(memory, fact.hold, { how: 'failed', cause: 'agent' }, fact)
      }
      if (fact.because === 'overdue') {
        return ended(memory, fact.hold, { how: 'failed', cause: 'overdue' }, fact)
      }
      memory.holds.delete(fact.hold)
      return undefined
    case 'hold_lapsed':
      memory.holds.delete(fact.hold)
      return undefined
    case 'credits_transferred': {
      const { task } = fact.payment
      if (task !== undefined) {
        memory.unclaimed.set(task, [...(memory.unclaimed.get(task) ?? []), fact.payment])
      }
      return undefined
    }
    case 'outcome_reported':
      return claimed(memory, fact)
    case 'trust_rules_set': {
      const { pairSuccesses, pairWindowMs } = fact.rules
      memory.rules = { pairSuccesses, pairWindowMs }
      return undefined
    }
    default:
      return undefined
  }
}

/** CH-14: only from the party that hired; on an unsettled or counted job it changes nothing. */
export function decideReport(
  memory: TrailMemory,
  asked: { readonly agent: AgentId; readonly task: TaskId; readonly by: OwnerId | 'anybody' },
  now: Instant,
): Decision<OutcomeReported, 'agent_unknown' | 'caller_forbidden'> {
  const { agent, task, by } = asked
  const owner = memory.owners.get(agent)
  if (owner === undefined) return refuse('agent_unknown')
  const earned = (memory.unclaimed.get(task) ?? []).filter(({ payee }) => payee === owner)
  const [payment] = earned.filter(({ payer }) => by === 'anybody' || payer === by)
  if (payment === undefined) return earned.length > 0 ? refuse('caller_forbidden') : accept()
  return accept({ type: 'outcome_reported', agent, hirer: payment.payer, task, at: now })
}

function ended(
  memory: TrailMemory,
  hold: HoldId,
  ending: Ending,
  fact: Extract<MoneyFact, { type: 'hold_captured' | 'hold_released' }>,
): Outcome | undefined {
  const held = memory.holds.get(hold)
  if (held === undefined) return undefined
  memory.holds.delete(hold)
  const { terms, heldAt, takenAt = heldAt, deadline } = held
  return {
    work: terms.task as string as WorkId,
    agent: terms.agent,
    owner: terms.payee,
    hirerOwner: terms.payer,
    ...(terms.hirer === undefined ? {} : { hirerAgent: terms.hirer }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(memory.rules && { rules: memory.rules }),
    ending,
    priceCents: fact.type === 'hold_captured' ? fact.payment.amountCents : 0,
    receivedAt: heldAt,
    respondedAt: takenAt,
    endedAt: fact.at,
    settledAt: fact.at,
  }
}

function claimed(memory: TrailMemory, report: OutcomeReported): Outcome | undefined {
  const { agent, hirer, task } = report
  const payments = memory.unclaimed.get(task) ?? []
  const owner = memory.owners.get(agent)
  const payment = payments.find(({ payer, payee }) => payer === hirer && payee === owner)
  if (payment === undefined || owner === undefined) return undefined
  memory.unclaimed.set(
    task,
    payments.filter((each) => each !== payment),
  )
  return {
    work: task as string as WorkId,
    agent,
    owner,
    hirerOwner: hirer,
    ...(memory.rules && { rules: memory.rules }),
    ending: { how: 'done' },
    priceCents: payment.amountCents,
    receivedAt: payment.at,
    respondedAt: payment.at,
    endedAt: payment.at,
    settledAt: report.at,
  }
}
