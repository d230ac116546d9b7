/**
 * The past of the live feed, page by page.
 *
 *   Q1  Whoever asks is told what it would have heard, and nothing else: the audience is decided by
 *       the same rule as for the feed (domain/live.ts).
 *   Q2  A page is bounded twice: by what it holds, and by what is looked at for it. Where a narrow
 *       query finds little, the answer says how far it looked, and the search goes on from there.
 */
import type { FactFound, FactsFound, FactsSought } from '@chimera/dialects/chimera'
import type { Refused } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import {
  type Audience,
  aboutFact,
  decideTopic,
  LIVE_TOPICS,
  type LiveEntry,
  type LiveTopic,
} from '@chimera/domain/live'
import type { Refusal } from '@chimera/domain/refusals'
import { type Caller, forbidden, isOperator, permit } from './caller.ts'
import type { Hub } from './hub.ts'

type Found = ({ readonly ok: true } & FactsFound) | Refused<Refusal>

const USUAL: readonly LiveTopic[] = LIVE_TOPICS.filter((topic) => topic !== 'audit')
// As many as the store reads together.
const STEP = 500

export async function listFacts(hub: Hub, caller: Caller, sought: FactsSought): Promise<Found> {
  const all = isOperator(caller)
  const permitted = all ? ({ ok: true } as const) : permit(caller, 'read')
  if (!permitted.ok) return permitted
  const { topics = USUAL, filter } = sought
  if (topics.includes('audit') && !all) return forbidden()

  await hub.settle()
  const { now } = await hub.keep.live.span()
  const { owner } = caller
  const audience = { topics, all, ...(owner !== undefined && { owner }), filter }
  const [last] = all && now.seq > 0 ? await hub.keep.trail.sealedAfter(now.seq - 1) : []
  const head = { seq: now.seq, ...(last && { hash: last.hash }) }
  const found =
    sought.after === undefined
      ? await lookBack(hub, sought, { audience, last: now.seq })
      : await lookAhead(hub, sought, { audience, last: now.seq })
  return { ok: true, head, ...found }
}

type Span = { readonly audience: Audience; readonly last: number }
type Page = Omit<FactsFound, 'head'>

async function lookBack(hub: Hub, sought: FactsSought, { audience, last }: Span): Promise<Page> {
  const { before, limit, since } = sought
  const facts: FactFound[] = []
  let upper = Math.min(last, (before ?? last + 1) - 1)
  for (let looked = 0; upper > 0 && looked < LIMITS.factsLooked; ) {
    const from = Math.max(0, upper - STEP)
    const entries = await readBetween(hub, from, upper)
    looked += upper - from
    for (const entry of entries.toReversed()) {
      upper = seqOf(entry) - 1
      const fact = tell(entry, sought, audience)
      if (fact === undefined) continue
      facts.push(fact)
      if (facts.length === limit) return upper > 0 ? { facts, nextBefore: upper + 1 } : { facts }
    }
    const [oldest] = entries
    // Facts are recorded in their order but for what runs at the same time.
    if (since !== undefined && (oldest?.sealed?.recordedAt ?? since) < since) return { facts }
    upper = Math.min(upper, from)
  }
  return upper > 0 ? { facts, nextBefore: upper + 1 } : { facts }
}

async function lookAhead(hub: Hub, sought: FactsSought, { audience, last }: Span): Promise<Page> {
  const { limit } = sought
  const facts: FactFound[] = []
  let lower = sought.after ?? 0
  for (let looked = 0; lower < last && looked < LIMITS.factsLooked; looked += STEP) {
    const entries = await readBetween(hub, lower, Math.min(last, lower + STEP))
    if (entries.length === 0) break
    for (const entry of entries) {
      lower = seqOf(entry)
      const fact = tell(entry, sought, audience)
      if (fact !== undefined) facts.push(fact)
      if (facts.length === limit) return lower < last ? { facts, nextAfter: lower } : { facts }
    }
  }
  return lower < last ? { facts, nextAfter: lower } : { facts }
}

const seqOf = ({ place }: LiveEntry): number => place.seq

/** Facts above the one number and up to the other, the oldest first. */
async function readBetween(hub: Hub, from: number, to: number): Promise<readonly LiveEntry[]> {
  const place = { seq: from, tx: 0, event: '' }
  const { entries } = await hub.keep.live.after(place, { posts: false, limit: to - from })
  return entries.filter((each) => seqOf(each) <= to)
}

/** Q1. */
function tell(entry: LiveEntry, sought: FactsSought, audience: Audience): FactFound | undefined {
  if (entry.sealed === undefined) return undefined
  const about = aboutFact(entry.sealed, entry.kin)
  const { kinds, since, until } = sought
  if (kinds !== undefined && !kinds.includes(about.kind)) return undefined
  if (since !== undefined && about.at < since) return undefined
  if (until !== undefined && about.at >= until) return undefined
  const topic = decideTopic(about, true, audience)
  return topic === undefined ? undefined : { sealed: entry.sealed, about, topic }
}
