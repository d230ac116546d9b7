/**
 * Brings messages to the addresses that others gave (P-8).
 *
 *   D1  Every attempt goes through the guarded client and follows no redirect: the signature is for
 *       the address that was given.
 *   D2  The body is signed anew at each attempt, together with the id of the message, by which a
 *       receiver knows one that it has had. An open hub has no key and signs nothing.
 *   D3  At most so many attempts run at once, and so many to one host.
 *   D4  A stop begins nothing new and waits for what is under way; what takes too long is given
 *       back, as if it had not been tried.
 */
import { WEBHOOK } from '@chimera/domain/alert'
import { type Attempted, type DeliveryFact, decideAttempt } from '@chimera/domain/delivery'
import { LIMITS } from '@chimera/domain/limits'
import type { Clock } from '@chimera/host/clock'
import type { GuardedClient, Outcome } from '@chimera/host/guarded/client'
import { readTarget } from '@chimera/host/guarded/target'
import { CORRELATION_FIELD, type Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import type { Stop } from '@chimera/host/stop'
import { signRequest } from '@chimera/identity/http-signature'
import type { KeyPair } from '@chimera/identity/keys'
import type { Alerts } from './alarm.ts'
import type { Claimed, Deliveries } from './ports/deliveries.ts'

export type DelivererHands = {
  readonly deliveries: Deliveries
  readonly dial: GuardedClient
  /** As it is now; absent on an open hub. */
  readonly key: () => KeyPair | undefined
  readonly alerts: Alerts
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Log
  readonly uuid: () => string
  readonly fraction: () => number
  readonly stop: Stop
}

export type Deliverer = {
  /** One attempt at a letter. `waiting`: it is under way already; undefined: there is none. */
  readonly byHand: (id: string) => Promise<DeliveryFact | 'waiting' | undefined>
}

type Sent = Attempted | { readonly is: 'cancelled' }

// Stopping has nine seconds in all, of which a part has four; one is left to give back.
const FINISH_MS = 3_000
// So large that a receiver may say what it thinks, and no larger.
const ANSWER_BYTES = 64 * 1024
const VISIBLE = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/

export function startDeliverer(hands: DelivererHands): Deliverer {
  const { deliveries, clock, log, stop } = hands
  const underWay = new Set<Promise<unknown>>()
  const perHost = new Map<string, number>()
  const givingUp = new AbortController()
  let woken = new AbortController()
  const wake = (): void => woken.abort()
  const outcomes = hands.metrics.counter({
    name: 'deliveries_total',
    help: 'Attempts to deliver a message, by what came of them',
    labels: ['outcome'],
  })
  hands.metrics.gauge({
    name: 'deliveries_under_way',
    help: 'Attempts to deliver a message that run now',
    read: () => underWay.size,
  })

  /** Counts the attempt against its host, and lets the loop look again when it is over. */
  function run<T>(claimed: Claimed, attempt: Promise<T>): Promise<T> {
    const { host } = claimed
    perHost.set(host, (perHost.get(host) ?? 0) + 1)
    const done = attempt.finally(() => {
      const left = (perHost.get(host) ?? 1) - 1
      if (left > 0) perHost.set(host, left)
      else perHost.delete(host)
      underWay.delete(done)
      wake()
    })
    underWay.add(done)
    return done
  }

  async function attempt(claimed: Claimed, byHand: boolean): Promise<DeliveryFact | undefined> {
    const sent = await send(hands, claimed, givingUp.signal)
    if (sent.is === 'cancelled') {
      await deliveries.giveBack(claimed)
      return undefined
    }
    const terms = { attempts: claimed.attempts, byHand }
    const given = { attempted: sent, chance: hands.fraction() }
    const [fact] = decideAttempt(terms, given, clock.now()).facts
    if (fact === undefined) return undefined
    await deliveries.record(claimed, fact)
    outcomes.add({ outcome: fact.type })
    note(hands, claimed, fact)
    if (fact.type === 'delivery_given_up' && !byHand) alert(hands.alerts, claimed)
    return fact
  }

  async function take(): Promise<boolean> {
    const most = LIMITS.deliveriesAtOnce - underWay.size
    if (most <= 0) return false
    const busy = [...perHost].filter(([, count]) => count >= LIMITS.deliveriesPerHost)
    const except = busy.map(([host]) => host)
    const claimed = await deliveries.claim({ claim: hands.uuid(), most, except })
    for (const each of claimed) {
      const attempted = run(each, attempt(each, false))
      // The claim comes back, and with it the message.
      attempted.catch((error: unknown) => log.warn({ err: error }, 'a delivery was not recorded'))
    }
    return claimed.length > 0
  }

  async function loop(): Promise<void> {
    while (!stop.stopping.aborted) {
      // Before the look, so that who calls while it is under way is not missed.
      woken = new AbortController()
      const more = await take().catch((error: unknown) => {
        log.warn({ err: error }, 'deliveries could not be claimed')
        return false
      })
      if (more) continue
      await clock.sleep(LIMITS.deliveryLookMs, woken.signal).catch(() => undefined)
    }
  }

  stop.stopping.addEventListener('abort', wake, { once: true })
  const looping = loop()
  stop.register({
    name: 'deliveries',
    close: async () => {
      const timer = clock.after(FINISH_MS, () => givingUp.abort())
      await looping
      await Promise.allSettled(underWay)
      timer.cancel()
    },
  })

  return {
    async byHand(id) {
      const claimed = await deliveries.claimLetter(id, hands.uuid())
      if (claimed === undefined || claimed === 'waiting') return claimed
      return (await run(claimed, attempt(claimed, true))) ?? 'waiting'
    },
  }
}

async function send(hands: DelivererHands, claimed: Claimed, signal: AbortSignal): Promise<Sent> {
  const { dial, clock } = hands
  const url = dialled(claimed.to)
  if (url === undefined) return { is: 'unanswered', because: 'refused_address' }
  const outcome = await dial.request({
    url,
    method: 'POST',
    headers: headersOf(hands, claimed, url),
    body: claimed.body,
    signal,
    limits: { totalMs: LIMITS.deliveryMs, bodyBytes: ANSWER_BYTES, redirects: 0 },
  })
  return attemptedOf(outcome, clock.now())
}

/** The address in the one spelling that is signed and dialled. */
function dialled(to: string): string | undefined {
  try {
    return readTarget(to).url.href
  } catch {
    return undefined
  }
}

function headersOf(
  { key, clock, uuid }: DelivererHands,
  { id, body, correlation, traceparent }: Claimed,
  url: string,
): Record<string, string> {
  const named = {
    'content-type': 'application/json',
    'idempotency-key': id,
    // A name that no header can hold is in the body and in the log.
    ...(VISIBLE.test(correlation) && { 'x-correlation-id': correlation }),
  }
  const pair = key()
  const signed =
    pair &&
    signRequest({ method: 'POST', url, headers: named, body: Buffer.from(body) }, pair, {
      now: clock.now(),
      nonce: uuid(),
      also: Object.keys(named),
    })
  return { ...named, ...(traceparent !== undefined && { traceparent }), ...signed }
}

function attemptedOf(outcome: Outcome, now: number): Sent {
  if (outcome.ok) {
    const { status, headers } = outcome
    const retryAfterMs = readRetryAfter(headers['retry-after'], now)
    return { is: 'answered', status, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }
  const { code } = outcome.failure
  if (code === 'cancelled') return { is: 'cancelled' }
  return { is: 'unanswered', because: code === 'too_many_redirects' ? 'redirected' : code }
}

/** RFC 9110, 10.2.3: seconds, or a date. */
export function readRetryAfter(field: string | undefined, now: number): number | undefined {
  if (field === undefined) return undefined
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1_000
  const at = field.endsWith('GMT') ? Date.parse(field) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

function note({ log }: DelivererHands, claimed: Claimed, fact: DeliveryFact): void {
  const { id, about, correlation, attempts } = claimed
  const fields = { delivery: id, about, attempts, [CORRELATION_FIELD]: correlation }
  if (fact.type === 'message_delivered') {
    log.debug({ ...fields, http_status: fact.status }, 'delivered')
    return
  }
  const { trouble, status } = fact
  const more = { ...fields, trouble, ...(status !== undefined && { http_status: status }) }
  if (fact.type === 'attempt_failed') log.info(more, 'not delivered yet')
  else log.warn(more, 'could not be delivered')
}

function alert(alerts: Alerts, { about, owner }: Claimed): void {
  const lastsMs = LIMITS.letterAlertMs
  if (about.kind === WEBHOOK) alerts.raise({ kind: 'webhook_failing', subject: about.id, lastsMs })
  else alerts.raise({ kind: 'letters_undelivered', ...(owner && { subject: owner }), lastsMs })
}
