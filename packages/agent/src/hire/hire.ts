/**
 * Hiring from end to end: found, asked, followed, paid. One call, one outcome.
 *
 *   H1  One task at a time has one agent. The next one is asked when the one before is out (AV-9),
 *       never while it may still be at work.
 *   H2  Budget and deadline are for all attempts together. At most one hold is in force, and at
 *       most one is ever captured, so a hire spends at most the price of whoever did it.
 *   H3  All attempts go under one name. The books pay for it once, whoever repeats what (CH-5).
 *   H4  Whoever names its hire finds what an earlier run of it began, before anybody is asked.
 *   H5  A failure that the agent reports ends the hire: it may have done half of something, and
 *       whether that may be done again is for the hirer to say.
 */
import { writeCents } from '@chimera/dialects/wire'
import type { AgentId, HoldId, Instant, TaskId } from '@chimera/domain/ids'
import { begin, knock } from './begin.ts'
import { findCandidates } from './candidates.ts'
import {
  aboutOf,
  type Begun,
  boundsOf,
  type Candidate,
  type Ended,
  type Errand,
  type Hands,
  type HoldNamed,
  lastWords,
  type Out,
} from './errand.ts'
import { type Declined, HireFailure } from './failure.ts'
import { callOff, follow, toldByHub } from './follow.ts'
import type { Reserved } from './reserve.ts'

export type Hired = {
  readonly output: Readonly<Record<string, unknown>>
  /** In credits, with all that the agent hired for it. */
  readonly cost: number
  readonly task: TaskId
  readonly agent: AgentId
  readonly hold?: HoldId
  /** As the agent signed it; absent where only the hub could tell, and of Chorus jobs. */
  readonly receipt?: object
  /** Who was asked before and did not do it. */
  readonly declined: readonly Declined[]
  /** The version that was asked for is deprecated, and gone then (SK-5). */
  readonly removedAt?: Instant
}

export async function hire(hands: Hands, errand: Errand): Promise<Hired> {
  const { clock } = hands
  const { asked, terms, tell } = errand
  const declined: Declined[] = []
  const about = { task: asked.task, declined }
  if (terms.named) {
    const found = await resume(hands, errand, declined)
    if (found !== undefined) return found
  }
  const out = new Set<string>()
  for (let round = 1; ; round += 1) {
    const came = await goRound(hands, errand, { round, out, declined })
    if (came.hired !== undefined) return came.hired
    if (came.asked === 0) {
      throw new HireFailure(declined.length === 0 ? 'nobody_found' : 'nobody_accepted', about)
    }
    // Somebody who refused for now may say yes later, if there is a later.
    const { againAt } = came
    if (againAt >= terms.deadline) throw new HireFailure('nobody_accepted', about)
    tell?.({ is: 'waiting', until: againAt })
    await clock.sleep(againAt - clock.now(), terms.signal).catch(() => {
      throw new HireFailure('given_up', about)
    })
  }
}

type Round = {
  readonly round: number
  /** Those who need not be asked again, by the name of the agent or the instance. */
  readonly out: Set<string>
  readonly declined: Declined[]
}
type Rounded = { readonly hired?: Hired; readonly asked: number; readonly againAt: number }

/** Everybody once, page by page. */
async function goRound(hands: Hands, errand: Errand, trip: Round): Promise<Rounded> {
  const { clock } = hands
  const { asked, terms, tell } = errand
  const { round, out, declined } = trip
  const about = { task: asked.task, declined }
  // Who is full takes no reservations, but may let the work wait.
  const reserves = terms.reserves && round === 1
  const seen = new Set<string>()
  let againAt = Number.POSITIVE_INFINITY
  tell?.({ is: 'looking', skill: asked.skill })
  for (let page = 0; ; page += 1) {
    const { candidates, more } = await findCandidates(hands, errand, page)
    // Ranks move while pages are turned: nobody is asked twice for it.
    const fresh = candidates.filter((each) => !out.has(nameOf(each)) && !seen.has(nameOf(each)))
    tell?.({ is: 'found', candidates: fresh.map(({ ranked }) => ranked), more })
    for (const { ranked: _, ...place } of fresh) {
      seen.add(nameOf(place))
      if (terms.signal?.aborted) throw new HireFailure('given_up', about)
      if (clock.now() >= terms.deadline) throw new HireFailure('deadline_passed', about)
      const came = await attempt(hands, place, errand, { declined, reserves })
      if (came.kind === 'hired') return { hired: came.hired, asked: seen.size, againAt }
      tell?.({ is: 'declined', declined: came.declined })
      declined.push(came.declined)
      if (came.retryAt === undefined) out.add(nameOf(place))
      againAt = Math.min(againAt, came.retryAt ?? againAt)
    }
    if (terms.signal?.aborted) throw new HireFailure('given_up', about)
    if (!more) return { asked: seen.size, againAt }
  }
}

