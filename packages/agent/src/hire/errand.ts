/**
 * One agent is asked for one piece of work, and followed until it has ended.
 *
 *   E1  The money is put aside before the agent is asked, and for its price alone (P-1).
 *   E2  Whoever refuses or is silent is declared out only once it can no longer be paid: its hold
 *       is withdrawn, or was never confirmed. One that has accepted is followed instead.
 *   E3  Free work has no hold that could tell. Nobody is asked for it who does not answer at all,
 *       and whoever was asked is asked again under the same key until it answers.
 *   E4  A result counts when the agent signed it, or when the hub tells it, which saw the
 *       signature. What is not known by the deadline is called off; if that is not known either,
 *       the outcome is unknown, and is said to be (P-3).
 */
import type { HoldSeen } from '@chimera/dialects/chimera'
import type { Fault } from '@chimera/domain/agent/condition'
import type { AgentId, HoldId, Instant, OwnerId } from '@chimera/domain/ids'
import { type BackoffPlan, backoffMs } from '@chimera/domain/voice/backoff'
import type { End } from '@chimera/domain/work/result'
import type { WorkAsked } from '@chimera/domain/work/work'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Books, Bounds } from './books.ts'
import type { createBelief, Door, Looked, Place, Refusing, Silent } from './door.ts'
import { type Declined, HireFailure } from './failure.ts'
import type { KeysOf } from './keys.ts'
import type { Terms } from './terms.ts'

export type Hands = {
  readonly books: Books
  readonly door: Door
  readonly keysOf: KeysOf
  readonly believe: ReturnType<typeof createBelief>
  readonly clock: Clock
  readonly chance: Chance
  /** Who pays, where the hirer says so; else the hub knows by the token or the key. */
  readonly payer?: OwnerId
}

/** What is carried from one agent to the next. */
export type Errand = { readonly asked: WorkAsked; readonly terms: Terms }

export type Candidate = Place & { readonly name: string; readonly priceCents: number }

export type Ended = {
  readonly kind: 'ended'
  readonly agent: AgentId
  readonly how: End
  readonly output?: Readonly<Record<string, unknown>>
  readonly fault?: Fault
  /** The agent's signed result, where it came from the agent itself. */
  readonly receipt?: object
}

export type Out = {
  readonly kind: 'declined'
  readonly declined: Declined
  /** When it may say otherwise; absent: asking again will not help. */
  readonly retryAt?: Instant
}

export type Begun =
  | { readonly kind: 'accepted'; readonly hold?: HoldSeen }
  | Out
  /** Somebody was asked under this name before (books.ts). */
  | { readonly kind: 'earlier' }

/** OC-11: whoever has not answered within this does not keep to the protocol. */
const ANSWER_MS = 10_000
/** One look; the agent may use it to wait for the end. */
const LOOK_MS = 30_000
/** For calling off and for the last words with the hub, when the hirer's own time is over. */
const LAST_MS = 5_000
/** From a result that is there at once to one that takes minutes; chance keeps a crowd apart. */
const LOOKS: BackoffPlan = { firstMs: 20, factor: 1.6, mostMs: 2_000, spread: 0.3 }
/** When somebody who refuses for now is worth asking again, if it does not say. */
const AGAIN_MS = 1_000

export async function begin(hands: Hands, place: Candidate, errand: Errand): Promise<Begun> {
  const placed = place.priceCents > 0 ? await placeHold(hands, place, errand) : undefined
  if (placed?.kind === 'begun') return { kind: 'earlier' }
  return knock(hands, place, errand, placed?.hold)
}

/** Asks, with the money put aside already or no money wanted. */
export async function knock(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  hold?: HoldSeen,
): Promise<Exclude<Begun, { kind: 'earlier' }>> {
  if (hold === undefined) return beginFree(hands, place, errand)
  const answer = await askTwice(hands, place, errand)
  if (answer.kind === 'accepted' || answer.kind === 'deferred') return { kind: 'accepted', hold }
  if (await isBound(hands, place, errand, { hold, answer })) return { kind: 'accepted', hold }
  if (errand.terms.signal?.aborted) throw new HireFailure('given_up', { task: errand.asked.task })
  return declined(hands, place, answer)
}

