/**
 * Hearing the status feed, and claiming the names in it (SF-7, X-10).
 *
 *   H1  A message that is acknowledged is kept, or something newer of the same name is.
 *   H2  The first who can be told from others has the name: that is settled where all hubs look,
 *       not in this one's memory.
 */
import type { Holder } from '@chimera/domain/agent/alias'
import type { Decision } from '@chimera/domain/decision'
import type { Alias, CorrelationId, Instant } from '@chimera/domain/ids'
import type { Heard, IngestAsked, IngestFact, StatusReport } from '@chimera/domain/presence/ingest'
import type { Refusal } from '@chimera/domain/refusals'
import type { Kept } from '../ports/observations.ts'
import type { Hub } from './hub.ts'

/** Rows of the feed are bounded together, whoever they are of. */
const ABOUT = 'feed'

export async function hear(hub: Hub, asked: IngestAsked): Promise<Decision<IngestFact, Refusal>> {
  const { report, publisher } = asked
  const { alias } = report
  const now = hub.now()
  const known = await readFeed(hub, alias)
  const judged = hub.feed.judge(asked, now)
  if (!judged.ok) return judged
  if (known.holder === undefined && publisher !== undefined) {
    // The message's own id serves as its correlation.
    const claimed = await claim(hub, { alias, holder: publisher, cause: report.message })
    if (!claimed.ok) return claimed
    hub.feed.hold(alias, publisher)
  }
  if (judged.facts.some(({ type }) => type === 'status_observed')) {
    const kept = await hub.keep.observations.put(rowOf(report, hub.feed.of(alias).holder, now))
    // Another hub has heard something newer.
    if (kept.body.report.message !== report.message) restoreStatus(hub, kept)
    hub.share.noted(kept)
  }
  return hub.feed.hear(asked, now)
}

/** What is known of a name, who holds it included. */
export async function readFeed(hub: Hub, alias: Alias): Promise<Heard> {
  if (hub.feed.of(alias).holder === undefined) {
    const holder = await hub.keep.aliases.holderOf(alias)
    if (holder !== undefined) hub.feed.hold(alias, holder)
  }
  return hub.feed.of(alias)
}

export function restoreStatus({ feed }: Pick<Hub, 'feed'>, kept: Kept<'status' | 'rumour'>): void {
  const { body, heardAt } = kept
  feed.restore({ ...body, heardAt })
}

type Claim = { readonly alias: Alias; readonly holder: Holder; readonly cause: string }

async function claim(
  hub: Hub,
  { alias, holder, cause }: Claim,
): Promise<Decision<unknown, Refusal>> {
  const correlation = cause as CorrelationId
  if (holder.by === 'credential') {
    return hub.keep.aliases.hold({ alias, subject: holder.subject, correlation })
  }
  const outcome = await hub.keep.agents.claimAlias({ id: holder.agent, correlation }, alias)
  if (outcome.decision.ok && outcome.agent !== undefined) hub.directory.enter(outcome.agent)
  hub.share.changed()
  return outcome.decision
}

function rowOf(
  report: StatusReport,
  holder: Holder | undefined,
  heardAt: Instant,
): Kept<'status' | 'rumour'> {
  const { alias: subject, updatedAt: at } = report
  const common = { subject, about: ABOUT, at, heardAt }
  return holder === undefined
    ? { ...common, kind: 'rumour', body: { report } }
    : { ...common, kind: 'status', body: { report, holder } }
}
