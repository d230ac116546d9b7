/**
 * Why a hire came to nothing.
 *
 *   F1  Branch on `code`. `detail` is for the operator's log only; `message` is for people, and
 *       says what to do next.
 *   F2  `outcome_unknown` is the one that is not over: somebody may have done the work and may be
 *       paid for it. Ask for it by its key (`network.result(task)`) before asking anybody else.
 *   F3  Under every other code nothing is owed, and the same may be asked again.
 */
import type { Fault } from '@chimera/domain/agent/condition'
import type { AgentId, HoldId, TaskId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'

// biome-ignore format: a table is read by its columns
const SENTENCES = {
  terms_invalid:   'This cannot be asked for like this',
  hub_refused:     'The hub said no',
  hub_unanswered:  'The hub did not answer. See that its address is right and that it runs; the same may be asked again.',
  nobody_found:    'Nobody on the network offers this skill within the budget. Raise it, or look with `discover` who offers it for how much.',
  nobody_accepted: 'Everybody who was asked refused or did not answer; `declined` says why. Ask later, or with a later deadline.',
  agent_refused:   'The agent that was asked refused; `declined` says why. Ask another one.',
  agent_silent:    'The agent that was asked did not answer, and can no longer be paid for it. Ask another one.',
  work_failed:     'The agent reports that the work failed; `fault` says why. Nothing was paid. It may have done half of it: whether it may be done again is yours to say.',
  work_cancelled:  'The work was called off. Nothing was paid.',
  deadline_passed: 'It was not done by its deadline, and was called off. Nothing was paid. Give it more time, or ask somebody else.',
  given_up:        'It was given up by whoever asked for it. Nothing was paid.',
  outcome_unknown: 'Somebody accepted the work, and nobody can say yet how it ended. Look with `result(task)` before you ask anybody else.',
} as const

/** Whose detail is about what the caller itself said, or is the hub's word to it. */
const SAYS_WHAT: readonly HireFailureCode[] = ['terms_invalid', 'hub_refused']

export type HireFailureCode = keyof typeof SENTENCES

/** Somebody who was asked and does not do it. */
export type Declined = {
  readonly agent: AgentId
  readonly name: string
  readonly how: 'refused' | 'silent'
  /** Ours where we know one; of somebody silent, what the network said. */
  readonly code: Refusal | (string & {})
  readonly sentence: string
}

export type HireFailureMore = {
  readonly detail?: string
  readonly task?: TaskId
  readonly agent?: AgentId
  readonly hold?: HoldId
  readonly refusal?: Refusal
  readonly fault?: Fault
  readonly declined?: readonly Declined[]
}

export class HireFailure extends Error {
  override readonly name = 'HireFailure'
  readonly code: HireFailureCode
  readonly detail: string
  /** The key of the work, where it was asked for at all. */
  readonly task?: TaskId
  readonly agent?: AgentId
  readonly hold?: HoldId
  /** Of the hub, or of the one agent that was asked. */
  readonly refusal?: Refusal
  /** In the agent's own words. */
  readonly fault?: Fault
  /** Everybody who was asked before, in that order. */
  readonly declined: readonly Declined[]

  constructor(code: HireFailureCode, more: HireFailureMore = {}) {
    const { detail = '', declined = [], ...rest } = more
    super(SAYS_WHAT.includes(code) ? `${SENTENCES[code]}: ${detail}` : SENTENCES[code])
    this.code = code
    this.detail = detail
    this.declined = declined
    Object.assign(this, rest)
  }
}
