/**
 * Feeds and samples as resources of an MCP server: `news://trends` and `news://feed/general`, and
 * the same for every platform that has something.
 *
 *   V1  A resource is `{ platform, fetched_at, samples, trends }`. Samples are there only where the
 *       user asked for them and the platform has no feed, and they say so.
 *   V2  `trends` has the fresh and loud first, `feed/general` the newest.
 */
import type { TrendData } from '@chimera/dialects/skills/trend'
import { TREND_PLATFORMS, type TrendPlatform } from '@chimera/dialects/skills/words'
import type { Clock } from '@chimera/host/clock'
import { McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { generalAddress, trendsAddress } from '../mcp/trend-source.ts'
import { samplesOf } from '../trends/samples.ts'
import { type FeedReader, FeedsFailure } from './reader.ts'

export type ServingOptions = {
  readonly reader: FeedReader
  readonly clock: Clock
  readonly samples: boolean
}

// As many as one question may ask for, and some to spare.
const MOST_TRENDS = 600

/** A server for one connection; all of them share the reader. */
export function feedsServer({ reader, clock, samples }: ServingOptions): McpServer {
  const server = new McpServer(
    { name: 'chimera-feeds', version: '0.1.0' },
    { capabilities: { resources: {} } },
  )
  const fed = reader.platforms()

  async function trendsOf(platform: TrendPlatform, signal: AbortSignal) {
    if (fed.includes(platform)) return reader.read(platform, signal)
    return samplesOf(platform, clock.now())
  }

  for (const platform of TREND_PLATFORMS) {
    const isSample = !fed.includes(platform)
    if (isSample && !samples) continue
    const note = isSample ? ' (samples: invented, for trying out)' : ''
    const resources = [
      [trendsAddress(platform), `Trends on ${platform}${note}`, asTheyAre],
      [generalAddress(platform), `All of ${platform}, the newest first${note}`, newest],
    ] as const
    for (const [address, description, sorted] of resources) {
      const config = { title: description, description, mimeType: 'application/json' }
      server.registerResource(address, address, config, async (uri, { mcpReq }) => {
        const trends = await trendsOf(platform, mcpReq.signal).catch(refused)
        const answer = {
          platform,
          fetched_at: new Date(clock.now()).toISOString(),
          samples: isSample,
          trends: sorted(trends).slice(0, MOST_TRENDS),
        }
        return {
          contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(answer) }],
        }
      })
    }
  }
  return server
}

const asTheyAre = (trends: readonly TrendData[]): readonly TrendData[] => trends

const newest = (trends: readonly TrendData[]): readonly TrendData[] =>
  trends.toSorted((one, other) => other.timestamp.localeCompare(one.timestamp))

/** The code goes along, so that a client can tell a pause from a breakdown. */
function refused(error: unknown): never {
  if (!(error instanceof FeedsFailure)) throw error
  throw new ProtocolError(ProtocolErrorCode.InternalError, error.message, { code: error.code })
}
