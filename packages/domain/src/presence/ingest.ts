/**
 * What the status feed says of somebody, heard under an alias (SF-7, X-10). It is an observation
 * and stays one: no lifecycle moves by it.
 *
 *   J1  The same message twice is one message: the repeat is accepted and changes nothing.
 *   J2  The view of an alias never goes back in its sender's time: what is older is recorded as
 *       outdated and moves nothing. Of two with the same time the one heard later is taken.
 *   J3  An alias belongs to the first who publishes under it and can be told from others; from then
 *       on nobody else speaks under it, and what strangers said before counts for nothing.
 *   J4  A time ahead of ours by more than the skew is refused: it would silence all that follow.
 */
import type { AgentFact } from '../agent/agent.ts'
import { type AliasHeld, type Holder, isSameHolder } from '../agent/alias.ts'
import type { ConditionName } from '../agent/condition.ts'
import { accept, type Decision, refuse } from '../decision.ts'
import type { Alias, Instant, MessageId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { feedAgesAt } from './liveness.ts'

/** All that the feed tells apart; `paused` stands for every condition that takes no work. */
export type ReportedCondition = Extract<
  ConditionName,
  'idle' | 'working' | 'human_review' | 'paused'
>

export type StatusReport = {
  readonly type: 'report_status'
  readonly message: MessageId
  readonly alias: Alias
  readonly condition: ReportedCondition
  readonly capabilities?: readonly string[]
  /** By the sender's clock; only ever compared with other times of the same sender, but for J4. */
  readonly updatedAt: Instant
  readonly uptimeMs?: number
  readonly note?: string
}

export type Observed = { readonly report: StatusReport; readonly heardAt: Instant }

/** What is known of one alias. */
export type Heard = {
  /** Absent: only observed, which is no ground for work, money or a place in discovery. */
  readonly holder?: Holder
  /** The newest by the sender's time. */
  readonly last?: Observed
  readonly recent: readonly MessageId[]
}

export const NOTHING_HEARD: Heard = { recent: [] }

export type IngestAsked = {
  readonly report: StatusReport
  /** Whom the edge took the sender for; absent where nothing is authenticated. */
  readonly publisher?: Holder
}

export type IngestFact =
  | Extract<AgentFact, { readonly type: 'alias_claimed' }>
  | AliasHeld
  | { readonly type: 'status_observed'; readonly report: StatusReport; readonly at: Instant }
  | { readonly type: 'status_outdated'; readonly report: StatusReport; readonly at: Instant }

/** Strongest first. */
export type IngestRefusal = 'caller_unknown' | 'alias_taken' | 'message_early'

export function decideIngest(
  heard: Heard,
  { report, publisher }: IngestAsked,
  now: Instant,
): Decision<IngestFact, IngestRefusal> {
  const { holder } = heard
  if (holder !== undefined) {
    if (publisher === undefined) return refuse('caller_unknown')
    if (!isSameHolder(holder, publisher)) return refuse('alias_taken')
  }
  const claims = holder === undefined && publisher !== undefined
  const known = claims ? NOTHING_HEARD : heard
  if (known.recent.includes(report.message)) return accept()
  if (report.updatedAt > now + LIMITS.skewMs) {
    return refuse('message_early', { retryAt: report.updatedAt - LIMITS.skewMs })
  }

  const claim = claims ? [claimOf(report.alias, publisher)] : []
  const outdated = known.last !== undefined && report.updatedAt < known.last.report.updatedAt
  const type = outdated ? 'status_outdated' : 'status_observed'
  return accept<IngestFact>(...claim, { type, report, at: now })
}

export function applyIngest(heard: Heard, fact: IngestFact): Heard {
  switch (fact.type) {
    case 'alias_claimed':
      return { holder: { by: 'agent', agent: fact.id }, recent: [] }
    case 'alias_held':
      return { holder: { by: 'credential', subject: fact.subject }, recent: [] }
    case 'status_outdated':
      return { ...heard, recent: remember(heard.recent, fact.report.message) }
    case 'status_observed':
      return {
        ...heard,
        last: { report: fact.report, heardAt: fact.at },
        recent: remember(heard.recent, fact.report.message),
      }
  }
}

/** When silence makes the report too old to be believed; never, where none is due (SF-3). */
export function agesAt({ report, heardAt }: Observed): Instant | undefined {
  const repeats = report.condition === 'idle' || report.condition === 'working'
  return feedAgesAt({ heardAt, repeats })
}

/** What makes a name somebody's, of whichever kind. */
export function claimOf(alias: Alias, publisher: Holder): IngestFact {
  return publisher.by === 'agent'
    ? { type: 'alias_claimed', id: publisher.agent, alias }
    : { type: 'alias_held', alias, subject: publisher.subject }
}

const remember = (recent: readonly MessageId[], message: MessageId): readonly MessageId[] =>
  [...recent, message].slice(-LIMITS.feedMemory)
