/**
 * The handshake (AV-8): a planner's signed offer takes slots here and credits at the hub, or
 * neither, and is answered with a signed ack.
 *
 *   H1  The slots are taken before the hub is asked, so that no two offers are promised the same
 *       one; if the hub says no, or nothing in time, they are free again.
 *   H2  The same offer gets the same ack, for as long as the promise lasts.
 *   H3  An ack comes within 3 s, whatever the hub does.
 */
import { encodeReserveAck, type ReserveOutcome, readReserveOffer } from '@chimera/dialects/moltbook'
import type { ReserveOffer } from '@chimera/dialects/moltbook/schema'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Digest, Instant, ReservationId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import type { Chance } from '@chimera/host/chance'
import type { Clock, Timer } from '@chimera/host/clock'
import { canonicalDigest } from '@chimera/identity/canonical'
import { judgeFreshness } from '@chimera/identity/freshness'
import { createKeyring, type Keyring } from '@chimera/identity/keyring'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import type { Network, Self } from '../ports.ts'
import type { Desk } from './desk.ts'

export type ReserveHands = {
  readonly self: Self
  readonly network: Network
  readonly desk: Desk
  readonly clock: Clock
  readonly chance: Chance
  readonly accepting: () => boolean
  /** Slots have become free, or fewer. */
  readonly changed: () => void
}

type Offered = Extract<ReturnType<typeof readReserveOffer>, { ok: true }>['value']

export type Acked = { readonly ok: true; readonly ack: object } | Refused<Refusal>

export type Reserving = {
  /** The ack to answer with; what is no offer at all is refused instead. */
  readonly offer: (message: unknown) => Promise<Acked>
  readonly close: () => void
}

// The hub is asked so much earlier than the ack is due: the ack has to travel, too.
const TRAVEL_MS = 500
const MOST_ACKS = 10_000

export function createReserving(hands: ReserveHands): Reserving {
  const { self, clock } = hands
  const keyring = createKeyring()
  const timers = new Set<Timer>()
  const acks = new Map<Digest, { readonly ack: Promise<object>; readonly until: Instant }>()

  const sign = (offered: Offered, outcome: ReserveOutcome): object =>
    signMessage(encodeReserveAck(offered, outcome, clock.now()), self.key())

  function lapseAt(at: Instant): void {
    const timer = clock.after(at - clock.now(), () => {
      timers.delete(timer)
      hands.desk.lapse(clock.now())
      hands.changed()
    })
    timers.add(timer)
  }

  function forget(): void {
    for (const [digest, { until }] of acks) if (until <= clock.now()) acks.delete(digest)
  }

  async function offer(message: unknown): Promise<Acked> {
    const read = readReserveOffer(message)
    if (!read.ok) return read
    const offered = read.value
    const digest = canonicalDigest(message)
    const known = acks.get(digest)
    if (known !== undefined && known.until > clock.now()) return { ok: true, ack: await known.ack }
    if (acks.size >= MOST_ACKS) forget()
    const outcome = reserve(hands, keyring, offered, message as ReserveOffer)
    const ack = outcome.then((each) => sign(offered, each))
    // What fails is thrown below; here it is only not left unheard.
    ack.catch(() => undefined)
    // While it is decided a repeat waits with it; afterwards only a promise is repeated.
    acks.set(digest, { ack, until: Number.POSITIVE_INFINITY })
    try {
      const settled = await outcome
      if (settled.ok) {
        const { lapsesAt } = settled.reservation
        acks.set(digest, { ack, until: lapsesAt })
        lapseAt(lapsesAt)
      } else acks.delete(digest)
      return { ok: true, ack: await ack }
    } catch (error) {
      acks.delete(digest)
      throw error
    }
  }

  return {
    offer,
    close: () => {
      for (const timer of timers) timer.cancel()
      timers.clear()
    },
  }
}

async function reserve(
  hands: ReserveHands,
  keyring: Keyring,
  offered: Offered,
  message: ReserveOffer,
): Promise<ReserveOutcome> {
  const { self, network, desk, clock, chance } = hands
  if (offered.instance !== self.instance) return refuse('instance_unknown')
  const fresh = judgeFreshness(offered, clock.now())
  if (!fresh.ok) return fresh
  const planner = await network.agent(offered.planner)
  if (planner === undefined) return refuse('planner_unknown')
  if ('ok' in planner) return planner
  if (!(await isSignedBy(hands, keyring, offered, message))) return refuse('signature_invalid')
  if (!hands.accepting()) return refuse('draining')

  const { planner: by, task, slots, deadline } = offered
  const id = chance.uuid() as ReservationId
  const now = clock.now()
  const taken = desk.reserve({ id, planner: by, task, slots, deadline }, now)
  if (!taken.ok) return taken
  const held = desk.promised({ requester: by, task }, now)
  // It has the slots already: promised before, or its work runs.
  if (held !== undefined && held.id !== id) return { ok: true, reservation: held }
  if (held === undefined) return refuse('task_conflict')
  hands.changed()

  const promised = await presentInTime(hands, message)
  if (!promised.ok) {
    desk.release({ id, planner: by })
    hands.changed()
    return promised
  }
  const { reservation, hold } = promised
  const lapsesAt = Math.min(promised.lapsesAt, held.lapsesAt)
  const settled = { ...held, id: reservation, lapsesAt, ...(hold !== undefined && { hold }) }
  desk.settle(settled)
  return { ok: true, reservation: settled }
}

/** By the key that the planner has now, also where we knew another one. */
async function isSignedBy(
  { network }: ReserveHands,
  keyring: Keyring,
  { planner }: Offered,
  message: ReserveOffer,
): Promise<boolean> {
  for (const fresh of [false, true]) {
    const known = await network.agent(planner, fresh)
    if (known === undefined || 'ok' in known || known.publicKey === undefined) continue
    if (verifyMessage(message, known.publicKey, keyring).ok) return true
  }
  return false
}

/** H3. A promise that the hub made and nobody heard of lapses there by itself. */
async function presentInTime({ network, clock }: ReserveHands, message: ReserveOffer) {
  const late = new AbortController()
  const timer = clock.after(LIMITS.ackMs - TRAVEL_MS, () => late.abort())
  try {
    return await network.present(message, late.signal)
  } finally {
    timer.cancel()
  }
}
