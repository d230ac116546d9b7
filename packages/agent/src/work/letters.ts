/**
 * Brings answers and results to those who were promised them: the hub, and the callback that the
 * requester gave (OC-17, P-8).
 *
 *   B1  A callback is dialled through the guarded client, follows no redirect, and is signed by the
 *       agent's key together with the id of the letter.
 *   B2  What fails is tried again by the domain's schedule; what is given up stays with its work as
 *       lost, and can be sent again by hand.
 *   B3  At most so many are under way at once.
 *   B4  Results for the hub go together: what ends in one turn is one message, and what ends while
 *       that is under way is the next. After many it is not sent before there may be many again.
 */
import * as chorus from '@chimera/dialects/chorus'
import * as openclaw from '@chimera/dialects/openclaw'
import { refuse } from '@chimera/domain/decision'
import { type Attempted, type DeliveryFact, decideAttempt } from '@chimera/domain/delivery'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { isRetryable, REFUSALS, type Refusal } from '@chimera/domain/refusals'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { GuardedClient, Outcome } from '@chimera/host/guarded/client'
import { CORRELATION_FIELD, type Log } from '@chimera/host/log'
import { signRequest } from '@chimera/identity/http-signature'
import { signMessage } from '@chimera/identity/message'
import { isPromise, type Soon } from '@chimera/skill/soon'
import type { Done, Network, Self } from '../ports.ts'
import type { KeptWork, Letter } from './keep.ts'
import { signedResult } from './signed.ts'

export type PostHands = {
  readonly self: Self
  readonly network: Network
  readonly dial: GuardedClient
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  /** The work as it is now; undefined when it is forgotten. */
  readonly find: (scope: string) => KeptWork | undefined
  /** Puts the letter in the place of the one with its id; without one, it is delivered. */
  readonly settle: (scope: string, id: string, letter: Letter | undefined) => Soon<unknown>
}

export type Post = {
  /** Sends what is due of this work, now or at its time. */
  readonly send: (kept: KeptWork) => void
  /** Waits for what is under way; later attempts are given up. */
  readonly close: () => Promise<void>
  /** Whether nothing is under way or due at once. */
  readonly idle: () => Promise<void>
}

type Sent = Attempted | { readonly is: 'refused'; readonly because: string }
type Due = { readonly scope: string; readonly id: string }
/** A letter of its work, at this attempt. */
type Trying = { readonly kept: KeptWork; readonly letter: Letter }

const ANSWER_BYTES = 64 * 1024
const MOST_GONE = 1_000
// While one is being answered the next is filled; another goes beside it only when that is full.
const ROUNDS_AT_ONCE = 2
// A busy agent ends something in each turn: in so many it is a message's worth, and soon.
const MOST_TURNS = 8
// So many in a message say that the agent is busy. Its hub then hears of it fifty times a second
// at most, or when a message is full, which is soon enough and costs both little for each result.
const MANY = 8
const PACE_MS = 20

