/**
 * What the status feed says, by alias (SF-7). It is an observation, and no ground for anything
 * . Rebuilt at start from what is kept.
 *
 *   B1  At most so many aliases; a new one takes the place of the one that was silent the longest.
 *   B2  Who holds an alias is kept elsewhere and for good; what is known of it here is never wrong,
 *       but may be missing.
 *   B3  A message is decided and taken in one step: of two that arrive together one is the later.
 */
import { type Holder, isSameHolder } from '@chimera/domain/agent/alias'
import type { Alias, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  agesAt,
  applyIngest,
  claimOf,
  decideIngest,
  type Heard,
  type IngestAsked,
  NOTHING_HEARD,
  type StatusReport,
} from '@chimera/domain/presence/ingest'

export type Feed = {
  readonly hear: (asked: IngestAsked, now: Instant) => ReturnType<typeof decideIngest>
  /** The same, without taking it. */
  readonly judge: Feed['hear']
  /** What strangers said before counts for nothing. */
  readonly hold: (alias: Alias, holder: Holder) => void
  /** What was kept, before the restart or by another hub; an older one is nothing. */
  readonly restore: (kept: Restored) => void
  readonly of: (alias: Alias) => Heard
  readonly all: () => Iterable<readonly [alias: Alias, heard: Heard]>
  /** Names that somebody holds and that have missed their heartbeats, for a day at most. */
  readonly silent: (now: Instant) => readonly Alias[]
}

export type Restored = {
  readonly report: StatusReport
  readonly heardAt: Instant
  /** Whose name it was said under; absent while it was nobody's. */
  readonly holder?: Holder
}

export function createFeed(most: number = LIMITS.feedAliases): Feed {
  // In the order of their last message, so the first one is the one that was silent the longest.
  const heard = new Map<Alias, Heard>()

  const of = (alias: Alias): Heard => heard.get(alias) ?? NOTHING_HEARD
  const judge: Feed['judge'] = (asked, now) => decideIngest(of(asked.report.alias), asked, now)

  function take(alias: Alias, next: Heard): void {
    heard.delete(alias)
    heard.set(alias, next)
    if (heard.size <= most) return
    const oldest = heard.keys().next()
    if (!oldest.done) heard.delete(oldest.value)
  }

  return {
    of,
    all: () => heard,
    judge,

    hear(asked, now) {
      const { alias } = asked.report
      const decision = judge(asked, now)
      if (decision.ok) take(alias, decision.facts.reduce(applyIngest, of(alias)))
      return decision
    },

    hold(alias, holder) {
      const known = of(alias)
      if (known.holder !== undefined && isSameHolder(known.holder, holder)) return
      take(alias, applyIngest(known, claimOf(alias, holder)))
    },

    restore({ report, heardAt, holder }) {
      const { alias } = report
      const known = of(alias)
      if (known.holder !== undefined && holder === undefined) return
      const before =
        known.holder === undefined && holder !== undefined
          ? applyIngest(known, claimOf(alias, holder))
          : known
      const newest = before.last?.report.updatedAt ?? Number.NEGATIVE_INFINITY
      if (report.updatedAt < newest) return
      take(alias, applyIngest(before, { type: 'status_observed', report, at: heardAt }))
    },

    silent: (now) =>
      [...heard].flatMap(([alias, { holder, last }]) => {
        if (holder === undefined || last === undefined) return []
        const since = agesAt(last) ?? Number.POSITIVE_INFINITY
        return since <= now && now < last.heardAt + LIMITS.feedSilenceMs ? [alias] : []
      }),
  }
}
