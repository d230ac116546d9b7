/**
 * The handshake from the planner's side (AV-8): a signed offer takes a slot at an instance and a
 * hold at the hub, or neither; both lapse by themselves.
 *
 *   R1  Only who hires as an agent reserves: the offer is the payer's mandate, signed by its agent.
 *   R2  An ack counts if it came in time, is for this offer, and was signed by the instance's key.
 *   R3  Whoever refuses or is silent makes room for the next (AV-9), once nothing is held for it.
 *   R4  What is reserved is used by asking under the same task, and given back otherwise.
 */
import {
  encodeReserveOffer,
  type InstanceFound,
  type ReserveAnswered,
  readReserveAck,
} from '@chimera/dialects/moltbook'
import type {
  AgentId,
  HoldId,
  InstanceId,
  Instant,
  ReservationId,
  TaskId,
} from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { isRetryable, REFUSALS, type Refusal } from '@chimera/domain/refusals'
import { createKeyring } from '@chimera/identity/keyring'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import type { HubAnswer } from '../hub/client.ts'
import {
  aboutOf,
  boundsOf,
  type Candidate,
  declinedBy,
  type Errand,
  type Hands,
  type HoldNamed,
  lastWords,
  type Out,
  type Planner,
  placeHold,
  type Taker,
} from './errand.ts'
import { type Declined, HireFailure } from './failure.ts'

export type Reserved = {
  readonly task: TaskId
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly reservation: ReservationId
  readonly lapsesAt: Instant
  /** Absent where it costs nothing. */
  readonly hold?: HoldNamed
  /** Where the work is asked for. */
  readonly place: Candidate
  readonly declined: readonly Declined[]
}

/** Two acks' time: what is shown to the hub later than that is not believed any more. */
const OFFER_MS = 2 * LIMITS.ackMs
/** Of those that have room, the ones that are asked in turn. */
const MOST_OFFERS = 20
/** Of one agent; an offer costs it and the hub as much as an ask. */
const MOST_INSTANCES = 5
/** Where agents of ours take offers; their other doors stand beside it. */
const RESERVE_PATH = '/moltbook/v1/reserve'

export async function reserve(
  hands: Hands,
  planner: Planner,
  errand: Errand,
  { slots, agent: only }: { readonly slots: number; readonly agent?: AgentId },
): Promise<Reserved> {
  const { books, clock } = hands
  const { asked, terms, tell } = errand
  const declined: Declined[] = []
  const about = { task: asked.task, declined }
  const sought = {
    ...(asked.skill !== '' && { skill: asked.skill }),
    ...(only !== undefined && { agent: only }),
    slots,
    limit: MOST_OFFERS,
  }
  const instances = await books.instances(sought, boundsOf(errand))
  if (instances.length === 0) throw new HireFailure('nobody_found', about)
  for (const found of instances) {
    if (terms.signal?.aborted) throw new HireFailure('given_up', about)
    if (clock.now() >= terms.deadline) throw new HireFailure('deadline_passed', about)
    const { agent, instance } = found
    const whom = { agent, name: instance }
    tell?.({ is: 'reserving', ...whom, instance })
    const maxCostCents = terms.budgetCents
    const ack = await offer(hands, planner, { errand, found, slots, maxCostCents })
    if (ack.kind === 'promised') {
      const reserved = await asReserved(hands, errand, { found, ack, declined })
      const { reservation, lapsesAt } = ack
      tell?.({ is: 'reserved', ...whom, reservation, lapsesAt })
      return reserved
    }
    // R3: it may have taken the hold and lost its answer on the way.
    if (ack.kind === 'silent') await giveBack(hands, errand)
    const { code, sentence } = ack
    const how = ack.kind === 'silent' ? 'silent' : 'refused'
    const out = { ...whom, how, code, sentence } as const
    tell?.({ is: 'declined', declined: out })
    declined.push(out)
  }
  throw new HireFailure('nobody_accepted', about)
}

/** Where the other doors of an instance stand; undefined where its address does not tell. */
export const besideReserve = (callback = ''): string | undefined =>
  callback.endsWith(RESERVE_PATH) ? callback.slice(0, -RESERVE_PATH.length) : undefined

