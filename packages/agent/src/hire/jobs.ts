/**
 * Work by Chorus jobs, for agents that know no other way (CH-4): the answer to the job is its
 * result, and the same job again is the same job (CH-5).
 *
 *   J1  Chorus has no word for accepting, and knows no holds: whether such an agent is at work
 *       nobody can tell. Whoever was asked is asked again under the same id until it answers, and
 *       nobody else is asked meanwhile.
 *   J2  The price stays put aside until the result is there, and then is paid by the hirer. What is
 *       not there by the deadline is paid to nobody.
 *   J3  A result is the word of the address that the hub names for the agent; nobody has signed it.
 *   J4  Jobs cannot be called off. Given up means that nobody waits for them, or pays.
 */
import { encodeJob, jobsAddress, readJobResult } from '@chimera/dialects/chorus'
import type { HubAnswer } from '../hub/client.ts'
import type { Refusing, Silent } from './door.ts'
import {
  aboutOf,
  boundsOf,
  type Candidate,
  declinedBy,
  type Ended,
  type Errand,
  type Hands,
  type HoldNamed,
  LAST_MS,
  lastWords,
  type Out,
  pause,
  signalOf,
} from './errand.ts'
import { HireFailure } from './failure.ts'

export async function followJob(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  hold?: HoldNamed,
): Promise<Ended | Out> {
  const { door, clock, books } = hands
  const { terms, asked, tell } = errand
  const priceCents = hold?.amountCents ?? place.priceCents
  const job = { ...asked, budgetCents: priceCents, quotedCents: priceCents }
  let pending = false
  for (let looks = 1; ; looks += 1) {
    const timeoutMs = terms.deadline - clock.now()
    if (timeoutMs <= 0 || terms.signal?.aborted) return callOffJob(hands, place, errand, hold)
    const limits = { timeoutMs, ...signalOf(errand) }
    const answer = pending
      ? await door.get(jobAt(place, errand), limits)
      : await door.post(jobsAddress(place.endpoint), encodeJob(job, clock.now()), limits)
    const read = readJob(answer, place, errand)
    if (read.kind === 'ended') return read
    if (read.kind === 'refused' && !pending) {
      const free = !hold || (await books.withdraw(hold.id, boundsOf(errand))) === 'free'
      if (free) return declinedBy(hands, place, read)
    }
    if (read.kind === 'pending' && !pending) tell?.({ is: 'accepted', ...aboutOf(place) })
    if (read.kind === 'silent' && looks === 1) tell?.({ is: 'unknown', ...aboutOf(place) })
    // Who does not tell by id is asked for the same job again.
    pending = read.kind === 'pending'
    await pause(hands, errand, looks)
  }
}

/** J4: what is done by now still counts. */
export async function callOffJob(
  hands: Hands,
  place: Candidate,
  errand: Errand,
  hold?: HoldNamed,
): Promise<Ended> {
  const { asked, terms } = errand
  const answer = await hands.door.get(jobAt(place, errand), { timeoutMs: LAST_MS })
  const read = readJob(answer, place, errand)
  if (read.kind === 'ended' && read.how === 'done') return read
  const why = terms.signal?.aborted ? 'given_up' : 'deadline_passed'
  const about = { task: asked.task, agent: place.id, ...(hold && { hold: hold.id }) }
  if (read.kind === 'ended') throw new HireFailure(why, about)
  if (hold === undefined) throw new HireFailure('outcome_unknown', about)
  const withdrawn = await hands.books.withdraw(hold.id, lastWords(hands, errand)).catch(() => '')
  throw new HireFailure(withdrawn === 'free' ? why : 'outcome_unknown', about)
}

const jobAt = ({ endpoint }: Candidate, { asked }: Errand): string =>
  `${jobsAddress(endpoint)}/${asked.task}`

type Read = Ended | Refusing | Silent | { readonly kind: 'pending' }

/** A job that failed is answered with 200; one that was not taken with an error (CH-11). */
function readJob(answer: HubAnswer, { id }: Candidate, { asked }: Errand): Read {
  const body = answer.ok ? answer.body : answer.said
  const result = readJobResult(body)
  if (!result.ok) {
    if (!answer.ok && answer.kind === 'unanswered') {
      return { kind: 'silent', code: answer.code, detail: answer.detail }
    }
    const sentence = answer.ok ? 'no job result' : answer.sentence
    if (answer.ok) return { kind: 'silent', code: 'unintelligible', detail: sentence }
    return refused(sentence, answer.retryable)
  }
  const { agent, task, how, output, fault, costCents = 0 } = result.value
  if (agent !== id || task !== asked.task) {
    return { kind: 'silent', code: 'unintelligible', detail: 'the result of something else' }
  }
  if (how === 'pending') return { kind: 'pending' }
  if (!answer.ok && how === 'failed') {
    const status = answer.status ?? 0
    return refused(fault?.message ?? '', status === 429 || status >= 500)
  }
  const given = { ...(output && { output }), ...(fault && { fault }) }
  return { kind: 'ended', agent, how, ...given, chargesCents: costCents }
}

const refused = (sentence: string, retryable: boolean): Refusing => ({
  kind: 'refused',
  final: true,
  refusal: 'policy_violated',
  sentence,
  retryable,
})
