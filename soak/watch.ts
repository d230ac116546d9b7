/** Looks at the processes of a soak again and again while it runs, and tells how it goes. */
import { writeSpan } from '@chimera/cli/span'
import type { Counts } from './drive.ts'
import type { Gauged } from './gauge.ts'
import type { Sample } from './verdict.ts'

export type Watched = { readonly name: string; readonly gauge: () => Promise<Gauged> }

export type WatchHands = {
  readonly parts: readonly Watched[]
  readonly counts: Counts
  readonly lastsMs: number
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** Ends it early. */
  readonly signal: AbortSignal
  readonly show: (line: string) => void
  /** Called when the first third is over, and at the end. */
  readonly onMark: (mark: 'settled' | 'end') => Promise<void>
}

// Two collections of garbage cost a tenth of a second, and sixty points tell a slope well.
const EVERY_MS = 10_000
const POINTS = 60
const LINE_MS = 1_000

export async function watch(hands: WatchHands): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const { parts, counts, lastsMs, now, sleep, signal, show, onMark } = hands
  const series = new Map<string, Sample[]>(parts.map(({ name }) => [name, []]))
  const everyMs = Math.min(EVERY_MS, lastsMs / POINTS)
  const began = now()
  let next = began
  let marked = false
  while (now() - began < lastsMs && !signal.aborted) {
    if (now() >= next) {
      for (const { name, gauge } of parts) {
        series.get(name)?.push({ ...(await gauge()), ended: counts.ended.length })
      }
      next = now() + everyMs
    }
    if (!marked && now() - began > lastsMs / 3) {
      marked = true
      await onMark('settled')
    }
    show(lineOf(counts, series, { passedMs: now() - began, lastsMs }))
    await sleep(LINE_MS)
  }
  await onMark('end')
  return series
}

const MB = 1_048_576

function lineOf(
  { begun, ended, said }: Counts,
  series: ReadonlyMap<string, readonly Sample[]>,
  { passedMs, lastsMs }: { readonly passedMs: number; readonly lastsMs: number },
): string {
  const parts = [...series].map(([name, samples]) => {
    const { held = 0, rss = 0, delayMs = 0 } = samples.at(-1) ?? {}
    const memory = `${(held / MB).toFixed(1)} of ${Math.round(rss / MB)} MB`
    return `${name} ${memory}, ${Math.round(delayMs)} ms`
  })
  return [
    `${writeSpan(passedMs)} of ${writeSpan(lastsMs)}`,
    `campaigns ${begun} begun, ${ended.length} ended`,
    `${said.approves + said.edits} posts`,
    ...parts,
  ].join(' · ')
}
