/**
 * Scores that were given lately, by trend, goals and scorer (SK-7): what was scored in another
 * batch or call is not scored again.
 *
 *   R1  At most so many are kept, the latest used; each for half an hour after it was given.
 */
import { createHash } from 'node:crypto'
import type { TrendData } from '@chimera/dialects/skills/trend'
import type { Instant } from '@chimera/domain/ids'
import type { Scored } from './scorer.ts'

export type Remembered = {
  readonly find: (key: string, now: Instant) => Scored | undefined
  readonly put: (key: string, scored: Scored, now: Instant) => void
}

const MOST = 20_000

export function createRemembered(ttlMs: number): Remembered {
  const kept = new Map<string, { readonly scored: Scored; readonly until: Instant }>()
  return {
    find(key, now) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      kept.delete(key)
      if (found.until <= now) return undefined
      kept.set(key, found)
      return found.scored
    },
    put(key, scored, now) {
      kept.delete(key)
      kept.set(key, { scored, until: now + ttlMs })
      const [oldest] = kept.keys()
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest)
    },
  }
}

/** What a score depends on: not who trends now, and not the order of the goals. */
export function scoreKey(
  { topic, metadata }: TrendData,
  goals: readonly string[],
  scorer: string,
): string {
  const what = [scorer, topic, metadata?.hashtags ?? [], goals.toSorted()]
  return createHash('sha256').update(JSON.stringify(what)).digest('base64url')
}
