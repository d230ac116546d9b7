/**
 * Reads the feeds of a user: when somebody asks, not more often than need be, and each only for
 * what is new.
 *
 *   R1  A reading is good for a while. Who asks meanwhile gets what is remembered; who asks at once
 *       shares one reading.
 *   R2  A feed is asked conditionally (`ETag`, `Last-Modified`), and left alone as long as it says
 *       (`Retry-After`).
 *   R3  A feed that fails takes nothing from the others. Where all of a platform's fail, what was
 *       read within half an hour stands; after that the platform has failed.
 *   R4  Addresses may hold keys: they are named by their host and nothing more.
 */
import type { TrendData } from '@chimera/dialects/skills/trend'
import type { TrendPlatform } from '@chimera/dialects/skills/words'
import type { Instant } from '@chimera/domain/ids'
import type { Clock } from '@chimera/host/clock'
import type { Answer, GuardedClient } from '@chimera/host/guarded/client'
import { FeedRefused, textOf } from './document.ts'
import { entriesOf } from './entries.ts'
import type { Memory } from './memory.ts'
import type { Feed } from './settings.ts'

/** What is known of a feed besides its entries. */
export type FeedState = {
  readonly etag?: string
  readonly modified?: string
  /** When it was last read, and when it may be asked again. */
  readonly readAt?: Instant
  readonly notBefore?: Instant
  readonly trouble?: string
}

export type FeedReader = {
  /** What the platform's feeds have. Rejects with a `FeedsFailure` when none could be read. */
  readonly read: (platform: TrendPlatform, signal: AbortSignal) => Promise<readonly TrendData[]>
  readonly platforms: () => readonly TrendPlatform[]
  readonly states: () => ReadonlyMap<string, FeedState>
}

export class FeedsFailure extends Error {
  override readonly name = 'FeedsFailure'
  readonly code: 'RATE_LIMITED' | 'PLATFORM_UNAVAILABLE'

  constructor(code: FeedsFailure['code'], detail: string) {
    super(detail)
    this.code = code
  }
}

export type FeedReaderOptions = {
  readonly feeds: readonly Feed[]
  readonly memory: Memory
  readonly guard: GuardedClient
  readonly clock: Clock
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** 5 minutes unless given. */
  readonly refreshMs?: number
  /** What is known of feeds by their address, from before. */
  readonly states?: ReadonlyMap<string, FeedState>
  /** Hears that there is something new to keep. */
  readonly onRead?: () => void
}

const MINUTE_MS = 60_000
const REFRESH_MS = 5 * MINUTE_MS
const GOOD_MS = 30 * MINUTE_MS
// After a failure; a feed that says how long to wait is believed up to a day.
const AGAIN_MS = MINUTE_MS
const LONGEST_MS = 24 * 60 * MINUTE_MS
const LIMITS = { bodyBytes: 1024 * 1024, totalMs: 8_000, headersMs: 6_000, pauseMs: 4_000 }
const VALIDATOR_CHARS = 500
const TOO_MANY = 'too many requests'

export function createFeedReader(options: FeedReaderOptions): FeedReader {
  const { feeds, memory, guard, clock, environment = {}, refreshMs = REFRESH_MS } = options
  const states = new Map(options.states)
  const flights = new Map<string, Promise<void>>()

  const stateOf = (url: string): FeedState => states.get(url) ?? {}

  async function fetch(feed: Feed): Promise<FeedState> {
    const before = stateOf(feed.url)
    const outcome = await guard.request({
      url: filled(feed.url, environment),
      headers: {
        accept: 'application/rss+xml, application/atom+xml, application/xml, application/json',
        ...(before.etag && { 'if-none-match': before.etag }),
        ...(before.modified && { 'if-modified-since': before.modified }),
      },
      limits: LIMITS,
    })
    if (!outcome.ok) throw new FeedRefused(outcome.failure.code)
    const now = clock.now()
    const read = { readAt: now, notBefore: now + refreshMs }
    if (outcome.status === 304) return { ...before, ...read }
    if (outcome.status === 429 || outcome.status === 503) {
      const trouble = outcome.status === 429 ? TOO_MANY : 'unavailable'
      return { ...before, notBefore: now + retryMs(outcome, now), trouble }
    }
    if (outcome.status !== 200) throw new FeedRefused(`status ${outcome.status}`)
    memory.add(feed, entriesOf(textOf(outcome.body, outcome.headers['content-type'])), now)
    return { ...validatorsOf(outcome), ...read }
  }

  async function refresh(feed: Feed): Promise<void> {
    const { trouble: _, ...before } = stateOf(feed.url)
    const failed = (error: unknown): FeedState => ({
      ...before,
      notBefore: clock.now() + AGAIN_MS,
      trouble: error instanceof FeedRefused ? error.message : 'it could not be read',
    })
    states.set(feed.url, await fetch(feed).catch(failed))
    options.onRead?.()
  }

  /** R1. */
  function refreshed(feed: Feed): Promise<void> {
    const { notBefore = 0 } = stateOf(feed.url)
    if (clock.now() < notBefore) return Promise.resolve()
    const flight = flights.get(feed.url) ?? refresh(feed).finally(() => flights.delete(feed.url))
    flights.set(feed.url, flight)
    return flight
  }

  return {
    async read(platform, signal) {
      const mine = feeds.filter((feed) => feed.platform === platform)
      await Promise.all(mine.map(refreshed))
      signal.throwIfAborted()
      const now = clock.now()
      const known = mine.map((feed) => ({ feed, ...stateOf(feed.url) }))
      // R3.
      if (known.every(({ readAt = Number.NEGATIVE_INFINITY }) => readAt < now - GOOD_MS)) {
        const busy = known.some(({ trouble }) => trouble === TOO_MANY)
        const said = known.map(
          ({ feed, trouble = 'not read' }) => `${hostOf(feed.url)}: ${trouble}`,
        )
        throw new FeedsFailure(busy ? 'RATE_LIMITED' : 'PLATFORM_UNAVAILABLE', said.join('; '))
      }
      return memory.trends(platform, now)
    },
    platforms: () => [...new Set(feeds.map(({ platform }) => platform))],
    states: () => states,
  }
}

/** R4. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'a feed'
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

function filled(url: string, environment: Readonly<Record<string, string | undefined>>): string {
  return url.replace(VARIABLE, (_, name: string) => {
    const value = environment[name]
    if (value === undefined || value === '') throw new FeedRefused(`${name} is not set`)
    return encodeURIComponent(value)
  })
}

function validatorsOf({ headers }: Answer): Pick<FeedState, 'etag' | 'modified'> {
  const { etag, 'last-modified': modified } = headers
  const isFit = (value: string | undefined): value is string =>
    value !== undefined && value !== '' && value.length <= VALIDATOR_CHARS
  return { ...(isFit(etag) && { etag }), ...(isFit(modified) && { modified }) }
}

/** In seconds, or a date (RFC 9110). */
function retryMs({ headers }: Answer, now: Instant): number {
  const said = headers['retry-after'] ?? ''
  const ms = /^\d{1,9}$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, AGAIN_MS), LONGEST_MS) : AGAIN_MS
}
