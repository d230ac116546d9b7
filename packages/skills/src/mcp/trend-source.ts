/**
 * Trends from the resources of an MCP server, one resource for each platform.
 *
 *   R1  A resource is JSON: a list of trends, or `{ "trends": […] }`. What is in it is judged by
 *       whoever asked (`fetch_trends`), and stays data.
 *   R2  The document names `twitter/feed/general` as the fallback of `twitter`; as addresses these
 *       are `twitter://feed/general` and `twitter://trends`, for every platform alike.
 */
import type { TrendPlatform } from '@chimera/dialects/skills/words'
import { SourceFailure, type TrendSource, type TrendsWanted } from '../trends/source.ts'
import { readData } from './clean.ts'
import type { McpConnection } from './connection.ts'
import { McpFailure, type McpFailureCode } from './failure.ts'

export type TrendSourceOptions = {
  /**
   * Addresses of resources by platform. `{limit}` and `{hours}` stand for what is wanted. Default:
   * `trendsAddress`.
   */
  readonly addresses?: Readonly<Partial<Record<TrendPlatform, string>>>
  /** For platforms that are not in `addresses`. Default: `trends`. */
  readonly resource?: 'trends' | 'general'
}

/** The usual resource of a platform. */
export const trendsAddress = (platform: TrendPlatform): string => `${platform}://trends`
/** The one that is asked instead where the usual one does not answer. */
export const generalAddress = (platform: TrendPlatform): string => `${platform}://feed/general`

// Of one resource; a request asks for 600 at most.
const MOST_TRENDS = 2_000
const HOUR_MS = 3_600_000
// Before the skill gives up, at 10 s, so that a silent server is noticed.
const LIMIT_MS = 9_500

// biome-ignore format: a table is read by its columns
const FAILURES: Readonly<Record<McpFailureCode, SourceFailure['code']>> = {
  unreachable:   'NETWORK_ERROR',
  timeout:       'TIMEOUT',
  cancelled:     'TIMEOUT',
  too_large:     'VALIDATION_FAILED',
  rate_limited:  'RATE_LIMITED',
  denied:        'PLATFORM_UNAVAILABLE',
  refused:       'PLATFORM_UNAVAILABLE',
  rubbish:       'VALIDATION_FAILED',
  misconfigured: 'PLATFORM_UNAVAILABLE',
  closed:        'PLATFORM_UNAVAILABLE',
}

export function trendSource(
  connection: McpConnection,
  { addresses = {}, resource = 'trends' }: TrendSourceOptions = {},
): TrendSource {
  const usual = resource === 'trends' ? trendsAddress : generalAddress
  return {
    name: `${connection.name} (MCP)`,
    async fetch(wanted, signal) {
      const address = addresses[wanted.platform] ?? usual(wanted.platform)
      const { texts } = await connection
        .read(filled(address, wanted), { signal, limitMs: LIMIT_MS })
        .catch((error: unknown) => {
          throw error instanceof McpFailure
            ? new SourceFailure(FAILURES[error.code], `${error.code}: ${error.detail}`)
            : error
        })
      const trends = texts.flatMap(trendsIn)
      if (texts.length === 0) throw new SourceFailure('VALIDATION_FAILED', 'no text came')
      return trends.slice(0, MOST_TRENDS)
    },
  }
}

const filled = (address: string, { limit, windowMs }: TrendsWanted): string =>
  address
    .replaceAll('{limit}', String(limit))
    .replaceAll('{hours}', String(Math.ceil(windowMs / HOUR_MS)))

/** R1. */
function trendsIn(text: string): readonly unknown[] {
  const data = readData(text)
  const { trends }: { readonly trends?: unknown } = Object(data)
  if (Array.isArray(data)) return data
  if (Array.isArray(trends)) return trends
  throw new SourceFailure('VALIDATION_FAILED', 'not a list of trends')
}
