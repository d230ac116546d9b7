/**
 * What is carried from one agent to the next while somebody is found for a piece of work, and what
 * can come of asking one of them.
 */
import type { HoldSeen } from '@chimera/dialects/chimera'
import type { InstanceFound } from '@chimera/dialects/moltbook'
import type { Fault } from '@chimera/domain/agent/condition'
import type { AgentId, HoldId, Instant, OwnerId } from '@chimera/domain/ids'
import { type BackoffPlan, backoffMs } from '@chimera/domain/voice/backoff'
import type { End } from '@chimera/domain/work/result'
import type { WorkAsked } from '@chimera/domain/work/work'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { KeyPair } from '@chimera/identity/keys'
import type { Books, Bounds } from './books.ts'
import type { createBelief, Door, Looked, Place, Refusing, Silent } from './door.ts'
import type { Declined } from './failure.ts'
import type { KeysOf } from './keys.ts'
import type { Tell } from './steps.ts'
import type { Terms } from './terms.ts'

/** Who reserves: an offer is signed by an agent (AV-8). */
export type Planner = { readonly agent: AgentId; readonly key: () => KeyPair }

export type Hands = {
  readonly books: Books
  readonly door: Door
  readonly keysOf: KeysOf
  readonly believe: ReturnType<typeof createBelief>
  readonly clock: Clock
  readonly chance: Chance
  /** Who pays, where the hirer says so; else the hub knows by the token or the key. */
  readonly payer?: OwnerId
  readonly planner?: Planner
}

export type Errand = {
  readonly asked: WorkAsked
  readonly terms: Terms
  /** Somebody wants to see how it goes. */
  readonly tell?: Tell
  /** Only its end is wanted. */
  readonly waits?: boolean
}

/** One that takes offers, as far as an offer needs to know it. */
export type Taker = Pick<InstanceFound, 'agent' | 'instance' | 'callback' | 'publicKey'>

export type Candidate = Place & {
  readonly name: string
  /** This one and no other of the agent's, where it was found as such. */
  readonly instance?: Taker
  /** What is put aside for it: its price, or the budget where nobody told the price. */
  readonly priceCents: number
  /** By which door it was asked is not known any more; an earlier run did. */
  readonly unsure?: boolean
}

/** What it was asked for, where that is known: the price, while the books are silent. */
export type HoldNamed = Pick<HoldSeen, 'id'> & { readonly amountCents?: number }

export type Ended = {
  readonly kind: 'ended'
  readonly agent: AgentId
  readonly how: End
  readonly output?: Readonly<Record<string, unknown>>
  readonly fault?: Fault
  /** The agent's signed result, where it came from the agent itself. */
  readonly receipt?: object
  /** Nobody but the hirer pays for it: Chorus knows no holds. What the agent charges. */
  readonly chargesCents?: number
}

export type Out = {
  readonly kind: 'declined'
  readonly declined: Declined
  /** When it may say otherwise; absent: asking again will not help. */
  readonly retryAt?: Instant
}

export type Begun =
  /** The place may have become another one: the instance that has the slot, or the other door. */
  | {
      readonly kind: 'accepted'
      readonly place: Candidate
      readonly hold?: HoldNamed
      /** It has ended already. */
      readonly looked?: Looked
      /** When the version that was asked for is gone (SK-5). */
      readonly removedAt?: Instant
    }
  | Out
  /** Somebody was asked under this name before (books.ts). */
  | { readonly kind: 'earlier' }

/** OC-11: whoever has not answered within this does not keep to the protocol. */
const ANSWER_MS = 10_000
/** For calling off and for the last words with the hub, when the hirer's own time is over. */
export const LAST_MS = 5_000
/** From a result that is there at once to one that takes minutes; chance keeps a crowd apart. */
const LOOKS: BackoffPlan = { firstMs: 20, factor: 1.6, mostMs: 2_000, spread: 0.3 }
/** When somebody who refuses for now is worth asking again, if it does not say. */
const AGAIN_MS = 1_000

export function declinedBy(
  { clock }: Pick<Hands, 'clock'>,
  { id, name }: Pick<Candidate, 'id' | 'name'>,
  answer: Refusing | Silent,
): Out {
  if (answer.kind === 'silent') {
    const { code, detail } = answer
    return {
      kind: 'declined',
      declined: { agent: id, name, how: 'silent', code, sentence: detail },
    }
  }
  const { refusal: code, sentence, retryable, retryAfterMs = AGAIN_MS } = answer
  return {
    kind: 'declined',
    declined: { agent: id, name, how: 'refused', code, sentence },
    ...(retryable && { retryAt: clock.now() + retryAfterMs }),
  }
}

/** P-1: for one agent, before it is asked; it lapses with the deadline. */
export function placeHold(
  { books, chance, payer }: Hands,
  { id: agent, priceCents: amountCents }: Pick<Candidate, 'id' | 'priceCents'>,
  errand: Errand,
) {
  const { terms, asked } = errand
  const { deadline, parent } = terms
  const hold = chance.uuid() as HoldId
  return books.place(
    {
      hold,
      agent,
      amountCents,
      task: asked.task,
      lapsesAt: deadline,
      deadline,
      ...(payer !== undefined && { payer }),
      ...(parent !== undefined && { parent }),
    },
    boundsOf(errand),
  )
}

/** Half of what is left: a silent one must not use up the time of the next. */
export function answerMs({ clock }: Hands, { terms }: Errand): number {
  return Math.max(1, Math.min(ANSWER_MS, (terms.deadline - clock.now()) / 2))
}

/** False: there is no time left for another look. */
export async function pause(hands: Hands, { terms }: Errand, failures: number): Promise<boolean> {
  const { clock, chance } = hands
  const leftMs = terms.deadline - clock.now()
  const ms = backoffMs(LOOKS, { failures, chance: chance.fraction() })
  try {
    await clock.sleep(Math.max(0, Math.min(ms, leftMs)), terms.signal)
  } catch {
    return false
  }
  return clock.now() < terms.deadline
}

/** Where it is now, as the hub knows it: one that was started again may listen elsewhere. */
export async function foundAgain(
  { books }: Pick<Hands, 'books'>,
  place: Candidate,
  errand: Errand,
): Promise<Candidate> {
  const known = await books.agent(place.id, boundsOf(errand)).catch(() => undefined)
  return known?.endpoint === undefined ? place : { ...place, endpoint: known.endpoint }
}

export const boundsOf = ({ asked, terms }: Errand): Bounds => ({
  correlation: asked.correlation,
  deadline: terms.deadline,
  ...(terms.signal && { signal: terms.signal }),
})

/** Giving up is told to the end: neither the signal nor the deadline cuts it short. */
export const lastWords = ({ clock }: Pick<Hands, 'clock'>, { asked, terms }: Errand): Bounds => ({
  correlation: asked.correlation,
  deadline: Math.max(terms.deadline, clock.now() + LAST_MS),
})

/** The signal, where there is one, as calls take it. */
export const signalOf = ({ terms: { signal } }: Errand) => (signal ? { signal } : {})

export const aboutOf = ({ id, name }: Pick<Candidate, 'id' | 'name'>) => ({ agent: id, name })
