/** The books as sums, for whoever may read; what each account holds is not in them. */
import { type BooksShown, spanMs, type VolumeAsked } from '@chimera/dialects/chimera'
import type { Refused } from '@chimera/domain/decision'
import type { Refusal } from '@chimera/domain/refusals'
import { type Caller, permit } from './caller.ts'
import type { Hub } from './hub.ts'

export async function showBooks(
  hub: Hub,
  caller: Caller,
  { by, spans }: VolumeAsked,
): Promise<({ readonly ok: true } & BooksShown) | Refused<Refusal>> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const ms = spanMs(by)
  // Whole spans, the present one included.
  const since = (Math.floor(hub.now() / ms) - spans + 1) * ms
  const [sums, volume] = await Promise.all([
    hub.keep.money.sums(),
    hub.keep.money.volume({ since, spanMs: ms }),
  ])
  return { ok: true, ...sums, by, since, spans: volume }
}
