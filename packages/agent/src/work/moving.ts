/**
 * One step in the life of a piece of work, with all that follows from it for what is kept: its
 * report, who has to be told, and when it may be forgotten. Pure: the domain decides the step.
 *
 *   M1  The end and what has to be told of it are one change, so that no promised result is lost
 *       between the two.
 *   M2  The keys of jobs never expire; others are forgotten 24 h after the result (OC-12).
 */
import { type Decision, type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { rememberUntil } from '@chimera/domain/work/idempotency'
import type { EndReported } from '@chimera/domain/work/result'
import {
  applyWork,
  decideWork,
  type Ended,
  endOf,
  type Work,
  type WorkCommand,
  type WorkFact,
  type WorkRefusal,
} from '@chimera/domain/work/work'
import type { KeptWork, Letter } from './keep.ts'

export type Particulars = {
  /** Of work that is done. */
  readonly output?: Readonly<Record<string, unknown>>
  readonly durationMs?: number
  /** What was wrong, of work that is turned away. */
  readonly refused?: Refused<Refusal>
}

export type Step = {
  readonly decision: Decision<WorkFact, WorkRefusal>
  readonly kept: KeptWork
  /** Whether anything changed. */
  readonly moved: boolean
}

export type Stepping = {
  readonly agent: AgentId
  readonly now: Instant
  readonly uuid: () => string
}

export function stepWork(
  kept: KeptWork,
  command: WorkCommand,
  { output, durationMs, refused }: Particulars,
  { agent, now, uuid }: Stepping,
): Step {
  const decision = decideWork(kept.work, command, now)
  const [fact] = decision.ok ? decision.facts : []
  if (fact === undefined) return { decision, kept, moved: false }

  const before = kept.work.state
  const work = applyWork(kept.work, fact)
  // Nearly every step: there are two for each piece of work, so each is one copy and no more.
  if (work.state.name === 'running') return { decision, kept: { ...kept, work }, moved: true }
  const letter = (says: Letter['says'], to: Letter['to']): Letter => ({
    id: uuid(),
    says,
    to,
    attempts: 0,
    nextAt: now,
  })
  const end = endOf(work.state)
  if (end !== undefined && endOf(before) === undefined) {
    const report = reportOf(kept, work, end, { agent, output, durationMs })
    const letters = [...kept.letters, letter('result', 'hub')]
    if (kept.callback !== undefined) letters.push(letter('result', 'callback'))
    const forgetAt = forgetAtOf(kept, now)
    // Not spread (decision 0082).
    const told: Writable<KeptWork> = Object.assign({}, kept, { work, report, letters })
    if (forgetAt !== undefined) told.forgetAt = forgetAt
    return { decision, kept: told, moved: true }
  }
  const next: KeptWork = { ...kept, work }
  const answers = (): readonly Letter[] => [
    ...(kept.callback === undefined ? [] : [letter('answer', 'callback')]),
    ...(kept.bus ? [letter('answer', 'bus')] : []),
  ]
  if (work.state.name === 'refused') {
    const because = refused ?? refuse(work.state.refusal)
    const letters = [...kept.letters, ...answers()]
    const told = { ...next, refused: because, letters, ...forgetting(kept, now) }
    return { decision, kept: told, moved: true }
  }
  // OC-15: who was deferred hears the final answer too; of a job only its result is posted (CH-4).
  const isAccepted = before.name === 'deferred' && work.state.name === 'accepted'
  const isFinal = isAccepted && kept.door !== 'chorus'
  const letters = isFinal ? [...kept.letters, ...answers()] : kept.letters
  return { decision, kept: { ...next, letters }, moved: true }
}

const forgetting = (kept: Pick<KeptWork, 'door'>, resultAt: Instant) => {
  const forgetAt = forgetAtOf(kept, resultAt)
  return forgetAt === undefined ? {} : { forgetAt }
}

/** M2. */
function forgetAtOf({ door }: Pick<KeptWork, 'door'>, resultAt: Instant): Instant | undefined {
  return door === 'chorus' ? undefined : rememberUntil(resultAt)
}

type Told = {
  readonly agent: AgentId
  readonly output: Particulars['output'] | undefined
  readonly durationMs: number | undefined
}

function reportOf(
  { requester }: KeptWork,
  { ask, priceCents }: Work,
  end: Ended,
  { agent, output, durationMs }: Told,
): EndReported {
  const report: Writable<EndReported> = {
    type: 'work_reported',
    task: ask.task,
    agent,
    work: ask.work,
    skill: ask.skill,
    how: end.name,
    endedAt: end.endedAt,
    correlation: ask.correlation,
  }
  if (requester.agent !== undefined) report.requester = requester.agent
  if (end.name === 'done') {
    report.output = output ?? {}
    report.costCents = priceCents
  }
  if (end.name === 'failed') report.fault = end.fault
  if (durationMs !== undefined) report.durationMs = durationMs
  return report
}

type Writable<Message> = { -readonly [Field in keyof Message]: Message[Field] }
