/**
 * The handshake (AV-8): a planner's signed offer takes slots here and credits at the hub, or
 * neither, and is answered with a signed ack.
 *
 *   H1  The slots are taken before the hub is asked, so that no two offers are promised the same
 *       one; if the hub says no, or nothing in time, they are free again.
 *   H2  The same offer gets the same ack, for as long as the promise lasts.
 *   H3  An ack comes within 3 s, whatever the hub does.
 *   H4  Offers that come together are verified together, beside this thread where there are cores
 *       for it; nothing is decided on an offer before its signature holds.
 */
import { availableParallelism } from 'node:os'
import { encodeReserveAck, type ReserveOutcome, readReserveOffer } from '@chimera/dialects/moltbook'
import type { ReserveOffer } from '@chimera/dialects/moltbook/schema'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Digest, Instant, PublicKey, ReservationId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import type { Chance } from '@chimera/host/chance'
import type { Clock, Timer } from '@chimera/host/clock'
import { type Bulk, openBulk } from '@chimera/identity/bulk'
import { canonicalDigest } from '@chimera/identity/canonical'
import { judgeFreshness } from '@chimera/identity/freshness'
import { signMessage } from '@chimera/identity/message'
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
// A hub that was silent for so long is given a moment.
const AGAIN_MS = 2_000
const MOMENT_MS = 100

export function createReserving(hands: ReserveHands): Reserving {
  const { self, clock, desk } = hands
  const verify = createVerify()
  const inTime = createInTime(clock)
  const acks = new Map<Digest, { readonly ack: Promise<object>; readonly until: Instant }>()
  let lapsing: { readonly timer: Timer; readonly at: Instant } | undefined
  let closed = false

  const sign = (offered: Offered, outcome: ReserveOutcome): object =>
    signMessage(encodeReserveAck(offered, outcome, clock.now()), self.key())

  /** One timer for all of them: the next that lapses. */
  function lapseAt(at: Instant): void {
    if (closed || (lapsing !== undefined && lapsing.at <= at)) return
    lapsing?.timer.cancel()
    const timer = clock.after(at - clock.now(), () => {
      lapsing = undefined
      desk.lapse(clock.now())
      const next = desk.nextLapseAt()
      if (next !== undefined) lapseAt(next)
      hands.changed()
    })
    lapsing = { timer, at }
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
    const outcome = inTime((late) =>
      reserve(hands, verify, { offered, message: message as ReserveOffer, late }),
    )
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
      closed = true
      lapsing?.timer.cancel()
    },
  }
}

type Offering = {
  readonly offered: Offered
  readonly message: ReserveOffer
  /** The ack is due: whatever is still to be done is not worth it. */
  readonly late: AbortSignal
}

async function reserve(
  hands: ReserveHands,
  verify: Verify,
  { offered, message, late }: Offering,
): Promise<ReserveOutcome> {
  const { self, network, desk, clock, chance } = hands
  if (offered.instance !== self.instance) return refuse('instance_unknown')
  const fresh = judgeFreshness(offered, clock.now())
  if (!fresh.ok) return fresh
  const planner = await network.agent(offered.planner)
  if (planner === undefined) return refuse('planner_unknown')
  if ('ok' in planner) return planner
  if (!(await isSignedBy(hands, verify, offered, message))) return refuse('signature_invalid')
  if (late.aborted) return refuse('service_unavailable')
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

  const promised = await network.present(message, late)
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
  verify: Verify,
  { planner }: Offered,
  message: ReserveOffer,
): Promise<boolean> {
  for (const fresh of [false, true]) {
    const known = await network.agent(planner, fresh)
    if (known === undefined || 'ok' in known || known.publicKey === undefined) continue
    if (await verify(message, known.publicKey)) return true
  }
  return false
}

type Verify = (message: object, key: PublicKey) => Promise<boolean>

type Checked = {
  readonly message: object
  readonly key: PublicKey
  readonly tell: (good: boolean | Promise<boolean>) => void
}

/** H4. Nothing is loaded before the first offer. */
function createVerify(): Verify {
  let opening: Promise<Bulk> | undefined
  let gathered: Checked[] = []

  async function check(): Promise<void> {
    opening ??= openBulk({ aside: availableParallelism() > 1 })
    const { verifyMessage } = await opening
    const all = gathered
    gathered = []
    for (const { message, key, tell } of all) {
      const verdict = verifyMessage(message, key)
      tell('ok' in verdict ? verdict.ok : verdict.then(({ ok }) => ok))
    }
  }

  return (message, key) =>
    new Promise((tell) => {
      gathered.push({ message, key, tell })
      // Requests come one by one; in a turn of the event loop there are all that came together.
      if (gathered.length === 1) setImmediate(() => void check())
    })
}

type InTime = (decide: (late: AbortSignal) => Promise<ReserveOutcome>) => Promise<ReserveOutcome>

/**
 * H3. A promise that the hub made and nobody heard of lapses there by itself. Offers that come
 * within a moment of each other are late together: a timer for each would cost more than it tells.
 */
function createInTime(clock: Clock): InTime {
  let moment: Moment | undefined

  function begin(): Moment {
    const late = new AbortController()
    const since = clock.now()
    let timer: Timer | undefined
    const overdue = new Promise<ReserveOutcome>((resolve) => {
      timer = clock.after(LIMITS.ackMs - TRAVEL_MS, () => {
        late.abort()
        resolve(refuse('service_unavailable', { retryAt: clock.now() + AGAIN_MS }))
      })
    })
    return { since, late: late.signal, overdue, end: () => timer?.cancel(), underWay: 0 }
  }

  return async (decide) => {
    if (moment === undefined || clock.now() >= moment.since + MOMENT_MS) moment = begin()
    const mine = moment
    mine.underWay += 1
    try {
      return await Promise.race([decide(mine.late), mine.overdue])
    } finally {
      mine.underWay -= 1
      if (mine.underWay === 0) {
        mine.end()
        if (moment === mine) moment = undefined
      }
    }
  }
}

type Moment = {
  readonly since: Instant
  readonly late: AbortSignal
  readonly overdue: Promise<ReserveOutcome>
  readonly end: () => void
  underWay: number
}