const nameOf = ({ id, instance }: Candidate): string => instance?.instance ?? id

type Came = { readonly kind: 'hired'; readonly hired: Hired } | Out

async function attempt(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  { declined, reserves }: { readonly declined: readonly Declined[]; readonly reserves: boolean },
): Promise<Came> {
  let begun = await begin(hands, place, errand, reserves)
  if (begun.kind === 'earlier') {
    const hired = await resume(hands, errand, declined)
    if (hired !== undefined) return { kind: 'hired', hired }
    begun = await begin(hands, place, errand, false)
  }
  // Somebody else of the same name is quicker each time: what comes of that is not ours to guess.
  if (begun.kind === 'earlier')
    throw new HireFailure('outcome_unknown', { task: errand.asked.task })
  if (begun.kind === 'declined') return begun
  const { hold, removedAt } = begun
  const ended = await follow(hands, begun.place, errand, begun)
  if (ended.kind === 'declined') return ended
  const hired = await finish(hands, errand, { ended, place, hold, declined })
  return { kind: 'hired', hired: { ...hired, ...(removedAt !== undefined && { removedAt }) } }
}

/** H4. Undefined: nobody is at it, and nobody has been paid for it. */
async function resume(
  hands: Hands,
  errand: Errand,
  declined: readonly Declined[],
): Promise<Hired | undefined> {
  const { books } = hands
  const bounds = boundsOf(errand)
  const work = await books.work(errand.asked.task, bounds)
  if (work?.agent === undefined) return undefined
  const hold = work.hold && { id: work.hold }
  const nobody = { name: '', endpoint: '', priceCents: 0, id: work.agent }
  const told = await toldByHub(hands, nobody, errand, bounds)
  const paid = work.end === 'done'
  if (told !== undefined && told.how !== 'cancelled') {
    errand.tell?.({ is: 'resumed', ...aboutOf(nobody) })
    return finish(hands, errand, { ended: told, place: nobody, hold, declined })
  }
  // Slots alone were reserved: nobody has been asked to do anything.
  const unasked = work.state === 'asked' && hold === undefined
  const over = unasked || work.state === 'refused' || told !== undefined
  if (over || (hold && !paid && (await books.withdraw(hold.id, bounds)) === 'free')) {
    return undefined
  }
  const { name, endpoint = '' } = await books.agent(work.agent, bounds)
  const place = { ...nobody, name, endpoint, unsure: paid }
  errand.tell?.({ is: 'resumed', ...aboutOf(place) })
  const ended = await follow(hands, place, errand, { hold })
  if (ended.kind !== 'ended') return undefined
  return finish(hands, errand, { ended, place, hold, declined })
}

type Finished = {
  readonly ended: Ended
  readonly place: Pick<Candidate, 'id' | 'name'>
  readonly hold: HoldNamed | undefined
  readonly declined: readonly Declined[]
}

/** What was done is paid, whichever side sees to it first (CH-8). */
export async function finish(
  hands: Hands,
  errand: Errand,
  { ended, place, hold, declined }: Finished,
): Promise<Hired> {
  const { how, agent, output, fault, receipt } = ended
  errand.tell?.({ is: 'result', ...aboutOf(place), how })
  const { task } = errand.asked
  const about = { task, agent, declined, ...(hold && { hold: hold.id }) }
  if (how !== 'done' || output === undefined) {
    const code = how === 'cancelled' ? 'work_cancelled' : 'work_failed'
    // The end of an earlier run under the same key confirmed nothing of this one's.
    if (hold) await hands.books.withdraw(hold.id, lastWords(hands, errand)).catch(() => undefined)
    throw new HireFailure(code, { ...about, ...(fault && { fault }) })
  }
  const cost = hold === undefined ? 0 : await costOf(hands, errand, hold, ended.chargesCents)
  errand.tell?.({ is: 'settled', ...aboutOf(place), cost })
  return {
    output,
    cost,
    task,
    agent,
    ...(hold && { hold: hold.id }),
    ...(receipt && { receipt }),
    declined,
  }
}

