/**
 * Messages that could not be delivered, for those whose affair they are (P-8).
 *
 *   L1  An owner sees and handles its own, operators all. Of another's nobody learns that it is
 *       there.
 *   L2  Redelivering is one attempt. Whoever asked waits a while for its outcome; it goes on
 *       without them.
 */
import { isUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { DeliveryFact } from '@chimera/domain/delivery'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import type { Scope } from '@chimera/domain/scopes'
import type { Letter, LetterQuery } from '../ports/deliveries.ts'
import { type Caller, forbidden, isOperator, permit, permitOwner } from './caller.ts'
import type { Hub } from './hub.ts'

export type LettersFound = {
  readonly ok: true
  readonly letters: readonly Letter[]
  /** To go on behind; absent on the last page. */
  readonly next?: { readonly diedAt: Instant; readonly id: string }
}

export async function listLetters(
  hub: Hub,
  caller: Caller,
  query: LetterQuery,
): Promise<LettersFound | Refused<Refusal>> {
  const all = isOperator(caller)
  const permitted = permit(caller, 'read')
  if (!all && !permitted.ok) return permitted
  const owner = all ? query.owner : caller.owner
  if (!all && (owner === undefined || (query.owner ?? owner) !== owner)) return forbidden()
  const { limit } = query
  const wanted = { ...query, ...(owner !== undefined && { owner }), limit: limit + 1 }
  const found = await hub.keep.letters.find(wanted)
  const letters = found.slice(0, limit)
  const next = found.length > limit ? letters.at(-1) : undefined
  return { ok: true, letters, ...(next && { next }) }
}

type Whole = Letter & { readonly body: string }

export function readLetter(
  hub: Hub,
  caller: Caller,
  id: string,
): Promise<{ readonly ok: true; readonly letter: Whole } | Refused<Refusal>> {
  return findLetter(hub, caller, { id, scope: 'read' })
}

/** `under_way`: its outcome is to be looked for later. */
export type Redelivered =
  | { readonly ok: true; readonly is: 'done'; readonly fact: DeliveryFact }
  | { readonly ok: true; readonly is: 'under_way' }

export async function redeliver(
  hub: Hub,
  caller: Caller,
  id: string,
): Promise<Redelivered | Refused<Refusal>> {
  const found = await findLetter(hub, caller, { id, scope: 'agents' })
  if (!found.ok) return found
  const attempt = hub.deliverer.byHand(id)
  const waited = new AbortController()
  const late = hub.sleep(LIMITS.redeliveryWaitMs, waited.signal).then(
    () => 'waiting' as const,
    () => 'waiting' as const,
  )
  const first = await Promise.race([attempt, late]).finally(() => waited.abort())
  if (first === undefined) return refuse('letter_unknown')
  return first === 'waiting' ? { ok: true, is: 'under_way' } : { ok: true, is: 'done', fact: first }
}

export async function removeLetter(
  hub: Hub,
  caller: Caller,
  id: string,
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  const found = await findLetter(hub, caller, { id, scope: 'agents' })
  if (!found.ok) return found
  return (await hub.keep.letters.remove(id)) ? { ok: true } : refuse('letter_unknown')
}

async function findLetter(
  hub: Hub,
  caller: Caller,
  { id, scope }: { readonly id: string; readonly scope: Scope },
): Promise<{ readonly ok: true; readonly letter: Whole } | Refused<Refusal>> {
  const all = isOperator(caller)
  const permitted = permit(caller, scope)
  if (!all && !permitted.ok) return permitted
  const letter = isUuid(id) ? await hub.keep.letters.read(id) : undefined
  if (letter === undefined) return refuse('letter_unknown')
  const own = letter.owner !== undefined && permitOwner(caller, scope, letter.owner).ok
  return all || own ? { ok: true, letter } : refuse('letter_unknown')
}
