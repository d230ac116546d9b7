/**
 * The hub's side of the handshake (AV-8): an instance that has taken its slots shows the planner's
 * signed offer, and gets slot and money confirmed, or neither.
 *
 *   F1  The offer is the mandate: it holds by the planner's present key, names this instance, and
 *       is fresh. Nobody but the instance's own agent presents it.
 *   F2  Whose credits are held follows from who planned, and who is paid from whose instance it is;
 *       neither is asked for.
 *   F3  The same offer gets the same answer for as long as it can be believed.
 *   F4  An instance that drains or leaves gives its unused promises back at once.
 */
import type { PresentedOffer } from '@chimera/dialects/chimera'
import { presentKey } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  InstanceId,
  PublicKey,
  ReservationId,
} from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { declaredAvailability } from '@chimera/domain/presence/declaration'
import type { Refusal } from '@chimera/domain/refusals'
import { canonicalDigest } from '@chimera/identity/canonical'
import { judgeFreshness } from '@chimera/identity/freshness'
import type { Instance } from '../views/presence.ts'
import { findNewest } from './agents.ts'
import { type Caller, forbidden, permit } from './caller.ts'
import { asShown, type HoldFound, showSlots } from './holds.ts'
import type { Hub } from './hub.ts'

export async function presentOffer(
  hub: Hub,
  caller: Caller,
  { offered, message }: PresentedOffer,
): Promise<HoldFound | Refused<Refusal>> {
  const instance = findInstance(hub, caller, offered.instance)
  if (instance === undefined) return refuse('instance_unknown')
  const agent = await findNewest(hub, instance.seen.last.agent)
  if (agent === undefined) return refuse('agent_unknown')
  const permitted = permit(caller, 'agents')
  if (!permitted.ok) return permitted
  if (!caller.open && caller.agent !== agent.id) return forbidden()

  const planner = await findNewest(hub, offered.planner)
  if (planner === undefined) return refuse('planner_unknown')
  const key = keyOf(hub, planner.id)
  if (key === undefined) return refuse('signature_invalid')
  const proof = await hub.verify(message, key)
  if (!proof.ok) return proof
  // Verifying takes a moment, in which the planner may have left or changed its key.
  if (keyOf(hub, planner.id) !== key) return refuse('signature_invalid')
  const now = hub.now()
  const fresh = judgeFreshness(offered, now)
  if (!fresh.ok) return fresh
  const availability = declaredAvailability(instance, now, hub.presence.brake())
  if (availability === 'offline') return refuse('agent_offline')

  const { task, slots, deadline, maxCostCents, correlation, signedAt } = offered
  const command = {
    type: 'reserve_slots',
    id: hub.uuid() as ReservationId,
    instance: offered.instance,
    agent: agent.id,
    planner: planner.id,
    task,
    slots,
    slotsOwned: instance.seen.last.slotsTotal,
    draining: availability === 'draining',
    deadline,
    ...(maxCostCents > 0 && {
      money: {
        hold: hub.uuid() as HoldId,
        payer: planner.owner,
        payee: agent.owner,
        amountCents: maxCostCents,
      },
    }),
  } as const
  // Kept for longer than any hub believes the offer, skew included.
  const mandate = { offer: canonicalDigest(message), forgetAt: signedAt + LIMITS.nonceMs }
  const promised = await hub.keep.slots.reserve(command, correlation, mandate)
  if (!promised.ok) return promised
  hub.asides.noteAsked({ task, correlation, at: now })
  const { made } = promised
  if (made === undefined) return showSlots(hub, promised.reservation)
  const { instance: at } = offered
  return {
    ok: true,
    reservation: { ...made.reservation, instance: at, agent: agent.id, stage: 'promised' },
    ...(made.hold && { hold: asShown(made.hold, 0, now) }),
  }
}

/** F4. If it fails, time gives them back within half a minute. */
export async function giveBack(
  hub: Hub,
  instance: InstanceId,
  correlation: CorrelationId,
): Promise<void> {
  const command = { type: 'drain_instance', instance } as const
  await hub.keep.slots.submit(command, correlation).catch(() => undefined)
}

function findInstance(hub: Hub, { agent }: Caller, id: InstanceId): Instance | undefined {
  const known = agent === undefined ? hub.presence.instances() : hub.presence.instancesOf(agent)
  for (const instance of known) if (instance.seen.last.instance === id) return instance
  return undefined
}

function keyOf(hub: Hub, id: AgentId): PublicKey | undefined {
  const agent = hub.directory.find(id)
  return agent && presentKey(agent.keys)?.publicKey
}