function placeHold(hands: Hands, { id, priceCents }: Candidate, errand: Errand) {
  const { books, chance, payer } = hands
  const { terms, asked } = errand
  const { deadline, parent } = terms
  return books.place(
    {
      hold: chance.uuid() as HoldId,
      ...(payer !== undefined && { payer }),
      agent: id,
      task: asked.task,
      amountCents: priceCents,
      lapsesAt: deadline,
      deadline,
      ...(parent !== undefined && { parent }),
    },
    boundsOf(errand),
  )
}

/** E2. Where the hub cannot tell, nobody can: unless the agent itself has said no. */
async function isBound(
  hands: Hands,
  { id }: Candidate,
  errand: Errand,
  { hold, answer }: { readonly hold: HoldSeen; readonly answer: Refusing | Silent },
): Promise<boolean> {
  try {
    return (await hands.books.withdraw(hold.id, lastWords(hands, errand))) === 'bound'
  } catch (error) {
    if (answer.kind === 'refused' || !(error instanceof HireFailure)) throw error
    const about = { task: errand.asked.task, agent: id, hold: hold.id, detail: error.detail }
    throw new HireFailure('outcome_unknown', about)
  }
}

/** A connection that broke may have carried the ask; the same one again does no harm (D3). */
async function askTwice(hands: Hands, place: Candidate, errand: Errand) {
  const answer = await ask(hands, place, errand)
  const broke = answer.kind === 'silent' && answer.code === 'network'
  return broke && !errand.terms.signal?.aborted ? ask(hands, place, errand) : answer
}

function ask({ door, clock }: Hands, place: Candidate, { asked, terms }: Errand) {
  const leftMs = terms.deadline - clock.now()
  // Half of what is left: a silent one must not use up the time of the next.
  const timeoutMs = Math.max(1, Math.min(ANSWER_MS, leftMs / 2))
  return door.ask(place, asked, { timeoutMs, ...(terms.signal && { signal: terms.signal }) })
}

/** E3. */
async function beginFree(
  hands: Hands,
  place: Candidate,
  errand: Errand,
): Promise<Exclude<Begun, { kind: 'earlier' }>> {
  const { door, clock } = hands
  const { deadline, signal } = errand.terms
  const timeoutMs = Math.max(1, Math.min(ANSWER_MS, (deadline - clock.now()) / 2))
  if (!(await door.isThere(place, { timeoutMs, ...(signal && { signal }) }))) {
    return declined(hands, place, { kind: 'silent', code: 'timeout', detail: 'nobody is there' })
  }
  for (let failures = 1; ; failures += 1) {
    const answer = await ask(hands, place, errand)
    if (answer.kind === 'refused') return declined(hands, place, answer)
    if (answer.kind !== 'silent') return { kind: 'accepted' }
    // Whether it was asked is not known; `follow` finds out, or calls it off.
    if (!(await pause(hands, errand, failures))) return { kind: 'accepted' }
  }
}

