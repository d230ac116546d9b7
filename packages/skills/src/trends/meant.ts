/**
 * Leaves out trends that are about an excluded topic without naming it.
 *
 *   M1  As many as are wanted are looked at, the first ones first, in portions.
 *   M2  Whoever cannot tell takes nothing away: a failure is told, and words alone have judged.
 */
import type { TrendData } from '@chimera/dialects/skills/trend'
import type { Scorer } from '../relevance/scorer.ts'

export type Allowed = {
  readonly topics: readonly string[]
  /** As many as are needed. */
  readonly most: number
  readonly signal: AbortSignal
  readonly onTrouble: (what: string, fields: Readonly<Record<string, unknown>>) => void
}

// Nobody sees what is left out, so more has to speak for it than for letting something through. On
// the labelled pairs nine of ten that reach this are what the reader meant.
const MEANT = 0.9
const PORTION = 50

export async function withoutMeant(
  trends: readonly TrendData[],
  meaning: Scorer,
  { topics, most, signal, onTrouble }: Allowed,
): Promise<readonly TrendData[]> {
  const wanted = topics.filter((topic) => topic.trim() !== '')
  if (wanted.length === 0) return trends
  const kept: TrendData[] = []
  try {
    for (let at = 0; at < trends.length && kept.length < most; at += PORTION) {
      const portion = trends.slice(at, at + PORTION)
      const scores = await meaning.score(portion, wanted, signal)
      kept.push(...portion.filter((_, place) => (scores[place]?.score ?? 0) < MEANT))
    }
    return kept
  } catch (error) {
    signal.throwIfAborted()
    onTrouble('topics were excluded by words alone', { cause: String(error) })
    return trends
  }
}
