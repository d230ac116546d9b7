/**
 * `fetch_trends` (SK-6): what is talked about, on one platform or on several at once.
 *
 *   T1  Platforms are asked side by side, ten seconds each; one that fails takes nothing from the
 *       others and is named, and only where all fail does the call.
 *   T2  What is not a trend of the platform is left out and counted in the log; a platform that
 *       gave nothing but that has failed.
 *   T3  Newer than the window, loud enough, not excluded, each once; the loudest first.
 *   T4  A topic is excluded by its words, and by its meaning where somebody can tell it. Who cannot
 *       tell in time takes nothing from the answer.
 *   T5  Where all sources fail, the last answer stands while it has something of the window, marked
 *       as stale.
 */
import { checkTrendData } from '@chimera/dialects/skills/checks'
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { FetchTrendsInput, FetchTrendsOutput } from '@chimera/dialects/skills/schema'
import { type TrendData, trendIssues } from '@chimera/dialects/skills/trend'
import type { TrendPlatform } from '@chimera/dialects/skills/words'
import type { Instant } from '@chimera/domain/ids'
import { type Clock, createClock } from '@chimera/skill/clock'
import { defineSkill } from '@chimera/skill/define'
import { contracted, type Priced } from './contracted.ts'
import { cleanValue } from './mcp/clean.ts'
import type { Scorer } from './relevance/scorer.ts'
import { createHourly } from './trends/hourly.ts'
import { type Allowed, withoutMeant } from './trends/meant.ts'
import { isExcluded, withoutRepeats } from './trends/same.ts'
import { SourceFailure, type TrendSource } from './trends/source.ts'

export type FetchTrendsOptions = Priced & {
  /** The usual source of each platform, and who is asked where it does not answer. */
  readonly sources: Readonly<Partial<Record<TrendPlatform, readonly TrendSource[]>>>
  /** Requests of a platform an hour: 100 unless given, as the document has it. */
  readonly perHour?: number
  /** Tells what is meant by an excluded topic. Words alone unless given. */
  readonly meaning?: Scorer
  readonly clock?: Clock
}

const { fetch_trends: CONTRACT } = SKILLS
const PLATFORM_MS = CONTRACT.parts?.platform ?? 10_000
const PER_HOUR = 100
// More than the limit, since some of them are left out; and it says whether there are more.
const SPARE = 100

type Hands = {
  readonly now: () => Instant
  readonly fallback: boolean
  readonly signal: AbortSignal
  readonly told: (what: string, fields: Readonly<Record<string, unknown>>) => void
}

export function fetchTrends(options: FetchTrendsOptions) {
  const { sources, perHour = PER_HOUR, meaning, clock = createClock() } = options
  const hourly = createHourly(perHour)
  const { cache } = CONTRACT

  async function askOne(
    source: TrendSource,
    platform: TrendPlatform,
    asked: FetchTrendsInput,
    hands: Hands,
  ) {
    const againAt = hourly.take(platform, hands.now())
    if (againAt !== undefined) {
      throw new SourceFailure('RATE_LIMITED', `${perHour} an hour`, againAt - hands.now())
    }
    const { limit = LIMIT } = asked
    const wanted = { platform, windowMs: windowOf(asked), limit: limit + SPARE }
    const came = await source.fetch(wanted, hands.signal)
    return sift(came, { platform, source: source.name, now: hands.now() }, hands)
  }

  /** The usual one; on a retry whose recovery says so, the next. Of several, the next at once. */
  async function ask(platform: TrendPlatform, asked: FetchTrendsInput, hands: Hands) {
    const [usual, other] = sources[platform] ?? []
    const source = hands.fallback ? (other ?? usual) : usual
    if (source === undefined) throw new SourceFailure('PLATFORM_UNAVAILABLE', 'nobody has it')
    const isOne = typeof asked.platform === 'string' || asked.platform.length === 1
    return inTime(hands.signal, clock, async (signal) => {
      const inside = { ...hands, signal }
      const first = askOne(source, platform, asked, inside)
      // The answer of the others leaves no retry to this one.
      if (isOne || other === undefined || source === other) return first
      return first.catch((cause: unknown) => {
        signal.throwIfAborted()
        hands.told('asked the fallback', { platform, cause: String(cause) })
        return askOne(other, platform, asked, inside)
      })
    })
  }

  return defineSkill({
    ...contracted(CONTRACT, options),
    ...(cache && { cache: { ttl: cache.ttlMs } }),
    provider: ({ platform }) => (typeof platform === 'string' ? platform : undefined),
    run: async (asked, { signal, now, log, failure, fallback, progress }) => {
      const platforms = platformsOf(asked)
      const hands: Hands = {
        now,
        signal,
        fallback: fallback === 'source',
        told: (what, fields) => log.warn(what, fields),
      }
      let done = 0
      const all = await Promise.allSettled(
        platforms.map(async (platform) => {
          const came = await ask(platform, asked, hands)
          done += 1
          progress(done / platforms.length, platform)
          return came
        }),
      )
      signal.throwIfAborted()
      const came = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      const lost = all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      // T1.
      if (came.length === 0) throw failureOf(lost[0], failure)
      for (const cause of lost) hands.told('a platform gave nothing', { cause: String(cause) })
      const unavailable = platforms.filter((_, at) => all[at]?.status === 'rejected')
      const { excludeTopics: topics = [], limit = LIMIT } = asked
      const fit = fitting(asked, came.flat(), now())
      const allowed: Allowed = { topics, most: limit + 1, signal, onTrouble: hands.told }
      const trends = meaning === undefined ? fit : await withoutMeant(fit, meaning, allowed)
      return answerOf(asked, trends, { now: now(), unavailable })
    },
    recover: ({ ending, cached }, asked): FetchTrendsOutput | undefined => {
      // What is malformed is as good as nothing.
      if (ending === 'empty') {
        return { trends: [], count: 0, truncated: false, platform: asked.platform }
      }
      return ending === 'cached' && cached ? stale(cached, asked, clock.now()) : undefined
    },
  })
}

