/** Alerts, and the webhooks that are told of them. */
import {
  ALERT_KINDS,
  ALERTS,
  type Alert as Alarm,
  type AlertKind,
  type Webhook as Hook,
  SEVERITIES,
} from '@chimera/domain/alert'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { sender } from '../outgoing.ts'
import { queryChecker } from '../query.ts'
import { DateTime, textUpTo, Uuid, writeInstant } from '../wire.ts'
import { PlaceText, readPlace, writePlace } from './place.ts'

const Kind = Type.Enum([...ALERT_KINDS])
const shown = {
  id: Uuid,
  kind: Kind,
  subject: Type.String({ minLength: 1, maxLength: LIMITS.keyChars }),
  severity: Type.Enum([...SEVERITIES]),
  state: Type.Enum(['active', 'cleared']),
  message: textUpTo(LIMITS.alertChars),
  action: Type.String({ description: 'What to do' }),
  raised_at: DateTime,
  last_seen_at: DateTime,
  count: Type.Integer({ minimum: 1, description: 'How often it was seen' }),
  cleared_at: Type.Optional(DateTime),
  acknowledged_at: Type.Optional(DateTime),
  acknowledged_by: Type.Optional(Type.String()),
}

export const AlertQuery = Type.Object(
  {
    state: Type.Optional(Type.Enum(['active', 'all'])),
    kind: Type.Optional(Kind),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.alertsPerPage })),
    after: Type.Optional(PlaceText),
  },
  { title: 'Alert query', additionalProperties: false },
)
export const Alert = Type.Object(shown, { title: 'Alert' })
export const AlertList = Type.Object(
  { alerts: Type.Array(Type.Object(shown)), next_after: Type.Optional(PlaceText) },
  { title: 'Alerts' },
)
/** What a webhook receives. */
export const AlertNotice = Type.Object(
  { event: Type.Enum(['alert.raised', 'alert.cleared']), alert: Type.Object(shown) },
  { title: 'Alert notice' },
)
export const NewWebhook = Type.Object(
  {
    url: Type.String({ format: 'http-url', maxLength: LIMITS.urlChars }),
    kinds: Type.Optional(Type.Array(Kind, { minItems: 1, uniqueItems: true })),
  },
  { title: 'New webhook', additionalProperties: false },
)
const hook = {
  id: Uuid,
  url: Type.String({ description: 'A token in it is not shown' }),
  kinds: Type.Optional(Type.Array(Kind)),
  made_at: DateTime,
}
export const Webhook = Type.Object(hook, { title: 'Webhook' })
export const WebhookList = Type.Object(
  { webhooks: Type.Array(Type.Object(hook)) },
  { title: 'Webhooks' },
)

export type AlertsWanted = {
  readonly all: boolean
  readonly kind?: AlertKind
  readonly after?: { readonly raisedAt: Instant; readonly id: string }
  readonly limit: number
}
export type WebhookWanted = { readonly url: string; readonly kinds?: readonly AlertKind[] }

const DEFAULT_ALERTS = 20

function decodeAlertQuery(query: Static<typeof AlertQuery>): AlertsWanted {
  const place = query.after === undefined ? undefined : readPlace(query.after)
  return {
    all: query.state === 'all',
    ...(query.kind !== undefined && { kind: query.kind }),
    ...(place && { after: { raisedAt: place.at, id: place.id } }),
    limit: query.limit ?? DEFAULT_ALERTS,
  }
}

export const readAlertQuery = reader(queryChecker(AlertQuery), decodeAlertQuery)
export const readNewWebhook = reader(
  checker(NewWebhook),
  ({ url, kinds }): WebhookWanted => ({ url, ...(kinds && { kinds }) }),
)

export const encodeAlert = (alert: Alarm): Static<typeof Alert> => ({
  id: alert.id,
  kind: alert.kind,
  subject: alert.subject,
  severity: alert.severity,
  state: alert.clearedAt === undefined ? 'active' : 'cleared',
  message: alert.words,
  action: ALERTS[alert.kind].act,
  raised_at: writeInstant(alert.raisedAt),
  last_seen_at: writeInstant(alert.seenAt),
  count: alert.count,
  ...(alert.clearedAt !== undefined && { cleared_at: writeInstant(alert.clearedAt) }),
  ...(alert.acknowledgedAt !== undefined && {
    acknowledged_at: writeInstant(alert.acknowledgedAt),
  }),
  ...(alert.acknowledgedBy !== undefined && { acknowledged_by: alert.acknowledgedBy }),
})

export const encodeAlerts = ({
  alerts,
  next,
}: {
  readonly alerts: readonly Alarm[]
  readonly next?: { readonly raisedAt: Instant; readonly id: string }
}) => ({
  alerts: alerts.map(encodeAlert),
  ...(next && { next_after: writePlace({ at: next.raisedAt, id: next.id }) }),
})

const sendNotice = sender<Static<typeof AlertNotice>>(AlertNotice)

/** The text that is signed and sent; undefined if it must not leave as it is. */
export function encodeNotice(alert: Alarm, change: 'raised' | 'cleared'): string | undefined {
  const sent = sendNotice({ event: `alert.${change}`, alert: encodeAlert(alert) })
  return sent.ok ? JSON.stringify(sent.message) : undefined
}

export const encodeWebhook = ({ id, url, kinds, madeAt }: Hook) => ({
  id,
  url,
  ...(kinds && { kinds }),
  made_at: writeInstant(madeAt),
})

export const encodeWebhooks = (webhooks: readonly Hook[]) => ({
  webhooks: webhooks.map(encodeWebhook),
})

export const ALERT_MESSAGES = {
  'alert-query': { schema: AlertQuery, read: readAlertQuery },
  'alert-list': { schema: AlertList, read: asItIs(checker(AlertList)) },
  alert: { schema: Alert, read: asItIs(checker(Alert)) },
  'alert-notice': { schema: AlertNotice, read: asItIs(checker(AlertNotice)) },
  // With some receivers the address is what proves that the sender may send.
  'new-webhook': { schema: NewWebhook, read: readNewWebhook, carries: ['url'] },
  webhook: { schema: Webhook, read: asItIs(checker(Webhook)) },
  'webhook-list': { schema: WebhookList, read: asItIs(checker(WebhookList)) },
} satisfies Messages
