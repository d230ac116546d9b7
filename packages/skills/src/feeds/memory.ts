/**
 * What was seen in feeds over the last week, and what follows from it: velocity and decay.
 *
 *   M1  An entry is one trend however often it is read; its time is the first that was known of it
 *       and never in the future.
 *   M2  Velocity is the score that the last 24 hours brought over what 7 days brought. A source
 *       that counts nothing is measured by mentions: how many entries about the same are of the
 *       last 24 hours, of those of 7 days.
 *   M3  Decay halves each day, and what was said of it once is never raised.
 *   M4  Bounded: entries of a platform, readings of an entry, and a week after it was last seen.
 */
import { scoreOf, type TrendData } from '@chimera/dialects/skills/trend'
import type { TrendPlatform } from '@chimera/dialects/skills/words'
import type { Instant } from '@chimera/domain/ids'
import { namedUuid } from '../named-uuid.ts'
import { alikeAmong } from '../trends/same.ts'
import type { Entry } from './entries.ts'
import type { Feed } from './settings.ts'

type Reading = readonly [at: Instant, score: number]

export type Seen = {
  readonly entry: Entry
  readonly feed: Pick<Feed, 'platform' | 'category' | 'region'>
  readonly firstAt: Instant
  readonly lastAt: Instant
  readonly readings: readonly Reading[]
  readonly decay: number
}

export type Memory = {
  readonly add: (feed: Feed, entries: readonly Entry[], now: Instant) => void
  /** The freshest and loudest first. */
  readonly trends: (platform: TrendPlatform, now: Instant) => readonly TrendData[]
  readonly all: () => readonly Seen[]
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
const MOST_SEEN = 5_000
// One an hour is enough to tell a day from a week.
const READING_MS = HOUR_MS

export function createMemory(before: readonly Seen[] = []): Memory {
  const seen = new Map(before.map((each) => [keyOf(each.feed, each.entry), each]))

  function forget(platform: TrendPlatform, now: Instant): void {
    const mine = [...seen].filter(([, { feed }]) => feed.platform === platform)
    // By when it was seen last: one that a feed still has would come back as if it were new.
    const old = mine.filter(([, { lastAt }]) => lastAt < now - WEEK_MS)
    const rest = mine.filter(([, { lastAt }]) => lastAt >= now - WEEK_MS)
    const extra = rest.toSorted(([, one], [, other]) => other.lastAt - one.lastAt).slice(MOST_SEEN)
    for (const [key] of [...old, ...extra]) seen.delete(key)
  }

  return {
    add(feed, entries, now) {
      for (const entry of entries) {
        const key = keyOf(feed, entry)
        seen.set(key, seenAgain(seen.get(key), { entry, feed, now }))
      }
      forget(feed.platform, now)
    },
    trends(platform, now) {
      const mine = [...seen].filter(([, { feed }]) => feed.platform === platform)
      const fresh = mine.filter(([, { firstAt }]) => firstAt >= now - WEEK_MS)
      const alike = alikeAmong(fresh.map(([, { entry }]) => entry.topic))
      const trends = fresh.map(([key, each], at) => {
        const decay = Math.min(each.decay, decayOf(each, now))
        seen.set(key, { ...each, decay })
        const times = alike(at).map((other) => fresh[other]?.[1].firstAt ?? 0)
        return trendOf(each, { decay, velocity: velocityOf(each, times, now) })
      })
      return trends.toSorted((one, other) => weightOf(other) - weightOf(one))
    },
    all: () => [...seen.values()],
  }
}

const keyOf = ({ platform }: Pick<Feed, 'platform'>, { id }: Entry): string =>
  JSON.stringify([platform, id])

/** M1. */
function seenAgain(
  before: Seen | undefined,
  { entry, feed, now }: { readonly entry: Entry; readonly feed: Feed; readonly now: Instant },
): Seen {
  const { platform, category, region } = feed
  const said = Math.min(entry.at ?? now, now)
  const last = before?.readings.at(-1)
  const readings = (before?.readings ?? []).filter(([at]) => at >= now - WEEK_MS - DAY_MS)
  // The last one gives way until its hour is over.
  const kept =
    last !== undefined && now - last[0] < READING_MS && readings.length > 1
      ? readings.slice(0, -1)
      : readings
  return {
    entry,
    feed: { platform, ...(category && { category }), ...(region && { region }) },
    firstAt: Math.min(before?.firstAt ?? said, said),
    lastAt: now,
    readings: [...kept, [now, scoreIn(entry)]],
    decay: before?.decay ?? 1,
  }
}

const scoreIn = (entry: Entry): number => scoreOf({ ...entry, engagement_score: 0 })

/** M2. */
function velocityOf(seen: Seen, alike: readonly Instant[], now: Instant): number {
  const score = seen.readings.at(-1)?.[1] ?? 0
  if (score === 0) {
    const day = alike.filter((at) => at >= now - DAY_MS).length
    return rounded(day / Math.max(1, alike.length))
  }
  const day = score - scoreAt(seen, now - DAY_MS)
  const week = score - scoreAt(seen, now - WEEK_MS)
  return week <= 0 ? 0 : rounded(Math.max(0, day) / week)
}

/** Before the first reading it is taken to have grown evenly since it was published. */
function scoreAt({ readings, firstAt }: Seen, at: Instant): number {
  const before = readings.findLast(([when]) => when <= at)
  if (before !== undefined) return before[1]
  const [first] = readings
  if (first === undefined || at <= firstAt || first[0] <= firstAt) return 0
  return (first[1] * (at - firstAt)) / (first[0] - firstAt)
}

/** M3. */
const decayOf = ({ firstAt }: Seen, now: Instant): number =>
  rounded(2 ** (-Math.max(0, now - firstAt) / DAY_MS))

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000

const weightOf = ({ engagement, decay_score: decay }: TrendData): number =>
  (1 + engagement.engagement_score) * decay

function trendOf(
  { entry, feed, firstAt }: Seen,
  { decay, velocity }: { readonly decay: number; readonly velocity: number },
): TrendData {
  const { likes, comments, shares, impressions, tags, url } = entry
  const hashtags = tags.map(hashtagOf).filter((tag) => tag.length > 1)
  return {
    trend_id: namedUuid('feed', feed.platform, entry.id),
    topic: entry.topic,
    platform: feed.platform,
    // A feed does not say, and a guess would be worth less than none.
    sentiment: 'unknown',
    timestamp: new Date(firstAt).toISOString(),
    engagement: { likes, comments, shares, impressions, engagement_score: scoreIn(entry) },
    trend_velocity: velocity,
    decay_score: decay,
    ...(feed.region && { geographic_origin: feed.region }),
    metadata: {
      ...(hashtags.length > 0 && { hashtags: [...new Set(hashtags)] }),
      ...(url !== undefined && { source_urls: [url] }),
      ...(feed.category && { category: feed.category }),
    },
  }
}

const hashtagOf = (tag: string): string => `#${tag.replace(/[^\p{L}\p{N}]+/gu, '').slice(0, 50)}`
