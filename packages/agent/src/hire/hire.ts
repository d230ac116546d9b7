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
import type { AgentId, HoldId, TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  begin,
  boundsOf,
  type Candidate,
  callOff,
  type Ended,
  type Errand,
  follow,
  type Hands,
  knock,
  lastWords,
  type Out,
  toldByHub,
} from './errand.ts'
import { type Declined, HireFailure } from './failure.ts'
import type { Reserved } from './reserve.ts'

export type Hired = {
  readonly output: Readonly<Record<string, unknown>>
  /** In credits, with all that the agent hired for it. */
  readonly cost: number
  readonly task: TaskId
  readonly agent: AgentId
  readonly hold?: HoldId
  /** The result as the agent signed it; absent where only the hub could tell. */
  readonly receipt?: object
  /** Who was asked before and did not do it. */
  readonly declined: readonly Declined[]
}

/** What it was asked for, where that is known: the price, while the books are silent. */
type HoldNamed = { readonly id: HoldId; readonly amountCents?: number }

export async function hire(hands: Hands, errand: Errand): Promise<Hired> {
  const { clock } = hands
  const { asked, terms } = errand
  const declined: Declined[] = []
  const about = { task: asked.task, declined }
  if (terms.named) {
    const found = await resume(hands, errand, declined)
    if (found !== undefined) return found
  }
  const out = new Set<AgentId>()
  for (let round = 1; ; round += 1) {
    const found = await findCandidates(hands, errand)
    const candidates = found.filter(({ id }) => !out.has(id))
    if (candidates.length === 0) {
      throw new HireFailure(round === 1 ? 'nobody_found' : 'nobody_accepted', about)
    }
    let againAt = Number.POSITIVE_INFINITY
    for (const place of candidates) {
      if (clock.now() >= terms.deadline) throw new HireFailure('deadline_passed', about)
      const came = await attempt(hands, place, errand, declined)
      if (came.kind === 'hired') return came.hired
      declined.push(came.declined)
      if (came.retryAt === undefined) out.add(place.id)
      againAt = Math.min(againAt, came.retryAt ?? againAt)
    }
    // Somebody who refused for now may say yes later, if there is a later.
    if (againAt >= terms.deadline) throw new HireFailure('nobody_accepted', about)
    await clock.sleep(againAt - clock.now(), terms.signal).catch(() => {
      throw new HireFailure('given_up', about)
    })
  }
}

type Came = { readonly kind: 'hired'; readonly hired: Hired } | Out

async function attempt(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  declined: readonly Declined[],
): Promise<Came> {
  let begun = await begin(hands, place, errand)
  if (begun.kind === 'earlier') {
    const hired = await resume(hands, errand, declined)
    if (hired !== undefined) return { kind: 'hired', hired }
    begun = await begin(hands, place, errand)
  }
  // Somebody else of the same name is quicker each time: what comes of that is not ours to guess.
  if (begun.kind === 'earlier')
    throw new HireFailure('outcome_unknown', { task: errand.asked.task })
  if (begun.kind === 'declined') return begun
  const { hold } = begun
  const ended = await follow(hands, place, errand, hold)
  if (ended.kind === 'declined') return ended
  return { kind: 'hired', hired: await finish(hands, errand, { ended, hold, declined }) }
}

/** P-14: newcomers get their share here. */
async function findCandidates({ books }: Hands, errand: Errand): Promise<readonly Candidate[]> {
  const { asked, terms } = errand
  const { budgetCents, minScoreMicro } = terms
  const found = await books.discover(
    {
      skill: asked.skill,
      maxCostCents: budgetCents,
      ...(minScoreMicro !== undefined && { minScoreMicro }),
      limit: MOST_ASKED,
      order: 'fair',
    },
    boundsOf(errand),
  )
  return found
    .filter(({ skill, online }) => online && skill.priceCents <= budgetCents)
    .map(({ id, name, endpoint, skill }) => ({ id, name, endpoint, priceCents: skill.priceCents }))
}
/** Who has asked twenty in vain should look at what it asks for. */
const MOST_ASKED = Math.min(20, LIMITS.hitsPerPage)

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
    return finish(hands, errand, { ended: told, hold, declined })
  }
  // Slots alone were reserved: nobody has been asked to do anything.
  const unasked = work.state === 'asked' && hold === undefined
  const over = unasked || work.state === 'refused' || told !== undefined
  if (over || (hold && !paid && (await books.withdraw(hold.id, bounds)) === 'free')) {
    return undefined
  }
  const { name, endpoint = '' } = await books.agent(work.agent, bounds)
  const ended = await follow(hands, { ...nobody, name, endpoint }, errand, hold)
  return ended.kind === 'ended' ? finish(hands, errand, { ended, hold, declined }) : undefined
}

type Finished = {
  readonly ended: Ended
  readonly hold: HoldNamed | undefined
  readonly declined: readonly Declined[]
}

/** What was done is paid, whichever side sees to it first (CH-8). */
export async function finish(
  hands: Hands,
  errand: Errand,
  { ended, hold, declined }: Finished,
): Promise<Hired> {
  const { how, agent, output, fault, receipt } = ended
  const { task } = errand.asked
  const about = { task, agent, declined, ...(hold && { hold: hold.id }) }
  if (how !== 'done' || output === undefined) {
    const code = how === 'cancelled' ? 'work_cancelled' : 'work_failed'
    throw new HireFailure(code, { ...about, ...(fault && { fault }) })
  }
  const cost = hold === undefined ? 0 : await costOf(hands, errand, hold)
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
  // Refused where the payer is paid itself, or the agent was quicker; the agent's claim stands.
  await books.settle(seen, bounds).catch(() => undefined)
  const after = await books.hold(hold.id, bounds)
  const costCents = after.stage === 'captured' ? after.costCents : (after.priceCents ?? 0)
  return writeCents(costCents)
}

/** The output is here: that the books do not answer just now takes nothing from it. */
async function costOf(hands: Hands, errand: Errand, hold: HoldNamed): Promise<number> {
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
  const begun = await begin(hands, place, errand)
  if (begun.kind === 'earlier') throw new HireFailure('outcome_unknown', { task })
  if (begun.kind === 'declined') throw refusedBy(begun, task)
  return jobOf(hands, place, errand, begun.hold)
}

/** Asks where slot and money are reserved already (R4 in reserve.ts). */
export async function askReserved(
  hands: Hands,
  { place, hold }: Pick<Reserved, 'place' | 'hold'>,
  errand: Errand,
): Promise<Job> {
  const begun = await knock(hands, place, errand, hold)
  if (begun.kind === 'declined') throw refusedBy(begun, errand.asked.task)
  return jobOf(hands, place, errand, hold)
}

function jobOf(hands: Hands, place: Candidate, errand: Errand, hold?: HoldNamed): Job {
  const { task } = errand.asked
  const ending = (ended: Ended) => finish(hands, errand, { ended, hold, declined: [] })
  return {
    task,
    agent: place.id,
    ...(hold && { hold: hold.id }),
    async result() {
      const came = await follow(hands, place, errand, hold)
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