export type ReservedAt = {
  readonly kind: 'reserved'
  readonly place: Candidate
  readonly reservation: ReservationId
  /** Absent where it costs nothing. */
  readonly hold?: { readonly id: HoldId; readonly amountCents: number }
}

/**
 * Slot and price at one agent, before it is asked (AV-8). Undefined: it takes no reservations, or
 * the payer's own books are in the way, and they are asked in their own words.
 */
export async function reserveAt(
  hands: Hands,
  planner: Planner,
  place: Candidate,
  errand: Errand,
): Promise<ReservedAt | Out | { readonly kind: 'earlier' } | undefined> {
  const { clock } = hands
  const { asked, terms, tell } = errand
  const about = aboutOf(place)
  let last: Out | undefined
  for (const found of await takersOf(hands, place, errand)) {
    if (terms.signal?.aborted) throw new HireFailure('given_up', { task: asked.task })
    if (clock.now() >= terms.deadline) break
    tell?.({ is: 'reserving', ...about, instance: found.instance })
    const { priceCents: maxCostCents } = place
    const ack = await offer(hands, planner, { errand, found, slots: 1, maxCostCents })
    if (ack.kind === 'promised') return promisedAt(hands, place, errand, { found, ack })
    if (ack.kind === 'silent') {
      tell?.({ is: 'unknown', ...about })
      await giveBack(hands, errand)
      last = declinedBy(hands, place, { kind: 'silent', code: ack.code, detail: ack.sentence })
    } else if (ack.code === 'task_conflict') return { kind: 'earlier' }
    else if (ITS_OWN.includes(ack.code)) return undefined
    else {
      const { code: refusal, ...said } = ack
      const retryable = isRetryable(refusal)
      last = declinedBy(hands, place, { ...said, refusal, retryable, final: true })
    }
  }
  return last
}

/** The payer's own trouble: the next agent would hear the same. */
const ITS_OWN: readonly Refusal[] = ['account_unknown', 'funds_short', 'cap_reached']

async function promisedAt(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  { found, ack }: { readonly found: Taker; readonly ack: Extract<Acked, { kind: 'promised' }> },
): Promise<ReservedAt | { readonly kind: 'earlier' }> {
  const { reservation, lapsesAt } = ack
  const hold = await standingFor(hands, errand, place)
  if (hold === 'earlier') return { kind: 'earlier' }
  errand.tell?.({ is: 'reserved', ...aboutOf(place), reservation, lapsesAt })
  const endpoint = besideReserve(found.callback) ?? place.endpoint
  return {
    kind: 'reserved',
    place: { ...place, endpoint },
    reservation,
    ...(hold && { hold }),
  }
}

/** Those of its instances that take offers, the roomiest first. */
async function takersOf(
  { books }: Hands,
  { id, instance }: Candidate,
  errand: Errand,
): Promise<readonly Taker[]> {
  const sought = { agent: id, limit: MOST_INSTANCES }
  const all: readonly Taker[] = instance
    ? [instance]
    : await books.instances(sought, boundsOf(errand))
  return all.filter(({ callback, publicKey }) => callback !== undefined && publicKey !== undefined)
}

type Offering = {
  readonly errand: Errand
  readonly found: Taker
  readonly slots: number
  readonly maxCostCents: number
}

type Acked =
  | {
      readonly kind: 'promised'
      readonly reservation: ReservationId
      readonly lapsesAt: Instant
    }
  | { readonly kind: 'silent'; readonly code: string; readonly sentence: string }
  | {
      readonly kind: 'refused'
      readonly code: Refusal
      readonly sentence: string
      readonly retryAfterMs?: number
    }

