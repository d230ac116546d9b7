/**
 * A reservation that is given back by a signed notice on the bus (OC-15, P-1), by the planner that
 * no longer needs it or by the instance that drains. It is what releasing it over HTTP is.
 */
import type { ReservationReleased } from '@chimera/dialects/moltbook'
import { presentKey } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { HoldId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { judgeFreshness } from '@chimera/identity/freshness'
import type { Caller } from './caller.ts'
import { releaseHold } from './holds.ts'
import type { Hub } from './hub.ts'
import type { Received } from './presence.ts'

export async function hearRelease(
  hub: Hub,
  { meaning, message }: Omit<Received<ReservationReleased>, 'raw'>,
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  const { reservation: id, instance, planner, task, signedAt } = meaning
  const reservation = await hub.keep.slots.find(id)
  if (reservation === undefined) return refuse('reservation_unknown')
  const same = [reservation.instance, reservation.planner, reservation.task]
  if (![instance, planner, task].every((each, at) => each === same[at])) {
    return refuse('reservation_unknown')
  }
  // From the store, since another hub may have changed its key a moment ago.
  const by = meaning.by === 'planner' ? planner : reservation.agent
  const speaker = await hub.keep.agents.load(by)
  const key = speaker && presentKey(speaker.keys)?.publicKey
  const left = speaker?.removedAt !== undefined
  if (speaker === undefined || key === undefined || left) return refuse('signature_invalid')
  const proof = await hub.verify(message, key)
  if (!proof.ok) return proof
  const fresh = judgeFreshness({ signedAt }, hub.now())
  if (!fresh.ok) return fresh

  const caller: Caller = {
    open: false,
    operator: false,
    owner: speaker.owner,
    agent: speaker.id,
    scopes: ['agents', 'money'],
    session: false,
  }
  const because = meaning.by === 'planner' ? 'withdrawn' : 'refused'
  const released = await releaseHold(hub, caller, id as string as HoldId, because)
  return released.ok ? { ok: true } : released
}
