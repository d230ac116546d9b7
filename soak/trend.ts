/**
 * Whether a figure rises over time: the slope that fits it, and how sure that is.
 *
 *   T1  The fit is the median of the slopes between all pairs of points (Theil and Sen), so that up
 *       to a quarter of them may be wild and say nothing.
 *   T2  The slope has an interval beside it (Kendall's, 99 of 100), since a slope of few or noisy
 *       points is a guess. Flat is what is shown to be: the whole interval is within the limit.
 *   T3  Only the last two thirds count: before, code is compiled and caches are filled.
 */
export type Point = { readonly at: number; readonly figure: number }

export type Slope = {
  readonly slope: number
  /** Between these it lies, 99 times of 100. */
  readonly least: number
  readonly most: number
}

export type Course = 'flat' | 'rising' | 'unclear'

/** 99 of 100 lie so many deviations around the middle of a normal distribution. */
const DEVIATIONS = 2.576
/** Fewer have no interval to speak of. */
export const FEWEST_POINTS = 10

/** T3. */
export function settled(points: readonly Point[]): readonly Point[] {
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined) return []
  const from = first.at + (last.at - first.at) / 3
  return points.filter(({ at }) => at >= from)
}

/** T1, T2. Undefined where there are too few points to say anything. */
export function fit(points: readonly Point[]): Slope | undefined {
  if (points.length < FEWEST_POINTS) return undefined
  const slopes: number[] = []
  for (const [at, one] of points.entries()) {
    for (const other of points.slice(at + 1)) {
      if (other.at !== one.at) slopes.push((other.figure - one.figure) / (other.at - one.at))
    }
  }
  if (slopes.length === 0) return undefined
  slopes.sort((one, other) => one - other)
  const count = points.length
  const spread = DEVIATIONS * Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18)
  const middle = (slopes.length - 1) / 2
  return {
    slope: ranked(slopes, middle),
    least: ranked(slopes, middle - spread / 2),
    most: ranked(slopes, middle + spread / 2),
  }
}

export function courseOf(found: Slope | undefined, limit: number): Course {
  if (found === undefined) return 'unclear'
  if (found.most <= limit) return 'flat'
  return found.least > limit ? 'rising' : 'unclear'
}

/** The figure of a rank, between two where it is none of them. */
function ranked(sorted: readonly number[], rank: number): number {
  const within = Math.min(Math.max(rank, 0), sorted.length - 1)
  const below = sorted[Math.floor(within)] ?? 0
  const above = sorted[Math.ceil(within)] ?? below
  return below + (above - below) * (within - Math.floor(within))
}
