/**
 * Reading and acknowledging alerts, for operators.
 *
 *   R1  While the database is away, what this hub sees itself is what there is to read.
 */
import { isUuid } from '@chimera/dialects/wire'
import { type Alert, isDenialAlert } from '@chimera/domain/alert'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import type { Alerts } from '../alarm.ts'
import type { AlertQuery } from '../ports/alerts.ts'
import { type Caller, forbidden, isOperator, nameOf } from './caller.ts'
import type { Hub } from './hub.ts'

export type AlertsFound = {
  readonly ok: true
  readonly alerts: readonly Alert[]
  /** To go on behind; absent on the last page. */
  readonly next?: { readonly raisedAt: Instant; readonly id: string }
}

export async function listAlerts(
  hub: Hub,
  caller: Caller,
  query: AlertQuery,
): Promise<AlertsFound | Refused<Refusal>> {
  if (!isOperator(caller)) return forbidden()
  const { limit } = query
  try {
    await hub.alerts.save()
    const found = await hub.keep.alerts.find({ ...query, limit: limit + 1 })
    const alerts = found.slice(0, limit)
    const next = found.length > limit ? alerts.at(-1) : undefined
    return { ok: true, alerts, ...(next && { next }) }
  } catch {
    const own = hub.alerts.standing().filter(({ kind }) => kind === (query.kind ?? kind))
    return { ok: true, alerts: own.slice(0, limit) }
  }
}

/** Says that somebody looks after it. It stands on until its condition is over. */
export async function acknowledgeAlert(
  hub: Hub,
  caller: Caller,
  target: { readonly id: string; readonly correlation: CorrelationId },
): Promise<{ readonly ok: true; readonly alert: Alert } | Refused<Refusal>> {
  if (!isOperator(caller)) return forbidden()
  if (!isUuid(target.id)) return refuse('alert_unknown')
  await hub.alerts.save()
  const by = caller.token?.id ?? nameOf(caller)
  const alert = await hub.keep.alerts.acknowledge(target, by)
  return alert === undefined ? refuse('alert_unknown') : { ok: true, alert }
}

const MINUTE_MS = 60_000

/** Counts denied requests by the minute. */
export function createDenialWatch(alerts: () => Alerts): (now: Instant) => void {
  let minute = Number.NaN
  let count = 0
  return (now) => {
    const current = Math.floor(now / MINUTE_MS)
    count = current === minute ? count + 1 : 1
    minute = current
    if (!isDenialAlert(count)) return
    const words = `${count} requests were denied within a minute.`
    alerts().raise({ kind: 'denials_frequent', words, lastsMs: LIMITS.alertEchoMs })
  }
}
