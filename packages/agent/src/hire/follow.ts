/**
 * Work that an agent has accepted, or may have, is followed until it has ended.
 *
 *   W1  A result counts when the agent signed it, or when the hub tells it, which saw the
 *       signature.
 *   W2  What is not known by the deadline is called off; if that is not known either, the outcome
 *       is unknown, and is said to be (P-3).
 *   W3  Progress is heard beside the looking, and decides nothing.
 *   W4  Who is silent may be elsewhere by now: an agent that was started again says where it is.
 */
import { tellAnswer } from './begin.ts'
import type { Bounds } from './books.ts'
import type { Looked } from './door.ts'
import {
  aboutOf,
  boundsOf,
  type Candidate,
  declinedBy,
  type Ended,
  type Errand,
  foundAgain,
  type Hands,
  type HoldNamed,
  LAST_MS,
  lastWords,
  type Out,
  pause,
  signalOf,
} from './errand.ts'
import { HireFailure } from './failure.ts'
import { callOffJob, followJob } from './jobs.ts'
import { listen } from './live.ts'

/** One look; the agent may use it to wait for the end. */
const LOOK_MS = 30_000

export async function follow(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  { hold, looked }: { readonly hold?: HoldNamed | undefined; readonly looked?: Looked | undefined },
): Promise<Ended | Out> {
  const ended = looked && (await endIn(hands, place, looked))
  if (ended !== undefined) return ended
  if (place.byJobs) return followJob(hands, place, errand, hold)
  const listening = listen(hands, place, errand)
  try {
    const came = await watch(hands, place, errand, hold)
    await listening?.heard()
    return came
  } finally {
    listening?.stop()
  }
}

async function watch(
  hands: Hands,
  found: Candidate,
  errand: Errand,
  hold?: HoldNamed,
): Promise<Ended | Out> {
  const { door, clock, books } = hands
  const { terms, asked } = errand
  let place = found
  let waits = false
  for (let looks = 1; ; looks += 1) {
    const leftMs = terms.deadline - clock.now()
    if (leftMs <= 0 || terms.signal?.aborted) return callOff(hands, place, errand, hold)
    const limits = { timeoutMs: Math.min(leftMs, LOOK_MS), ...signalOf(errand) }
    const looked = await door.look(place, asked, limits)
    const ended = await endIn(hands, place, looked)
    if (ended !== undefined) return ended
    if (looked.kind === 'elsewhere' && place.unsure) {
      return followJob(hands, { ...place, byJobs: true }, errand, hold)
    }
    if (looked.kind === 'refused' && looked.final) {
      const free = !hold || (await books.withdraw(hold.id, boundsOf(errand))) === 'free'
      if (free) return declinedBy(hands, place, looked)
    }
    // It bound the hold and then lost the ask with the hub's answer: the same one again (D3).
    if (looked.kind === 'refused' && looked.refusal === 'work_unknown' && hold !== undefined) {
      await door.ask(place, asked, limits)
    }
    if (looked.kind === 'accepted' || looked.kind === 'deferred') {
      // Whoever listens hears it by itself.
      if (waits && looked.kind === 'accepted') tellAnswer(errand, place, looked)
      waits = looked.kind === 'deferred'
    } else {
      const told = await toldByHub(hands, place, errand, boundsOf(errand)).catch(() => undefined)
      if (told !== undefined) return told
      if (looks === 1) errand.tell?.({ is: 'unknown', ...aboutOf(place) })
      if (looked.kind === 'silent') place = await foundAgain(hands, place, errand)
    }
    await pause(hands, errand, looks)
  }
}

/** W1: the agent's word, if it is the agent's. */
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
  hold?: HoldNamed,
): Promise<Ended> {
  if (place.byJobs) return callOffJob(hands, place, errand, hold)
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
  const paid = hold !== undefined && hold.amountCents !== 0
  const over = paid && (await books.withdraw(hold.id, bounds).catch(() => 'bound')) === 'free'
  throw new HireFailure(over ? why : 'outcome_unknown', about)
}
