/**
 * Results of work: an agent hands them over, and whoever is concerned reads them (OC-17, OC-23).
 *
 *   R1  Only the agent itself reports its work, and signs it: its word moves the hold and its score
 *       (CH-15). A short-lived token is not enough.
 *   R2  A result is kept, then settled. What is owed to the books is written with the result, so a
 *       hub that dies in between settles when it is back, when the agent repeats, or when another
 *       hub looks. The books do each of it once.
 *   R3  Both sides and operators see a result, and nobody else.
 */
import type { ResultPlace, ResultsSought } from '@chimera/dialects/openclaw'
import type { Agent } from '@chimera/domain/agent/agent'
import { writeSkillVersion } from '@chimera/domain/agent/skill-version'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Digest, TaskId, TransferId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Hold } from '@chimera/domain/money/ledger'
import type { Refusal } from '@chimera/domain/refusals'
import {
  decideResult,
  type EndReported,
  holdMeant,
  isUnsettled,
  settlementOf,
} from '@chimera/domain/work/result'
import { canonicalDigest } from '@chimera/identity/canonical'
import type { KeptResult } from '../ports/results.ts'
import { findNewest } from './agents.ts'
import { type Caller, forbidden, isOperator, permit } from './caller.ts'
import type { Hub } from './hub.ts'
import { checkOutput } from './output.ts'

export async function recordResult(
  hub: Hub,
  caller: Caller,
  report: EndReported,
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  const agent = await findNewest(hub, report.agent)
  if (agent === undefined) return refuse('agent_unknown')
  const itself = caller.agent === agent.id && !caller.session
  const permitted = caller.open || itself ? permit(caller, 'agents') : forbidden()
  if (!permitted.ok) return permitted

  const { results } = hub.keep
  const content = contentOf(report)
  const earlier = await results.find(report)
  if (earlier !== undefined) return repeat(hub, earlier, content)
  const fits = checkReport(hub, agent, report)
  if (!fits.ok) return fits

  const holds = await holdsFor(hub, report)
  const known = knownOf(hub, agent, { report, content, holds })
  const now = hub.now()
  const decision = decideResult(undefined, known, now)
  const fact = decision.ok ? decision.facts[0] : undefined
  if (fact === undefined) return refuse('service_unavailable')
  const { endedAt } = fact
  const owed = known.hold === undefined ? {} : { settleAt: now }
  const kept: KeptResult = { ...known, endedAt, recordedAt: now, report, ...owed }
  if (!(await results.record(kept, fact))) {
    // The same agent reported it at the same moment.
    const first = await results.find(report)
    return first === undefined ? refuse('service_unavailable') : repeat(hub, first, content)
  }
  await settle(hub, kept, holds)
  return { ok: true }
}

async function repeat(
  hub: Hub,
  earlier: KeptResult,
  content: Digest,
): Promise<{ readonly ok: true } | Refused<'work_ended'>> {
  const decision = decideResult(earlier, { ...earlier, content }, hub.now())
  if (!decision.ok) return decision
  await settle(hub, earlier)
  return { ok: true }
}

/** What must be the same when a result comes again. Times and traces may differ. */
function contentOf({ task, how, output, fault }: EndReported): Digest {
  return canonicalDigest({ task, how, output: output ?? null, fault: fault ?? null })
}

/** A report that does not say which skill it was has to fit one that the agent offers. */
function checkReport(
  hub: Hub,
  { id, skills }: Agent,
  { how, skill, output = {} }: EndReported,
): { readonly ok: true } | Refused<Refusal> {
  if (how !== 'done') return { ok: true }
  if (skill !== undefined) return checkOutput(hub, { agent: id, skill, output })
  const judged = skills.map(({ name, version }) =>
    checkOutput(hub, { agent: id, skill: writeSkillVersion(name, version), output }),
  )
  return judged.find(({ ok }) => ok) ?? judged[0] ?? refuse('skill_unknown')
}

type Heard = {
  readonly report: EndReported
  readonly content: Digest
  readonly holds: readonly Hold[]
}

function knownOf(hub: Hub, { id, owner }: Agent, { report, content, holds }: Heard) {
  const { agent, work, task, how, output, endedAt, correlation } = report
  const named = report.requester && hub.directory.find(report.requester)?.owner
  const hold = holdMeant(holds, {
    agent: id,
    ...(named !== undefined && { requester: named }),
  })
  const requester = hold?.payer ?? named
  return {
    agent,
    work,
    task,
    how,
    owner,
    content,
    correlation,
    transfer: hub.uuid() as TransferId,
    ...(how === 'done' && { output: canonicalDigest(output ?? {}) }),
    ...(endedAt !== undefined && { endedAt }),
    ...(requester !== undefined && { requester }),
    ...(hold && { hold: hold.id }),
  }
}

/** 0010: a hold goes by the requester's name for the work, which may be either. */
function holdsFor(hub: Hub, { agent, task, work }: Pick<KeptResult, 'agent' | 'task' | 'work'>) {
  return hub.keep.results.holdsFor(agent, [task, work as string as TaskId])
}

/** R2. Repeating it finds it done. The price of a hold that is accepted does not change. */
async function settle(hub: Hub, result: KeptResult, read: readonly Hold[] = []): Promise<void> {
  const { agent, requester } = result
  const meant = { agent, ...(requester !== undefined && { requester }) }
  const before = holdMeant(read, meant)
  const isAccepted = before?.stage === 'confirmed'
  const hold = isAccepted ? before : holdMeant(await holdsFor(hub, result), meant)
  if (hold === undefined) return
  const decision = await hub.keep.money.submit(settlementOf(result, hold), result.correlation)
  const later = !decision.ok && isUnsettled(decision.refusal)
  await hub.keep.results.owe(result, {
    hold: hold.id,
    ...(later && { settleAt: hub.now() + LIMITS.resettleMs }),
  })
}

// Each is a look and a command; the next look is a second away.
const SETTLED_AT_ONCE = 100

/** What was recorded and could not be settled then. */
export async function settleResults(hub: Hub): Promise<void> {
  for (const result of await hub.keep.results.unsettled(hub.now(), SETTLED_AT_ONCE)) {
    await settle(hub, result)
  }
}

export type ResultsListed = {
  readonly ok: true
  readonly results: readonly (KeptResult & { readonly report: EndReported })[]
  readonly next?: ResultPlace
}

export async function listResults(
  hub: Hub,
  caller: Caller,
  sought: ResultsSought & { readonly agent: AgentId },
): Promise<ResultsListed | Refused<Refusal>> {
  const agent = hub.directory.find(sought.agent)
  if (agent === undefined) return refuse('agent_unknown')
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  if (!isOperator(caller) && caller.owner === undefined) return forbidden()
  const seesAll = isOperator(caller) || caller.owner === agent.owner
  const party = seesAll ? undefined : caller.owner
  const found = await hub.keep.results.list({
    ...sought,
    ...(party !== undefined && { party }),
    limit: sought.limit + 1,
  })
  const results = found
    .slice(0, sought.limit)
    .flatMap((each) => (each.report === undefined ? [] : [{ ...each, report: each.report }]))
  const last = results.at(-1)
  return found.length > sought.limit && last !== undefined
    ? { ok: true, results, next: { recordedAt: last.recordedAt, work: last.work } }
    : { ok: true, results }
}
