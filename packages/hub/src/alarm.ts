/**
 * The alerts of this hub: seen in memory first, kept where all hubs see them when that is possible.
 *
 *   M1  Raising and clearing never wait and never fail: they work while the database is away.
 *   M2  What was raised is kept as soon as the database answers, also if it is over by then.
 *   M3  What stands is confirmed at each beat; what nobody confirms any more is ended by whichever
 *       hub looks first, and the webhooks are told.
 */
import { encodeNotice } from '@chimera/dialects/chimera'
import {
  ALERT_KINDS,
  ALERTS,
  type Alert,
  type AlertKind,
  applyRaising,
  ITSELF,
  isTold,
  type Raising,
  type Sighted,
  stands,
  subjectOf,
  WEBHOOK,
  type Webhook,
} from '@chimera/domain/alert'
import type { CorrelationId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import type { AlertChange, KeptAlerts, Notice, Webhooks } from './ports/alerts.ts'

export type Alerts = {
  readonly raise: (raising: Raising) => void
  /** The condition is over, as far as this hub sees. */
  readonly clear: (kind: AlertKind, subject?: string) => void
  /** What this hub sees itself. */
  readonly standing: () => readonly Alert[]
  /** Keeps what is new, confirms what stands and ends what is over; rejects if it cannot. */
  readonly save: () => Promise<void>
}

export type AlertHands = {
  readonly kept: KeptAlerts
  readonly webhooks: Webhooks
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Log
  /** One that sorts by time. */
  readonly uuidV7: () => string
}

type Entry = {
  /** That of the kept alert, once there is one. */
  id: string
  sighted: Sighted
  /** How often it was raised since it was last kept. */
  unsaved: number
  savedAt: number | undefined
  over: boolean
}

export function createAlerts(hands: AlertHands): Alerts {
  const { kept, webhooks, clock, log, uuidV7 } = hands
  const entries = new Map<string, Entry>()
  const active = hands.metrics.gauge({
    name: 'alerts_active',
    help: 'Alerts that stand, as this hub sees them, by kind',
    labels: ['kind'],
  })
  let saving: Promise<void> | undefined
  let next: Promise<void> | undefined

  const keyOf = (kind: AlertKind, subject: string): string => `${kind} ${subject}`
  const of = (kind: AlertKind): Entry[] =>
    [...entries.values()].filter(({ sighted, over }) => sighted.kind === kind && !over)
  const count = (kind: AlertKind): void => active.set({ kind }, of(kind).length)
  for (const kind of ALERT_KINDS) count(kind)

  function end(entry: Entry): void {
    const { kind, subject } = entry.sighted
    entry.over = true
    log.info({ kind, subject }, 'alert is over')
    if (entry.savedAt !== undefined) entries.delete(keyOf(kind, subject))
    count(kind)
  }

  async function keep(entry: Entry, told: readonly Webhook[]): Promise<void> {
    const { sighted, unsaved, over } = entry
    const now = clock.now()
    const id = entry.savedAt === undefined ? entry.id : uuidV7()
    const seenAt = over ? sighted.seenAt : now
    const alert = await kept.uphold({ ...sighted, id, seenAt, count: unsaved }, noticesTo(told))
    entry.id = alert.id
    entry.savedAt = now
    entry.unsaved -= unsaved
    // It may have ended meanwhile, and come back.
    const key = keyOf(sighted.kind, sighted.subject)
    if (entry.over && entries.get(key) === entry) entries.delete(key)
  }

  async function saveAll(): Promise<void> {
    const now = clock.now()
    for (const entry of entries.values()) if (!stands(entry.sighted, now) && !entry.over) end(entry)
    const told = await webhooks.list()
    for (const entry of entries.values()) {
      const { savedAt } = entry
      if (savedAt === undefined || now - savedAt >= LIMITS.alertBeatMs) await keep(entry, told)
    }
    await kept.clearLapsed(noticesTo(told))
  }

  /** One at a time; all who ask while it runs share the next. */
  function save(): Promise<void> {
    if (saving !== undefined) {
      next ??= saving
        .catch(() => undefined)
        .then(() => {
          next = undefined
          return save()
        })
      return next
    }
    saving = saveAll().finally(() => {
      saving = undefined
    })
    return saving
  }

  function noticesTo(told: readonly Webhook[]) {
    return (alert: Alert, change: AlertChange): readonly Notice[] =>
      told
        .filter((each) => isTold(each, alert))
        .flatMap(({ id, url }) => {
          const body = encodeNotice(alert, change)
          if (body === undefined) {
            log.error({ kind: alert.kind }, 'an alert could not be written for its webhooks')
            return []
          }
          const correlation = alert.id as CorrelationId
          return [{ id: uuidV7(), to: url, body, about: { kind: WEBHOOK, id }, correlation }]
        })
  }

  return {
    raise(raising) {
      const { kind } = raising
      // Those that are over and not kept yet take room too.
      const own = [...entries.values()].filter(({ sighted }) => sighted.kind === kind)
      const subject = subjectOf(raising, new Set(own.map(({ sighted }) => sighted.subject)))
      const key = keyOf(kind, subject)
      const known = entries.get(key)
      const sighted = applyRaising(known?.sighted, { ...raising, subject }, clock.now())
      const entry = known ?? { id: uuidV7(), sighted, unsaved: 0, savedAt: undefined, over: false }
      if (known === undefined || known.over) {
        log.warn({ kind, subject, severity: ALERTS[kind].severity }, `alert: ${sighted.words}`)
      }
      Object.assign(entry, { sighted, unsaved: entry.unsaved + 1, over: false })
      entries.set(key, entry)
      count(kind)
      if (entry.savedAt === undefined) {
        // The next look tries again (M2).
        save().catch((error: unknown) => log.debug({ err: error }, 'an alert is not kept yet'))
      }
    },

    clear(kind, subject = ITSELF) {
      const entry = entries.get(keyOf(kind, subject))
      if (entry !== undefined && !entry.over) end(entry)
    },

    standing: () =>
      [...entries.values()]
        .filter(({ over }) => !over)
        .map(({ id, sighted }) => {
          const { endsAt: _, ...alert } = sighted
          return { ...alert, id, severity: ALERTS[alert.kind].severity }
        }),

    save,
  }
}

/** Counts failures in a row of something that is done again and again; several are an alert. */
export function watched<T>(
  alerts: Alerts,
  kind: AlertKind,
  run: () => T | Promise<T>,
): () => Promise<T> {
  let failures = 0
  return async () => {
    try {
      const answer = await run()
      if (failures > 0) alerts.clear(kind)
      failures = 0
      return answer
    } catch (error) {
      failures += 1
      if (failures >= LIMITS.alertFailures) alerts.raise({ kind })
      throw error
    }
  }
}