export function createPost(hands: PostHands): Post {
  const { clock, log, network } = hands
  const known = new Set<string>()
  let line: Due[] = []
  /** Of the line, behind those that have gone: taking them out one by one would move all others. */
  let first = 0
  const round: Due[] = []
  let rounds = 0
  let latest = 0
  const underWay = new Set<Promise<void>>()
  const timers = new Set<{ readonly cancel: () => void }>()
  let closed = false

  function track(going: Promise<void>, then: () => void): void {
    const ended: Promise<void> = going
      .catch((error: unknown) => log.warn({ err: error }, 'a letter was not sent'))
      .finally(() => {
        underWay.delete(ended)
        then()
      })
    underWay.add(ended)
  }

  function go(): void {
    while (underWay.size < LIMITS.deliveriesAtOnce) {
      const next = line[first]
      if (next === undefined) {
        line = []
        first = 0
        return
      }
      first += 1
      if (first === MOST_GONE) {
        line = line.slice(first)
        first = 0
      }
      track(attempt(next), go)
    }
  }

  /** B4. */
  function join(due: Due): void {
    round.push(due)
    if (rounds > 0 && (rounds === ROUNDS_AT_ONCE || round.length < LIMITS.resultsAtOnce)) return
    rounds += 1
    track(goRound(), () => undefined)
  }

  async function goRound(): Promise<void> {
    try {
      while (round.length > 0) {
        await gathered()
        const together = round.splice(0, LIMITS.resultsAtOnce)
        latest = together.length
        await reportRound(together)
      }
    } finally {
      rounds -= 1
    }
  }

  /** After all that ends in the same turn, and in the next ones while more ends in each of them. */
  async function gathered(): Promise<void> {
    if (latest >= MANY && round.length < LIMITS.resultsAtOnce) return clock.sleep(PACE_MS)
    for (let turns = 0, before = 0; turns < MOST_TURNS && round.length > before; turns += 1) {
      if (round.length >= LIMITS.resultsAtOnce) return
      before = round.length
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async function reportRound(together: readonly Due[]): Promise<void> {
    const trying: Trying[] = []
    const messages: object[] = []
    for (const each of together) {
      const one = begin(each)
      const message = one && signedResult(hands.self, one.kept)?.message
      if (one === undefined || message === undefined) continue
      trying.push(one)
      messages.push(message)
    }
    const outcomes = (await network.reportAll?.(messages)) ?? []
    for (const [at, one] of trying.entries()) {
      const done = outcomes[at] ?? refuse('service_unavailable')
      const settled = end(one, sentOf(done, clock.now()))
      if (isPromise(settled)) track(settled, () => undefined)
    }
  }

  const goesTogether = ({ bus, report }: KeptWork, { to }: Letter): boolean =>
    to === 'hub' && !bus && report !== undefined && network.reportAll !== undefined

  function plan(kept: KeptWork, letter: Letter): void {
    const { id, nextAt } = letter
    if (closed || known.has(id)) return
    known.add(id)
    const due = { scope: kept.scope, id }
    const queue = (): void => {
      if (goesTogether(kept, letter)) join(due)
      else {
        line.push(due)
        go()
      }
    }
    const waitMs = nextAt - clock.now()
    if (waitMs <= 0) {
      queue()
      return
    }
    const timer = clock.after(waitMs, () => {
      timers.delete(timer)
      queue()
    })
    timers.add(timer)
  }

  /** Undefined: it is not to be sent any more. */
  function begin({ scope, id }: Due): Trying | undefined {
    known.delete(id)
    const kept = hands.find(scope)
    const letter = kept?.letters.find((each) => each.id === id)
    if (kept === undefined || letter === undefined || letter.lost !== undefined) return undefined
    return { kept, letter: { ...letter, attempts: letter.attempts + 1 } }
  }

  function end({ kept, letter }: Trying, sent: Sent): Soon<void> {
    const after = judge(hands, letter, sent)
    note(log, kept, letter, sent)
    if (after === undefined && kept.report !== undefined) hands.self.signed?.forget(kept.report)
    const settled = hands.settle(kept.scope, letter.id, after)
    const again = (): void => {
      if (after !== undefined && after.lost === undefined) plan(kept, after)
    }
    return isPromise(settled) ? settled.then(again) : again()
  }

  async function attempt(due: Due): Promise<void> {
    const one = begin(due)
    if (one !== undefined) await end(one, await bring(hands, one.kept, one.letter))
  }

  return {
    send: (kept) => {
      for (const each of kept.letters) if (each.lost === undefined) plan(kept, each)
    },
    async close() {
      closed = true
      for (const timer of timers) timer.cancel()
      timers.clear()
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay)
    },
  }
}

function judge({ chance, clock }: PostHands, letter: Letter, sent: Sent): Letter | undefined {
  if (sent.is === 'refused') return { ...letter, lost: sent.because }
  if (isTold(sent)) return undefined
  const given = { attempted: sent, chance: chance.fraction() }
  const [fact]: readonly DeliveryFact[] = decideAttempt(letter, given, clock.now()).facts
  switch (fact?.type) {
    case 'attempt_failed':
      return { ...letter, nextAt: fact.nextAt }
    case 'delivery_given_up':
      return { ...letter, lost: fact.trouble }
    default:
      return undefined
  }
}

async function bring(hands: PostHands, kept: KeptWork, letter: Letter): Promise<Sent> {
  if (letter.to === 'callback') return bringToCallback(hands, kept, letter)
  const done = letter.to === 'bus' ? await respond(hands, kept) : await report(hands, kept)
  return sentOf(done, hands.clock.now())
}

const TOLD: Sent = { is: 'answered', status: 204 }
const isTold = (sent: Sent): boolean => sent.is === 'answered' && sent.status < 300

function sentOf(done: Done, now: Instant): Sent {
  if (done.ok) return TOLD
  const { refusal, particulars } = done
  if (!isRetryable(refusal) && !isOfProof(refusal)) return { is: 'refused', because: refusal }
  const waitMs = (particulars.retryAt ?? 0) - now
  return { is: 'answered', status: 503, ...(waitMs > 0 && { retryAfterMs: waitMs }) }
}

/** Each attempt is signed anew: the key may just be rotated, or the clock have stood still. */
const isOfProof = (refusal: Refusal): boolean =>
  REFUSALS[refusal].kind === 'unproven' || refusal === 'message_expired'

async function report({ self, network }: PostHands, kept: KeptWork): Promise<Done> {
  const message = signedResult(self, kept)?.message
  return message === undefined ? refuse('work_unknown') : network.report(message, kept)
}

/** An agent that is on no bus any more has nobody to say it to. */
async function respond({ self, network }: PostHands, kept: KeptWork): Promise<Done> {
  const message = messageOf(self, kept, 'answer')
  const { agent } = kept.requester
  if (message === undefined || agent === undefined) return refuse('work_unknown')
  const signed = signMessage(message, self.key())
  return network.respond === undefined ? refuse('broker_unknown') : network.respond(signed, agent)
}

async function bringToCallback(
  { self, dial, clock, chance }: PostHands,
  kept: KeptWork,
  { id, says }: Letter,
): Promise<Sent> {
  const body = JSON.stringify(messageOf(self, kept, says))
  const url = kept.callback ?? ''
  const headers = { 'content-type': 'application/json', 'idempotency-key': id }
  const signed = signRequest(
    { method: 'POST', url, headers, body: Buffer.from(body) },
    self.key(),
    { now: clock.now(), nonce: chance.uuid(), also: Object.keys(headers) },
  )
  const outcome = await dial.request({
    url,
    method: 'POST',
    headers: { ...headers, ...signed },
    body,
    limits: { totalMs: LIMITS.deliveryMs, bodyBytes: ANSWER_BYTES, redirects: 0 },
  })
  return attemptedOf(outcome)
}

function attemptedOf(outcome: Outcome): Attempted {
  if (outcome.ok) {
    const seconds = Number(outcome.headers['retry-after'])
    const wait = seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}
    return { is: 'answered', status: outcome.status, ...wait }
  }
  const { code } = outcome.failure
  if (code === 'too_many_redirects') return { is: 'unanswered', because: 'redirected' }
  return { is: 'unanswered', because: code === 'cancelled' ? 'network' : code }
}

