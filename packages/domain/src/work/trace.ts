/**
 * What is known of a piece of work by its key, put together from what it left behind: its hold, its
 * slots, its result, its payment (P-3).
 *
 *   Q1  What is not known is unknown, and never failed: work whose deadline has passed without a
 *       word is unknown until its agent speaks or its hold is released as overdue.
 *   Q2  The agent's result says how work ended; without one, the end of its hold does.
 *   Q3  Ended work is settled when its money has moved or gone back. Work without money is never
 *       settled; it is just done.
 */
import type { AgentId, HoldId, InstanceId, Instant, OwnerId, ReservationId } from '../ids.ts'
import { endsAt, isInForce } from '../money/hold.ts'
import type { Hold, PaymentMade } from '../money/ledger.ts'
import type { End, Result } from './result.ts'

export type Slots = {
  readonly reservation: ReservationId
  readonly instance: InstanceId
  readonly slots: number
  readonly lapsesAt: Instant
  readonly stage: 'promised' | 'taken' | 'ended'
}

export type Trace = {
  readonly hold?: Hold
  readonly result?: Result
  readonly payment?: PaymentMade
  readonly slots?: Slots
}

/**
 * Where the work is in its life (work.ts), as far as a hub can tell: whether it runs is between
 * requester and agent. `asked` is what waits for its agent's word.
 */
export type Traced =
  | 'asked'
  | 'accepted'
  | 'unknown'
  | 'refused'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'settled'

/** `agent` and `overdue` are the agent's failures; `requester` withdrew what nobody accepted. */
export type EndCause = 'agent' | 'overdue' | 'requester'
export type TracedEnd = { readonly how: End; readonly at?: Instant; readonly cause?: EndCause }

/** Its end is still to come, as far as anybody knows. */
export const isUnderWay = (state: Traced): boolean =>
  state === 'asked' || state === 'accepted' || state === 'unknown'

export type WorkTraced = { readonly state: Traced; readonly end?: TracedEnd }

export function traceWork(trace: Trace, now: Instant): WorkTraced {
  const { hold, payment } = trace
  const end = endFrom(trace)
  if (end !== undefined) {
    const settled = payment !== undefined || (hold !== undefined && !isInForce(hold, now))
    return { state: settled ? 'settled' : end.how, end }
  }
  if (hold === undefined) return { state: 'asked' }
  switch (hold.stage) {
    case 'confirmed': {
      // Once the day of grace is over it is the agent's failure, whoever has looked (H6).
      if (!isInForce(hold, now))
        return settledAs({ how: 'failed', at: endsAt(hold), cause: 'overdue' })
      const late = hold.deadline !== undefined && now > hold.deadline
      return { state: late ? 'unknown' : 'accepted' }
    }
    case 'placed':
      return { state: isInForce(hold, now) ? 'asked' : 'refused' }
    default:
      // It lapsed or was turned down before anybody had accepted it.
      return { state: 'refused' }
  }
}

const settledAs = (end: TracedEnd): WorkTraced => ({ state: 'settled', end })

/** Q2. */
function endFrom({ hold, result, payment }: Trace): TracedEnd | undefined {
  if (result !== undefined) {
    const { how, endedAt: at } = result
    return how === 'failed' ? { how, at, cause: 'agent' } : { how, at }
  }
  if (payment !== undefined) return { how: 'done', at: payment.at }
  if (hold?.stage === 'captured') return { how: 'done' }
  if (hold?.stage !== 'released') return undefined
  switch (hold.because) {
    case 'failed':
      return { how: 'failed', cause: 'agent' }
    case 'overdue':
      return { how: 'failed', at: endsAt(hold), cause: 'overdue' }
    case 'cancelled':
      return { how: 'cancelled' }
    case 'withdrawn':
      return { how: 'cancelled', cause: 'requester' }
    default:
      return undefined
  }
}

/** Whatever was found under one key, each the latest first. */
export type Traces<Kept extends Result> = {
  readonly holds: readonly Hold[]
  readonly results: readonly Kept[]
  readonly payments: readonly PaymentMade[]
  readonly slots: readonly (Slots & { readonly agent: AgentId; readonly hold?: HoldId })[]
}

export type Picked<Kept extends Result> = {
  readonly hold?: Hold
  readonly result?: Kept
  readonly payment?: PaymentMade
  readonly slots?: Slots
  readonly agent?: AgentId
  readonly payer?: OwnerId
  readonly payee?: OwnerId
}

/**
 * What belongs to one piece of work. Where several used the key, it is the one that the asker hires
 * for, else the one that it is hired for; the last attempt counts.
 */
export function pickWork<Kept extends Result>(
  traces: Traces<Kept>,
  asker?: OwnerId,
): Picked<Kept> | undefined {
  const hold = ownFirst(traces.holds, ({ payer }) => payer === asker)
  if (hold !== undefined) {
    const { agent, payer, payee } = hold
    const last = lastAttempt(traces.holds, hold)
    const result = traces.results.find(
      (each) => each.agent === agent && (each.requester ?? payer) === payer,
    )
    const payment = traces.payments.find((each) => each.payer === payer)
    const slots = traces.slots.find((each) => each.hold === last.id)
    return { hold: last, agent, payer, payee, ...given({ result, payment, slots }) }
  }
  const result = ownFirst(traces.results, ({ requester }) => requester === asker)
  const payment = ownFirst(traces.payments, ({ payer }) => payer === asker)
  const slots = traces.slots[0]
  if (result === undefined && payment === undefined && slots === undefined) return undefined
  const agent = result?.agent ?? slots?.agent
  const payer = result?.requester ?? payment?.payer
  const payee = result?.owner ?? payment?.payee
  return given({ result, payment, slots, agent, payer, payee })
}

function ownFirst<Each>(all: readonly Each[], isOwn: (each: Each) => boolean): Each | undefined {
  return all.find(isOwn) ?? all[0]
}

const lastAttempt = (holds: readonly Hold[], { payer }: Hold): Hold =>
  holds
    .filter((each) => each.payer === payer)
    .reduce((one, other) => (other.attempt > one.attempt ? other : one))

type Given<Some> = { readonly [Name in keyof Some]?: Exclude<Some[Name], undefined> }

function given<Some extends object>(some: Some): Given<Some> {
  return Object.fromEntries(
    Object.entries(some).filter(([, value]) => value !== undefined),
  ) as Given<Some>
}
