/**
 * The handshake from the planner's side (AV-8): a signed offer takes a slot at an instance and a
 * hold at the hub, or neither; both lapse by themselves.
 *
 *   R1  Only who hires as an agent reserves: the offer is the payer's mandate, signed by its agent.
 *   R2  An ack counts if it came in time, is for this offer, and was signed by the instance's key.
 *   R3  Whoever refuses or is silent makes room for the next (AV-9), once nothing is held for it.
 *   R4  What is reserved is used by asking under the same task, and given back otherwise.
 */
import type { HoldSeen } from '@chimera/dialects/chimera'
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
import { createKeyring } from '@chimera/identity/keyring'
import type { KeyPair } from '@chimera/identity/keys'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import type { HubAnswer } from '../hub/client.ts'
import { boundsOf, type Candidate, type Errand, type Hands, lastWords } from './errand.ts'
import { type Declined, HireFailure } from './failure.ts'

/** Who reserves. */
export type Planner = { readonly agent: AgentId; readonly key: () => KeyPair }

export type Reserved = {
  readonly task: TaskId
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly reservation: ReservationId
  readonly lapsesAt: Instant
  /** Absent where it costs nothing. */
  readonly hold?: HoldSeen
  /** Where the work is asked for. */
  readonly place: Candidate
  readonly declined: readonly Declined[]
}

/** Two acks' time: what is shown to the hub later than that is not believed any more. */
const OFFER_MS = 2 * LIMITS.ackMs
/** Of those that have room, the ones that are asked in turn. */
const MOST_OFFERS = 20
/** Where agents of ours take offers; their other doors stand beside it. */
const RESERVE_PATH = '/moltbook/v1/reserve'

export async function reserve(
  hands: Hands,
  planner: Planner,
  errand: Errand,
  slots: number,
): Promise<Reserved> {
  const { books, clock } = hands
  const { asked, terms } = errand
  const declined: Declined[] = []
  const about = { task: asked.task, declined }
  const sought = { skill: asked.skill, slots, limit: MOST_OFFERS }
  const instances = await books.instances(sought, boundsOf(errand))
  if (instances.length === 0) throw new HireFailure('nobody_found', about)
  for (const found of instances) {
    if (terms.signal?.aborted) throw new HireFailure('given_up', about)
    if (clock.now() >= terms.deadline) throw new HireFailure('deadline_passed', about)
    const ack = await offer(hands, planner, { errand, found, slots })
    if (ack.kind === 'promised') return asReserved(hands, errand, { found, ack, declined })
    // R3: it may have taken the hold and lost its answer on the way.
    if (ack.kind === 'silent') await giveBack(hands, errand)
    const { agent } = found
    const how = ack.kind === 'silent' ? 'silent' : 'refused'
    declined.push({ agent, name: found.instance, how, code: ack.code, sentence: ack.sentence })
  }
  throw new HireFailure('nobody_accepted', about)
}

type Offering = {
  readonly errand: Errand
  readonly found: InstanceFound
  readonly slots: number
}

type Acked =
  | {
      readonly kind: 'promised'
      readonly reservation: ReservationId
      readonly lapsesAt: Instant
    }
  | { readonly kind: 'refused' | 'silent'; readonly code: string; readonly sentence: string }

async function offer(
  { door, clock }: Hands,
  { agent, key }: Planner,
  { errand, found, slots }: Offering,
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
    maxCostCents: terms.budgetCents,
    correlation: asked.correlation,
    signedAt: now,
    expiresAt: now + OFFER_MS,
  })
  const answer = await door.post(callback, signMessage(message, key()), {
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
  return { kind: 'refused', code: ack.refusal, sentence: 'it declined the offer' }
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
  const id = terms.budgetCents === 0 ? undefined : await heldFor(hands, errand)
  const hold = id && (await books.hold(id, boundsOf(errand)))
  const { name, endpoint = '' } = await books.agent(agent, boundsOf(errand))
  const beside = callback.endsWith(RESERVE_PATH)
    ? callback.slice(0, -RESERVE_PATH.length)
    : endpoint
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