function declined({ clock }: Hands, { id, name }: Candidate, answer: Refusing | Silent): Out {
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

/** Waits for the end of what this agent has accepted, or may have. */
export async function follow(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  hold?: Pick<HoldSeen, 'id'>,
): Promise<Ended | Out> {
  const { door, clock, books } = hands
  const { terms, asked } = errand
  for (let looks = 1; ; looks += 1) {
    const leftMs = terms.deadline - clock.now()
    if (leftMs <= 0 || terms.signal?.aborted) return callOff(hands, place, errand, hold)
    const limits = { timeoutMs: Math.min(leftMs, LOOK_MS) }
    const looked = await door.look(place, asked, {
      ...limits,
      ...(terms.signal && { signal: terms.signal }),
    })
    const ended = await endIn(hands, place, looked)
    if (ended !== undefined) return ended
    if (looked.kind === 'refused' && looked.final) {
      const free = !hold || (await books.withdraw(hold.id, boundsOf(errand))) === 'free'
      if (free) return declined(hands, place, looked)
    }
    if (looked.kind !== 'accepted' && looked.kind !== 'deferred') {
      const told = await toldByHub(hands, place, errand, boundsOf(errand)).catch(() => undefined)
      if (told !== undefined) return told
    }
    await pause(hands, errand, looks)
  }
}

/** E4: the agent's word, if it is the agent's. */
async function endIn(
  { keysOf, believe, clock }: Hands,
  { id }: Candidate,
  looked: Looked,
): Promise<Ended | undefined> {
  if (looked.kind !== 'ended') return undefined
  const { report, message } = looked
  const at = report.endedAt ?? clock.now()
  for (const fresh of [false, true]) {
    const history = await keysOf(id, fresh)
    if (history === undefined || !believe(message, { history, at })) continue
    const { how, output, fault } = report
    const given = { ...(output && { output }), ...(fault && { fault }) }
    return { kind: 'ended', agent: id, how, ...given, receipt: message }
  }
  return undefined
}

/** What the hub knows, who has seen the agent's signature. Undefined while it has not ended. */
export async function toldByHub(
  { books }: Hands,
  { id }: Pick<Candidate, 'id'>,
  { asked }: Pick<Errand, 'asked'>,
  bounds: Bounds,
): Promise<Ended | undefined> {
  const work = await books.work(asked.task, bounds)
  // A result that is paid but whose content is not there yet, or no more, is no end to hand on.
  if (work?.end === undefined || work.agent !== id) return undefined
  if (work.end === 'done' && work.output === undefined) return undefined
  const { end: how, output, fault } = work
  return {
    kind: 'ended',
    agent: id,
    how,
    ...(output && { output }),
    ...(fault && { fault }),
  }
}

/** The hirer's time is over, or its patience. Whatever the agent has done by now still counts. */
export async function callOff(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  hold?: Pick<HoldSeen, 'id'>,
): Promise<Ended> {
  const { door, books } = hands
  const { asked, terms } = errand
  const limits = { timeoutMs: LAST_MS }
  const bounds = lastWords(hands, errand)
  const why = terms.signal?.aborted ? 'given_up' : 'deadline_passed'
  const about = { task: asked.task, agent: place.id, ...(hold && { hold: hold.id }) }

  const cancelled = await door.cancel(place, asked, limits)
  const said = await endIn(hands, place, cancelled)
  const looked = said ?? (await endIn(hands, place, await door.look(place, asked, limits)))
  const told = looked ?? (await toldByHub(hands, place, errand, bounds).catch(() => undefined))
  if (told?.how === 'done') return told
  if (told !== undefined) throw new HireFailure(why, about)
  // Nobody tells how it ended: if it can pay nobody any more, it is over all the same.
  const over = hold && (await books.withdraw(hold.id, bounds).catch(() => 'bound')) === 'free'
  throw new HireFailure(over ? why : 'outcome_unknown', about)
}

/** False: there is no time left for another look. */
async function pause(hands: Hands, { terms }: Errand, failures: number): Promise<boolean> {
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

export const boundsOf = ({ asked, terms }: Errand): Bounds => ({
  correlation: asked.correlation,
  deadline: terms.deadline,
  ...(terms.signal && { signal: terms.signal }),
})

/** Giving up is told to the end: neither the signal nor the deadline cuts it short. */
export const lastWords = ({ clock }: Hands, { asked, terms }: Errand): Bounds => ({
  correlation: asked.correlation,
  deadline: Math.max(terms.deadline, clock.now() + LAST_MS),
})