async function offer(
  { door, clock }: Hands,
  { agent, key }: Planner,
  { errand, found, slots, maxCostCents }: Offering,
): Promise<Acked> {
  const { instance, callback, publicKey } = found
  if (callback === undefined || publicKey === undefined) {
    return { kind: 'refused', code: 'instance_unknown', sentence: 'it takes no offers over HTTP' }
  }
  const { asked, terms } = errand
  const now = clock.now()
  const message = encodeReserveOffer({
    type: 'reserve_slots',
    planner: agent,
    task: asked.task,
    instance,
    slots,
    deadline: terms.deadline,
    maxCostCents,
    correlation: asked.correlation,
    signedAt: now,
    expiresAt: now + OFFER_MS,
  })
  const to = { agent: found.agent, instance, callback }
  const answer = await door.offer(to, signMessage(message, key()), {
    timeoutMs: LIMITS.ackMs,
    ...(terms.signal && { signal: terms.signal }),
  })
  const ack = ackIn(answer, publicKey)
  if (ack === undefined || ack.instance !== instance || ack.task !== asked.task) {
    return { kind: 'silent', code: 'unintelligible', sentence: silenceIn(answer) }
  }
  if (ack.accepted) {
    return { kind: 'promised', reservation: ack.reservation, lapsesAt: ack.lapsesAt }
  }
  const { refusal: code, retryAfterMs } = ack
  const { sentence } = REFUSALS[code]
  return { kind: 'refused', code, sentence, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

/** R2. */
function ackIn(
  answer: HubAnswer,
  publicKey: NonNullable<InstanceFound['publicKey']>,
): ReserveAnswered | undefined {
  const body = answer.ok ? answer.body : answer.said
  const ack = readReserveAck(body)
  if (!ack.ok || typeof body !== 'object' || body === null) return undefined
  return verifyMessage(body, publicKey, createKeyring(1)).ok ? ack.value : undefined
}

function silenceIn(answer: HubAnswer): string {
  if (answer.ok) return 'no ack that its key has signed'
  return answer.kind === 'unanswered' ? answer.detail : answer.sentence
}

async function asReserved(
  hands: Hands,
  errand: Errand,
  taken: {
    readonly found: InstanceFound
    readonly ack: Extract<Acked, { kind: 'promised' }>
    readonly declined: readonly Declined[]
  },
): Promise<Reserved> {
  const { books } = hands
  const { asked, terms } = errand
  const { agent, instance, callback = '' } = taken.found
  const { reservation, lapsesAt } = taken.ack
  const priced = { id: agent, priceCents: terms.budgetCents }
  const hold = await standingFor(hands, errand, priced)
  if (hold === 'earlier') throw new HireFailure('outcome_unknown', { task: asked.task })
  const { name, endpoint = '' } = await books.agent(agent, boundsOf(errand))
  const beside = besideReserve(callback) ?? endpoint
  return {
    task: asked.task,
    agent,
    instance,
    reservation,
    lapsesAt,
    ...(hold && { hold }),
    place: { id: agent, name, endpoint: beside, priceCents: 0 },
    declined: taken.declined,
  }
}

/** What an offer that got no answer may have taken. */
async function giveBack(hands: Hands, errand: Errand): Promise<void> {
  const hold = await heldFor(hands, errand)
  if (hold === undefined) return
  if ((await hands.books.withdraw(hold, lastWords(hands, errand))) === 'free') return
  throw new HireFailure('outcome_unknown', { task: errand.asked.task, hold })
}

/**
 * What is held for a promise; undefined where it costs nothing. An instance keeps a promise for the
 * task whose credits were given back when an ack was lost: then they are put aside once more.
 */
async function standingFor(
  hands: Hands,
  errand: Errand,
  { id: agent, priceCents: amountCents }: Pick<Candidate, 'id' | 'priceCents'>,
): Promise<{ readonly id: HoldId; readonly amountCents: number } | undefined | 'earlier'> {
  if (amountCents === 0) return undefined
  const work = await hands.books.work(errand.asked.task, lastWords(hands, errand))
  const stands = work?.end === undefined && work?.state !== 'refused' && work?.agent === agent
  if (stands && work.hold !== undefined) return { id: work.hold, amountCents }
  const placed = await placeHold(hands, { id: agent, priceCents: amountCents }, errand)
  return placed.kind === 'placed' ? { id: placed.hold.id, amountCents } : 'earlier'
}

async function heldFor(hands: Hands, errand: Errand): Promise<HoldId | undefined> {
  const work = await hands.books.work(errand.asked.task, lastWords(hands, errand))
  return work?.hold
}

/** R4: nobody has to wait for the promise to lapse. */
export async function release(
  hands: Hands,
  errand: Errand,
  { hold, reservation }: Pick<Reserved, 'hold' | 'reservation'>,
): Promise<void> {
  const id = hold?.id ?? (reservation as string as HoldId)
  await hands.books.giveUp(id, lastWords(hands, errand))
}
