/**
 * One agent is asked for one piece of work.
 *
 *   E1  The money is put aside before the agent is asked, and for its price alone (P-1). Where the
 *       agent takes reservations, and the hirer is an agent that may make them, slot and money are
 *       taken together (AV-8).
 *   E2  Whoever refuses or is silent is declared out only once it can no longer be paid: its hold
 *       is withdrawn, or was never confirmed. One that has accepted is followed instead.
 *   E3  Free work has no price that could tell. Nobody is asked for it who does not answer at all,
 *       and whoever was asked is asked again under the same key until it answers. An owner without
 *       an agent vouches for it by a hold of nothing (0053).
 *   E4  Whoever has no door for collaborations has one for jobs (jobs.ts).
 */
import type { HoldSeen } from '@chimera/dialects/chimera'
import { writeCents } from '@chimera/dialects/wire'
import type { HoldId } from '@chimera/domain/ids'
import type { Answered, Refusing, Silent } from './door.ts'
import {
  aboutOf,
  answerMs,
  type Begun,
  type Candidate,
  declinedBy,
  type Errand,
  foundAgain,
  type Hands,
  type HoldNamed,
  lastWords,
  pause,
  placeHold,
  signalOf,
} from './errand.ts'
import { HireFailure } from './failure.ts'
import { type ReservedAt, reserveAt } from './reserve.ts'

type Knocked = Exclude<Begun, { kind: 'earlier' }>

export async function begin(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  reserves: boolean,
): Promise<Begun> {
  const { planner } = hands
  // A reservation is paid by the planner's owner: what is cut out of a parent is held by itself.
  if (reserves && planner !== undefined && errand.terms.parent === undefined) {
    const reserved = await reserveAt(hands, planner, place, errand)
    if (reserved?.kind === 'reserved') return askReserved(hands, reserved, errand)
    if (reserved !== undefined) return reserved
  }
  const placed = (await isHeld(hands, place)) ? await placeHold(hands, place, errand) : undefined
  if (placed?.kind === 'begun') return { kind: 'earlier' }
  return knock(hands, place, errand, placed?.hold)
}

/** What is reserved and not used is given back at once: with its hold, or else by its own name. */
async function askReserved(
  hands: Hands,
  { place, hold, reservation }: ReservedAt,
  errand: Errand,
): Promise<Knocked> {
  const begun = await knock(hands, place, errand, hold)
  if (begun.kind === 'declined' && hold === undefined) {
    const id = reservation as string as HoldId
    // If nobody hears it, it lapses within half a minute.
    await hands.books.giveUp(id, lastWords(hands, errand)).catch(() => undefined)
  }
  return begun
}

/** E3: at a hub that asks for proof an owner has nothing but a hold to show. */
async function isHeld({ planner, books }: Hands, { priceCents }: Candidate): Promise<boolean> {
  return priceCents > 0 || (planner === undefined && !(await books.isOpen()))
}

/** Asks, with the money put aside already or no money wanted. */
export async function knock(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  hold?: HoldNamed,
): Promise<Knocked> {
  errand.tell?.({ is: 'asked', ...aboutOf(place), price: writeCents(place.priceCents) })
  const held = hold && { hold }
  if (hold === undefined || hold.amountCents === 0) return beginFree(hands, place, errand, hold)
  const answer = await askTwice(hands, place, errand)
  if (answer.kind === 'elsewhere') return byJob(place, hold)
  if (answer.kind === 'accepted' || answer.kind === 'deferred') {
    return acceptedBy(errand, place, answer, hold)
  }
  if (answer.kind === 'silent') errand.tell?.({ is: 'unknown', ...aboutOf(place) })
  if (await isBound(hands, place, errand, { hold, answer })) {
    errand.tell?.({ is: 'accepted', ...aboutOf(place) })
    return { kind: 'accepted', place, ...held }
  }
  if (errand.terms.signal?.aborted) throw new HireFailure('given_up', { task: errand.asked.task })
  return declinedBy(hands, place, answer)
}

const byJob = (place: Candidate, hold?: HoldNamed): Knocked => ({
  kind: 'accepted',
  place: { ...place, byJobs: true },
  ...(hold && { hold }),
})

function acceptedBy(
  errand: Errand,
  place: Candidate,
  answer: Extract<Answered, { kind: 'accepted' | 'deferred' }>,
  hold?: HoldNamed,
): Knocked {
  tellAnswer(errand, place, answer)
  const { removedAt } = answer
  const looked = answer.kind === 'accepted' ? answer.looked : undefined
  return {
    kind: 'accepted',
    place,
    ...(hold && { hold }),
    ...(looked && { looked }),
    ...(removedAt !== undefined && { removedAt }),
  }
}

export function tellAnswer(
  { tell, asked }: Errand,
  place: Candidate,
  answer: Extract<Answered, { kind: 'accepted' | 'deferred' }>,
): void {
  const about = aboutOf(place)
  if (answer.kind === 'accepted') tell?.({ is: 'accepted', ...about })
  else tell?.({ is: 'deferred', ...about, until: answer.until })
  const { removedAt } = answer
  if (removedAt !== undefined) {
    tell?.({ is: 'deprecated', ...about, skill: asked.skill, removedAt })
  }
}

/** E2. Where the hub cannot tell, nobody can: unless the agent itself has said no. */
async function isBound(
  hands: Hands,
  { id }: Candidate,
  errand: Errand,
  { hold, answer }: { readonly hold: Pick<HoldSeen, 'id'>; readonly answer: Refusing | Silent },
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

function ask(hands: Hands, place: Candidate, errand: Errand) {
  // Whoever shows how it goes wants to hear that it is accepted, before it has ended.
  const waits = errand.waits === true && errand.tell === undefined
  const limits = { timeoutMs: answerMs(hands, errand), waits, ...signalOf(errand) }
  return hands.door.ask(place, errand.asked, limits)
}

/** E3. A hold of nothing tells who asks, not whether it is at work. */
async function beginFree(
  hands: Hands,
  found: Candidate,
  errand: Errand,
  hold?: HoldNamed,
): Promise<Knocked> {
  const { door, books } = hands
  let place = found
  const held = hold && { hold }
  const out = async (answer: Refusing | Silent): Promise<Knocked> => {
    // Nothing is owed, and the next one is asked under the same name.
    if (hold !== undefined) await books.withdraw(hold.id, lastWords(hands, errand))
    return declinedBy(hands, place, answer)
  }
  const timeoutMs = answerMs(hands, errand)
  if (!(await door.isThere(place, { timeoutMs, ...signalOf(errand) }))) {
    return out({ kind: 'silent', code: 'timeout', detail: 'nobody is there' })
  }
  for (let failures = 1; ; failures += 1) {
    const answer = await ask(hands, place, errand)
    if (answer.kind === 'refused') return out(answer)
    if (answer.kind === 'elsewhere') return byJob(place, hold)
    if (answer.kind !== 'silent') {
      return acceptedBy(errand, place, answer, hold)
    }
    if (failures === 1) errand.tell?.({ is: 'unknown', ...aboutOf(place) })
    // Whether it was asked is not known; `follow` finds out, or calls it off.
    if (!(await pause(hands, errand, failures))) return { kind: 'accepted', place, ...held }
    place = await foundAgain(hands, place, errand)
  }
}
