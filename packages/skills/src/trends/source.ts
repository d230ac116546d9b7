/** Where trends come from: an MCP server, a feed, a sample. A port of one platform at a time. */
import type { TrendPlatform } from '@chimera/dialects/skills/words'

export type TrendsWanted = {
  readonly platform: TrendPlatform
  /** Not older than this, in milliseconds. */
  readonly windowMs: number
  readonly limit: number
}

/** Why a source gave nothing; anything else that it throws is `PLATFORM_UNAVAILABLE`. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure'
  readonly code:
    | 'PLATFORM_UNAVAILABLE'
    | 'RATE_LIMITED'
    | 'NETWORK_ERROR'
    | 'TIMEOUT'
    | 'VALIDATION_FAILED'

  /** When it may be asked again, where that is known. */
  readonly retryAfterMs?: number

  constructor(code: SourceFailure['code'], detail: string, retryAfterMs?: number) {
    super(detail)
    this.code = code
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }
}

export type TrendSource = {
  /** As logs name it. */
  readonly name: string
  /** What it has, as it came: whoever asks checks it. Rejects when it has no answer. */
  readonly fetch: (wanted: TrendsWanted, signal: AbortSignal) => Promise<readonly unknown[]>
}
