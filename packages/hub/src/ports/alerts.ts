/** Alerts as all hubs on one database know them, and the webhooks that are told of them. */
import type { Alert, AlertKind, Sighted, Webhook } from '@chimera/domain/alert'
import type { Refused } from '@chimera/domain/decision'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import type { NewDelivery } from './deliveries.ts'

export type AlertChange = 'raised' | 'cleared'

export type Notice = NewDelivery & { readonly id: string }
/** The messages that go out for a change; they are kept with it. */
export type Notices = (alert: Alert, change: AlertChange) => readonly Notice[]

export type AlertQuery = {
  readonly all: boolean
  readonly kind?: AlertKind
  readonly after?: { readonly raisedAt: Instant; readonly id: string }
  readonly limit: number
}

export type KeptAlerts = {
  /** Raises what is new, under the id given, and confirms what stands; answers it as it is kept. */
  readonly uphold: (sighted: Sighted & { readonly id: string }, notices: Notices) => Promise<Alert>
  /** Ends what no hub confirms any more. */
  readonly clearLapsed: (notices: Notices) => Promise<readonly Alert[]>
  /** The latest first. */
  readonly find: (query: AlertQuery) => Promise<readonly Alert[]>
  readonly acknowledge: (
    target: { readonly id: string; readonly correlation: CorrelationId },
    by: string,
  ) => Promise<Alert | undefined>
  readonly purge: () => Promise<number>
}

export type Webhooks = {
  readonly make: (
    wanted: Pick<Webhook, 'id' | 'url' | 'kinds'>,
    correlation: CorrelationId,
  ) => Promise<{ readonly ok: true; readonly webhook: Webhook } | Refused<'webhooks_exhausted'>>
  readonly list: () => Promise<readonly Webhook[]>
  readonly remove: (id: string, correlation: CorrelationId) => Promise<boolean>
}