const platformsOf = ({ platform }: FetchTrendsInput): readonly TrendPlatform[] =>
  typeof platform === 'string' ? [platform] : platform

type Failing = (
  code: SourceFailure['code'],
  options: { readonly cause: unknown; readonly detail: string; readonly retryAfter?: number },
) => Error

function failureOf(cause: unknown, failure: Failing): Error {
  const detail = String(cause)
  if (!(cause instanceof SourceFailure)) return failure('PLATFORM_UNAVAILABLE', { cause, detail })
  const { code, retryAfterMs: retryAfter } = cause
  return failure(code, { cause, detail, ...(retryAfter !== undefined && { retryAfter }) })
}

/** T2. A trend from the future has a wrong clock somewhere. */
function sift(
  came: readonly unknown[],
  { platform, source, now }: { platform: TrendPlatform; source: string; now: Instant },
  { told }: Hands,
): readonly TrendData[] {
  const trends = came.flatMap((each) => {
    const checked = checkTrendData(cleanValue(each))
    if (!checked.ok || checked.message.platform !== platform) return []
    return trendIssues(checked.message, now).length === 0 ? [checked.message] : []
  })
  const malformed = came.length - trends.length
  if (malformed > 0) told('some of it were no trends', { platform, source, malformed })
  if (came.length > 0 && trends.length === 0) {
    throw new SourceFailure('VALIDATION_FAILED', `${source}: nothing but rubbish`)
  }
  return trends
}

/** T3. */
function fitting(
  asked: FetchTrendsInput,
  came: readonly TrendData[],
  now: Instant,
): readonly TrendData[] {
  const { minEngagement = MIN_ENGAGEMENT, excludeTopics = [] } = asked
  const fit = young(asked, came, now).filter(
    (trend) =>
      trend.engagement.engagement_score >= minEngagement && !isExcluded(trend, excludeTopics),
  )
  return withoutRepeats(fit)
}

function young(asked: FetchTrendsInput, trends: readonly TrendData[], now: Instant) {
  const oldest = now - windowOf(asked)
  return trends.filter(({ timestamp }) => Date.parse(timestamp) >= oldest)
}

function answerOf(
  asked: FetchTrendsInput,
  trends: readonly TrendData[],
  { now, unavailable }: { readonly now: Instant; readonly unavailable: readonly TrendPlatform[] },
): FetchTrendsOutput {
  const { limit = LIMIT } = asked
  return {
    trends: trends.slice(0, limit),
    fetched_at: new Date(now).toISOString(),
    platform: asked.platform,
    count: Math.min(trends.length, limit),
    truncated: trends.length > limit,
    ...(unavailable.length > 0 && { unavailable: [...unavailable] }),
  }
}

/** T5. */
function stale(
  cached: FetchTrendsOutput,
  asked: FetchTrendsInput,
  now: Instant,
): FetchTrendsOutput | undefined {
  const trends = young(asked, cached.trends, now)
  return trends.length === 0 ? undefined : { ...cached, trends, count: trends.length, stale: true }
}

/** The schema's own defaults; the runner puts them in. */
const LIMIT = 50
const MIN_ENGAGEMENT = 10_000
const HOUR_MS = 3_600_000

function windowOf({ timeWindow = '24h' }: FetchTrendsInput): number {
  const count = Number.parseInt(timeWindow, 10)
  return count * (timeWindow.endsWith('d') ? 24 : 1) * HOUR_MS
}

async function inTime<Value>(
  outer: AbortSignal,
  clock: Clock,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const late = new AbortController()
  let timer: { readonly cancel: () => void } | undefined
  const over = new Promise<never>((_, reject) => {
    timer = clock.after(PLATFORM_MS, () => {
      late.abort()
      reject(new SourceFailure('TIMEOUT', `no answer within ${PLATFORM_MS} ms`))
    })
  })
  try {
    return await Promise.race([run(AbortSignal.any([outer, late.signal])), over])
  } finally {
    timer?.cancel()
  }
}
