/**
 * `fetch_trends` (SK-6): what is talked about, on one platform or on several at once.
 *
 *   T1  Platforms are asked side by side, ten seconds each; one that fails takes nothing from the
 *       others, and only where all fail does the call.
 *   T2  What is not a trend is left out and counted in the log; a platform that gave nothing but
 *       that has failed.
 *   T3  Newer than the window, loud enough, not excluded, each once; the loudest first.
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
import { createHourly } from './trends/hourly.ts'
import { isExcluded, withoutRepeats } from './trends/same.ts'
import { SourceFailure, type TrendSource } from './trends/source.ts'

export type FetchTrendsOptions = Priced & {
  /** The usual source of each platform, and who is asked where it does not answer. */
  readonly sources: Readonly<Partial<Record<TrendPlatform, readonly TrendSource[]>>>
  /** Requests of a platform an hour: 100 unless given, as the document has it. */
  readonly perHour?: number
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
  const { sources, perHour = PER_HOUR, clock = createClock() } = options
  const hourly = createHourly(perHour)
  const { cache } = CONTRACT

  /** The usual one; on a retry whose recovery says so, the next. */
  async function ask(platform: TrendPlatform, asked: FetchTrendsInput, hands: Hands) {
    const [usual, other] = sources[platform] ?? []
    const source = hands.fallback ? (other ?? usual) : usual
    if (source === undefined) throw new SourceFailure('PLATFORM_UNAVAILABLE', 'nobody has it')
    const againAt = hourly.take(platform, hands.now())
    if (againAt !== undefined) {
      const minutes = Math.ceil((againAt - hands.now()) / 60_000)
      throw new SourceFailure('RATE_LIMITED', `${platform}: again in ${minutes} minutes`)
    }
    const { limit = LIMIT } = asked
    const wanted = { platform, windowMs: windowOf(asked), limit: limit + SPARE }
    const came = await inTime((signal) => source.fetch(wanted, signal), hands.signal, clock)
    return sift(came, { platform, source: source.name, now: hands.now() }, hands)
  }

  return defineSkill({
    ...contracted(CONTRACT, options),
    ...(cache && { cache: { ttl: cache.ttlMs } }),
    provider: ({ platform }) => (typeof platform === 'string' ? platform : undefined),
    run: async (asked, { signal, now, log, failure, fallback, progress }) => {
      const platforms = typeof asked.platform === 'string' ? [asked.platform] : asked.platform
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
      return answerOf(asked, came, now())
    },
    // What is malformed is as good as nothing.
    recover: ({ ending }, asked): FetchTrendsOutput | undefined =>
      ending === 'empty'
        ? { trends: [], count: 0, truncated: false, platform: asked.platform }
        : undefined,
  })
}

type Failing = (
  code: 'PLATFORM_UNAVAILABLE' | 'RATE_LIMITED' | 'NETWORK_ERROR' | 'TIMEOUT' | 'VALIDATION_FAILED',
  options: { readonly cause: unknown; readonly detail: string },
) => Error

function failureOf(cause: unknown, failure: Failing): Error {
  const code =
    cause instanceof Malformed
      ? 'VALIDATION_FAILED'
      : cause instanceof SourceFailure
        ? cause.code
        : 'PLATFORM_UNAVAILABLE'
  return failure(code, { cause, detail: String(cause) })
}

class Malformed extends Error {
  override readonly name = 'Malformed'
}

/** T2. A trend from the future has a wrong clock somewhere. */
function sift(
  came: readonly unknown[],
  { platform, source, now }: { platform: TrendPlatform; source: string; now: Instant },
  { told }: Hands,
): readonly TrendData[] {
  const trends = came.flatMap((each) => {
    const checked = checkTrendData(each)
    return checked.ok && trendIssues(checked.message, now).length === 0 ? [checked.message] : []
  })
  const malformed = came.length - trends.length
  if (malformed > 0) told('some of it were no trends', { platform, source, malformed })
  if (came.length > 0 && trends.length === 0) throw new Malformed(`${source}: nothing but rubbish`)
  return trends
}

/** T3. */
function answerOf(
  asked: FetchTrendsInput,
  came: readonly (readonly TrendData[])[],
  now: Instant,
): FetchTrendsOutput {
  const { limit = LIMIT, minEngagement = MIN_ENGAGEMENT, excludeTopics = [] } = asked
  const oldest = now - windowOf(asked)
  const fit = came
    .flat()
    .filter(
      (trend) =>
        Date.parse(trend.timestamp) >= oldest &&
        trend.engagement.engagement_score >= minEngagement &&
        !isExcluded(trend, excludeTopics),
    )
  const trends = withoutRepeats(fit)
  return {
    trends: trends.slice(0, limit),
    fetched_at: new Date(now).toISOString(),
    platform: asked.platform,
    count: Math.min(trends.length, limit),
    truncated: trends.length > limit,
  }
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
  run: (signal: AbortSignal) => Promise<Value>,
  outer: AbortSignal,
  clock: Clock,
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