/** In credits: what the hold has paid, or is about to. */
export async function settle(hands: Hands, errand: Errand, hold: HoldNamed): Promise<number> {
  const { books } = hands
  const bounds = lastWords(hands, errand)
  const seen = await books.hold(hold.id, bounds)
  if (seen.stage !== 'confirmed') return writeCents(seen.costCents)
  const { priceCents = 0 } = seen
  try {
    // What it cost with all that was hired out of it, whoever of the two is first.
    await books.settle(seen, bounds)
    return writeCents(priceCents)
  } catch {
    // Refused where the payer is paid itself; the agent's claim stands.
    const after = await books.hold(hold.id, bounds)
    return writeCents(after.stage === 'captured' ? after.costCents : priceCents)
  }
}

/** J2: nobody claims the hold of a job, so it is put back and its price paid. Once, by its name. */
async function payJob(
  hands: Hands,
  errand: Errand,
  hold: HoldNamed,
  chargesCents: number,
): Promise<number> {
  const { books } = hands
  const bounds = lastWords(hands, errand)
  if ((await books.withdraw(hold.id, bounds)) === 'bound') return settle(hands, errand, hold)
  const seen = await books.hold(hold.id, bounds)
  const priceCents = Math.min(chargesCents, seen.amountCents)
  // Whoever hires from itself pays nothing.
  if (seen.payer === seen.payee) return 0
  await books.settle({ ...seen, priceCents }, bounds)
  return writeCents(priceCents)
}

/** The output is here: that the books do not answer just now takes nothing from it. */
async function costOf(
  hands: Hands,
  errand: Errand,
  hold: HoldNamed,
  chargesCents: number | undefined,
): Promise<number> {
  if (chargesCents !== undefined) {
    return payJob(hands, errand, hold, chargesCents).catch(({ detail }: HireFailure) => {
      // It is done and not paid: the same hire again pays for it.
      throw new HireFailure('outcome_unknown', { task: errand.asked.task, hold: hold.id, detail })
    })
  }
  try {
    return await settle(hands, errand, hold)
  } catch (error) {
    if (hold.amountCents === undefined) throw error
    return writeCents(hold.amountCents)
  }
}

/** One agent that the hirer chose itself. */
export type Job = {
  readonly task: TaskId
  readonly agent: AgentId
  readonly hold?: HoldId
  /** Waits for it until the deadline. */
  readonly result: () => Promise<Hired>
  /** Done all the same, if the agent was quicker; else it throws `work_cancelled`. */
  readonly cancel: () => Promise<Hired>
}

export async function askOne(hands: Hands, place: Candidate, errand: Errand): Promise<Job> {
  const { task } = errand.asked
  const begun = await begin(hands, place, errand, errand.terms.reserves)
  if (begun.kind === 'earlier') throw new HireFailure('outcome_unknown', { task })
  if (begun.kind === 'declined') throw refusedBy(begun, task)
  return jobOf(hands, begun, errand)
}

/** Asks where slot and money are reserved already (R4 in reserve.ts). */
export async function askReserved(
  hands: Hands,
  { place, hold }: Pick<Reserved, 'place' | 'hold'>,
  errand: Errand,
): Promise<Job> {
  const begun = await knock(hands, place, errand, hold)
  if (begun.kind === 'declined') throw refusedBy(begun, errand.asked.task)
  return jobOf(hands, { ...begun, ...(hold && { hold }) }, errand)
}

type Accepted = Extract<Begun, { kind: 'accepted' }>

function jobOf(hands: Hands, begun: Accepted, errand: Errand): Job {
  const { task } = errand.asked
  const { place, hold } = begun
  const ending = (ended: Ended) => finish(hands, errand, { ended, place, hold, declined: [] })
  return {
    task,
    agent: place.id,
    ...(hold && { hold: hold.id }),
    async result() {
      const came = await follow(hands, place, errand, begun)
      if (came.kind === 'declined') throw refusedBy(came, task)
      return ending(came)
    },
    async cancel() {
      const aborted = { ...errand, terms: { ...errand.terms, signal: AbortSignal.abort() } }
      return ending(await callOff(hands, place, aborted, hold))
    },
  }
}

function refusedBy({ declined }: Out, task: TaskId): HireFailure {
  const code = declined.how === 'silent' ? 'agent_silent' : 'agent_refused'
  const { agent, sentence: detail } = declined
  return new HireFailure(code, { task, agent, detail, declined: [declined] })
}
