/**
 * Work by its key, for whoever lost an answer (P-3): what the hub knows of it, and the removal of
 * what was handed over.
 *
 *   W1  Either side sees its own; two payers who used the same key do not see each other's.
 *   W2  What the hub never heard of is said to be so, which is not the same as failed.
 */
import type { WorkSought } from '@chimera/dialects/chimera'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { TaskId } from '@chimera/domain/ids'
import type { PaymentMade } from '@chimera/domain/money/ledger'
import type { Refusal } from '@chimera/domain/refusals'
import { type Picked, pickWork, traceWork, type WorkTraced } from '@chimera/domain/work/trace'
import type { KeptResult, WorkTraces } from '../ports/results.ts'
import type { Asides } from '../views/asides.ts'
import { type Caller, forbidden, isOperator, permit } from './caller.ts'
import type { Hub } from './hub.ts'

export type WorkKnown = Picked<KeptResult> &
  WorkTraced &
  ReturnType<Asides['of']> & { readonly task: TaskId }

type Found = ({ readonly ok: true } & WorkKnown) | Refused<Refusal>

export async function showWork(hub: Hub, caller: Caller, sought: WorkSought): Promise<Found> {
  const permitted = permit(caller, 'read')
  return permitted.ok ? findWork(hub, caller, sought) : permitted
}

/** For whoever may: W1. */
export async function findWork(
  hub: Hub,
  caller: Caller,
  { key, payer }: WorkSought,
): Promise<Found> {
  const party = isOperator(caller) ? payer : caller.owner
  if (party === undefined && !isOperator(caller)) return forbidden()

  const asked = party === undefined ? {} : { party }
  const found = await hub.keep.results.trace({ task: key, ...asked })
  // Who only knows the agent's own name for the work is led to the requester's.
  const [named] = found.results
  const task = found.holds.length === 0 && named !== undefined ? named.task : key
  const traces = task === key ? found : await hub.keep.results.trace({ task, ...asked })
  const picked = pickWork(tracesOf(traces), payer ?? party)
  if (picked === undefined) return refuse('work_unknown')
  const now = hub.now()
  const { agent } = picked
  const { correlation, recordedAt: before = now } = picked.result ?? {}
  const heard = hub.asides.of({
    task,
    before,
    ...(agent !== undefined && { agent }),
    ...(correlation !== undefined && { correlation }),
  })
  return { ok: true, task, ...picked, ...traceWork(picked, now), ...heard }
}

/**
 * How far it has come, by the agent that does it (B2 of views/asides.ts). Nobody is told whether
 * there is such work: what nobody asked for is shown to nobody.
 */
export function noteProgress(
  hub: Hub,
  caller: Caller,
  { task, share, note }: Advanced,
): { readonly ok: true } | Refused<Refusal> {
  const permitted = permit(caller, 'agents')
  if (!permitted.ok) return permitted
  if (!caller.open && caller.agent === undefined) return forbidden()
  const advance = { at: hub.now(), share, ...(note !== undefined && { note }) }
  hub.asides.noteAdvance(task, caller.agent, advance)
  return { ok: true }
}

type Advanced = { readonly task: TaskId; readonly share: number; readonly note?: string }

/** At once and for good; that it was handed over, and its digest, stay in the trail. */
export async function deleteWorkContent(
  hub: Hub,
  caller: Caller,
  key: TaskId,
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  const permitted = permit(caller, 'reports')
  if (!permitted.ok) return permitted
  const { open, owner } = caller
  if (!open && owner === undefined) return forbidden()
  const { results } = await hub.keep.results.trace({
    task: key,
    ...(!open && owner !== undefined && { party: owner }),
  })
  if (results.length === 0) return refuse('work_unknown')
  for (const each of results) await hub.keep.results.deleteContent(each)
  return { ok: true }
}

function tracesOf({ holds, results, payments, reservations }: WorkTraces) {
  return {
    holds,
    results,
    payments: payments.filter((each): each is PaymentMade => each.kind === 'payment'),
    slots: reservations.map(({ id: reservation, ...rest }) => ({ reservation, ...rest })),
  }
}
