/**
 * What an operator must know: conditions of the hub, raised once, confirmed while they last, over
 * when nobody confirms them any more.
 *
 *   A1  A kind and a subject have at most one alert at a time; raising it again confirms it.
 *   A2  An alert is over when no hub has confirmed it for the lease. So a condition that comes and
 *       goes is one alert, and the alert of a hub that died ends.
 *   A3  Of one kind at most so many subjects stand; further ones share a name, so that strangers
 *       cannot grow the list.
 *   A4  A webhook is not told of its own failure: that message would fail too.
 */
import type { Instant } from './ids.ts'
import { LIMITS } from './limits.ts'

export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

type Row = { readonly severity: Severity; readonly means: string; readonly act: string }

/** Every kind, what it means, and what to do; docs/operate/alerts.md is held to this table. */
// biome-ignore format: a table is read by its columns
export const ALERTS = {
  database_away:      { severity: 'critical', means: 'The database does not answer.',                                                   act: 'Look at the database and the network to it. The hub goes on by itself when it is back.' },
  books_stalled:      { severity: 'critical', means: 'New facts are not sealed, or holds that are due do not end.',                     act: 'Look for "the books could not be kept up" in the log. Nothing is lost; it is caught up when the cause is gone.' },
  broker_away:        { severity: 'warning',  means: 'The message broker does not answer, so hubs hear each other through the database alone.', act: 'Look at the broker and the network to it. The hub goes on by itself when it is back; agents can post over HTTP meanwhile.' },
  presence_stalled:   { severity: 'critical', means: 'The days of the presence events are not turned; after a day none could be kept.', act: 'Look for "the days of presence could not be turned" in the log; the database user must own the tables.' },
  eviction_braked:    { severity: 'warning',  means: 'Many agents fell silent at once, so nobody is let go for a while.',               act: 'Look at the network of this hub first: it is more likely cut off than they are dead.' },
  letters_undelivered: { severity: 'warning', means: 'Messages to an owner could not be delivered and were given up.',                  act: 'Read them under /v1/dead-letters; when the receiver is well again, redeliver them.' },
  webhook_failing:    { severity: 'warning',  means: 'Alerts to a webhook could not be delivered and were given up.',                   act: 'Repair the receiver and redeliver, or remove the webhook under /v1/webhooks.' },
  denials_frequent:   { severity: 'warning',  means: 'Many requests in one minute could not prove who asks, or may not do what they ask.', act: 'Look at the access_denied facts in the trail: an attack, a token that expired, or a clock that is wrong.' },
  feed_silent:        { severity: 'info',     means: 'An agent that publishes to the status feed has missed its heartbeats.',           act: 'Look at the agent; its last message is under /ingest/chimera-status.' },
} as const satisfies Record<string, Row>

export type AlertKind = keyof typeof ALERTS
export const ALERT_KINDS = Object.keys(ALERTS) as readonly AlertKind[]

export function isAlertKind(text: string): text is AlertKind {
  return Object.hasOwn(ALERTS, text)
}

export type Alert = {
  readonly id: string
  readonly kind: AlertKind
  /** What it is about: an owner, an agent's alias, a webhook, or the hub itself. */
  readonly subject: string
  readonly severity: Severity
  /** What is so this time, for a person. */
  readonly words: string
  readonly raisedAt: Instant
  readonly seenAt: Instant
  /** How often it was raised, the first time included. */
  readonly count: number
  readonly acknowledgedAt?: Instant
  readonly acknowledgedBy?: string
  readonly clearedAt?: Instant
}

export type AlertRaised = {
  readonly type: 'alert_raised'
  readonly at: Instant
  readonly id: string
  readonly kind: AlertKind
  readonly subject: string
  readonly severity: Severity
}
export type AlertCleared = {
  readonly type: 'alert_cleared'
  readonly at: Instant
  readonly id: string
  readonly kind: AlertKind
  readonly subject: string
}
export type AlertAcknowledged = {
  readonly type: 'alert_acknowledged'
  readonly at: Instant
  readonly id: string
  readonly by: string
}
export type AlertFact = AlertRaised | AlertCleared | AlertAcknowledged

export type Raising = {
  readonly kind: AlertKind
  /** The hub itself, where none is named. */
  readonly subject?: string
  /** What the table says, where nothing more is known. */
  readonly words?: string
  /** For what has no end that somebody would report: it stands so long after the last time. */
  readonly lastsMs?: number
}

/** What one hub sees itself, before and beside what is kept. */
export type Sighted = {
  readonly kind: AlertKind
  readonly subject: string
  readonly words: string
  readonly raisedAt: Instant
  readonly seenAt: Instant
  readonly count: number
  /** When it ends by itself. */
  readonly endsAt?: Instant
}

export const ITSELF = 'hub'
const OTHERS = 'others'

/** A3. `standing` are the subjects of this kind that stand already. */
export function subjectOf({ subject = ITSELF }: Raising, standing: ReadonlySet<string>): string {
  const named = subject.slice(0, LIMITS.keyChars)
  return standing.has(named) || standing.size < LIMITS.alertSubjects ? named : OTHERS
}

/** A1. */
export function applyRaising(
  before: Sighted | undefined,
  raising: Raising & { readonly subject: string },
  now: Instant,
): Sighted {
  const { kind, subject, words = ALERTS[kind].means, lastsMs } = raising
  return {
    kind,
    subject,
    words: words.slice(0, LIMITS.alertChars),
    raisedAt: before?.raisedAt ?? now,
    seenAt: now,
    count: (before?.count ?? 0) + 1,
    ...(lastsMs !== undefined && { endsAt: now + lastsMs }),
  }
}

export function stands({ endsAt = Number.POSITIVE_INFINITY }: Sighted, now: Instant): boolean {
  return now < endsAt
}

/** A2. What was last confirmed before this is over. */
export function leaseEndsFrom(now: Instant): Instant {
  return now - LIMITS.alertLeaseMs
}

/** What a message to a webhook is about, beside its id. */
export const WEBHOOK = 'webhook'

export type Webhook = {
  readonly id: string
  readonly url: string
  /** Every kind, where none is named. */
  readonly kinds?: readonly AlertKind[]
  readonly madeAt: Instant
}

export function isTold(
  { id, kinds }: Pick<Webhook, 'id' | 'kinds'>,
  alert: Pick<Alert, 'kind' | 'subject'>,
): boolean {
  if (alert.kind === 'webhook_failing' && alert.subject === id) return false
  return kinds === undefined || kinds.includes(alert.kind)
}

/** Whether so many denials in one minute are to be raised: once, and again at each further lot. */
export function isDenialAlert(denialsInMinute: number): boolean {
  return denialsInMinute > 0 && denialsInMinute % LIMITS.denialsPerMinute === 0
}
