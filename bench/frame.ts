/**
 * How a benchmark is measured: ours and a peer in one process, in turns (A B A B), so that a
 * machine that slows down slows both; what counts is the median of the ratios of the rounds.
 *
 *   B1  Both sides are warm before the first round counts.
 *   B2  A round is long enough for the clock: the number of times is found before, by trying.
 *   B3  The clock is handed in.
 */
/** Does the work `times` times; the frame makes operations per second of it. */
export type Side = {
  readonly name: string
  readonly run: (times: number) => void | Promise<void>
}

/** Measures by itself what time does not tell, such as bytes or a percentile, once a round. */
export type Gauge = { readonly name: string; readonly read: () => number | Promise<number> }

/** A figure that is known and not measured: what a document or the hardware allows. */
export type Limit = { readonly name: string; readonly figure: number }

/** What ours divided by the peer's must be. */
export type Target = { readonly direction: 'at least' | 'at most'; readonly ratio: number }

export type Benchmark = {
  /** The name of its file. */
  readonly name: string
  /** One paragraph: what is done, to what, and why the comparison is fair. */
  readonly method: string
  readonly ours: Side | Gauge
  readonly peer: Side | Gauge | Limit
  readonly target: Target
  /** What the figures count: operations per second when it is left out. */
  readonly unit?: string
  readonly open?: () => Promise<void>
  readonly close?: () => Promise<void>
}

export type Pace = {
  readonly rounds: number
  readonly warmUps: number
  readonly roundMs: number
}

// A quarter of a second outlasts a collection of garbage; an odd number has a middle.
export const FULL: Pace = { rounds: 15, warmUps: 2, roundMs: 250 }
/** To see that it runs; its figures are rough. */
export const QUICK: Pace = { rounds: 3, warmUps: 1, roundMs: 40 }

export type Round = { readonly ours: number; readonly peer: number }

export type Result = {
  readonly name: string
  readonly method: string
  readonly unit: string
  readonly ours: { readonly name: string; readonly figure: number }
  readonly peer: { readonly name: string; readonly figure: number }
  readonly ratio: number
  /** The lowest and the highest ratio of a round: how much to believe the one in the middle. */
  readonly spread: readonly [lowest: number, highest: number]
  readonly target: Target
  readonly met: boolean
  readonly rounds: number
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  if (upper === undefined) throw new Error('the median of nothing')
  const lower = sorted.length % 2 === 0 ? sorted[middle - 1] : upper
  return ((lower ?? upper) + upper) / 2
}

export function meets({ direction, ratio: wanted }: Target, ratio: number): boolean {
  return direction === 'at least' ? ratio >= wanted : ratio <= wanted
}

export function judge(benchmark: Benchmark, rounds: readonly Round[]): Result {
  const { name, method, target, unit = 'per second' } = benchmark
  const ratios = rounds.map(({ ours, peer }) => ours / peer)
  const ratio = median(ratios)
  return {
    name,
    method,
    unit,
    ours: { name: benchmark.ours.name, figure: median(rounds.map(({ ours }) => ours)) },
    peer: { name: benchmark.peer.name, figure: median(rounds.map(({ peer }) => peer)) },
    ratio,
    spread: [Math.min(...ratios), Math.max(...ratios)],
    target,
    met: meets(target, ratio),
    rounds: rounds.length,
  }
}

/** Milliseconds that only rise, such as those of `performance.now`. */
export type Clock = () => number

export async function measure(benchmark: Benchmark, pace: Pace, now: Clock): Promise<Result> {
  await benchmark.open?.()
  try {
    const ours = await prepare(benchmark.ours, pace, now)
    const peer = await prepare(benchmark.peer, pace, now)
    for (let warmUp = 0; warmUp < pace.warmUps; warmUp += 1) {
      await ours()
      await peer()
    }
    const rounds: Round[] = []
    while (rounds.length < pace.rounds) rounds.push({ ours: await ours(), peer: await peer() })
    return judge(benchmark, rounds)
  } finally {
    await benchmark.close?.()
  }
}

/** More than any round needs; a side that takes no time at all must not be asked for ever. */
const MOST_TIMES = 2 ** 30

/** Finds how often a side runs in one round, and answers what measures such a round. */
async function prepare(
  side: Side | Gauge | Limit,
  pace: Pace,
  now: Clock,
): Promise<() => number | Promise<number>> {
  if ('figure' in side) return () => side.figure
  if ('read' in side) return side.read
  const times = await timesPerRound(side, pace, now)
  return async () => times / ((await lasts(side, times, now)) / 1_000)
}

async function timesPerRound(side: Side, { roundMs }: Pace, now: Clock): Promise<number> {
  let times = 1
  while (times < MOST_TIMES) {
    const tookMs = await lasts(side, times, now)
    if (tookMs >= roundMs) break
    // A guess from a short run is poor, so that it grows by at most ten times.
    const growth = tookMs > 0 ? Math.min(10, (1.1 * roundMs) / tookMs) : 10
    times = Math.min(MOST_TIMES, Math.ceil(times * growth))
  }
  return times
}

async function lasts(side: Side, times: number, now: Clock): Promise<number> {
  const start = now()
  await side.run(times)
  return now() - start
}