/** In the words of the door that the work came through. */
function messageOf(self: Self, kept: KeptWork, says: Letter['says']): object | undefined {
  const { ask, state } = kept.work
  const at = kept.report?.endedAt ?? ask.askedAt
  if (kept.door === 'chorus') {
    if (kept.report !== undefined) return chorus.encodeJobResult(kept.report, at)
    if (kept.refused !== undefined) {
      return chorus.encodeJobRefusal(kept.refused, { task: ask.task, agent: self.agent }, at).body
    }
    return chorus.encodeJobResult(pendingOf(self, kept), at)
  }
  if (says === 'result') return signedResult(self, kept)?.message
  const to = { task: ask.task, agent: self.agent, correlation: ask.correlation }
  if (kept.refused !== undefined) return openclaw.encodeRefused(kept.refused, to, at).body
  const accepted = state.name === 'accepted' ? state.acceptedAt : at
  return openclaw.encodeProgress(kept.work, to, accepted).body
}

export function pendingOf(self: Self, { work: { ask } }: KeptWork) {
  return { type: 'work_reported', task: ask.task, agent: self.agent, how: 'pending' } as const
}

function note(log: Log, { work: { ask } }: KeptWork, letter: Letter, sent: Sent): void {
  const told = isTold(sent)
  if (told && !log.isLevelEnabled('debug')) return
  const { id, says, to, attempts } = letter
  const about = { letter: id, says, to, attempts, [CORRELATION_FIELD]: ask.correlation }
  if (told) log.debug(about, 'told')
  else log.info({ ...about, sent }, 'could not be told')
}
