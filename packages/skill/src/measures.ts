/**
 * What a skill's calls look like to whoever watches them (SK-4), through a port that `host`'s
 * metrics fit. Versions of one skill share its series.
 *
 *   M1  Names are the document's: `skill_{name}_duration_ms`, `_errors_total`, `_retries_total`,
 *       `_success_rate`. What a metric's name cannot hold is written as `_`.
 *   M2  The rate is that of the last hundred calls: one since the start would hide a bad hour.
 */
import { LIMITS } from '@chimera/domain/limits'

type Labels<Name extends string> = Readonly<Record<Name, string>>
type Metric<Name extends string> = {
  readonly name: string
  readonly help: string
  readonly labels?: readonly Name[]
}

export type Metrics = {
  readonly counter: <Name extends string = never>(
    metric: Metric<Name>,
  ) => { readonly add: (labels: Labels<Name>, by?: number) => void }
  readonly gauge: <Name extends string = never>(
    metric: Metric<Name>,
  ) => { readonly set: (labels: Labels<Name>, value: number) => void }
  readonly histogram: <Name extends string = never>(
    metric: Metric<Name> & { readonly buckets: readonly number[] },
  ) => { readonly observe: (labels: Labels<Name>, value: number) => void }
}

export type Measured = {
  readonly durationMs: number
  readonly retries: number
  /** Absent: it succeeded. */
  readonly code: string | undefined
  readonly counts: string | undefined
}

// From a cached answer to the longest timeout of the document.
const BUCKETS_MS = [1, 5, 10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 45_000]

export function createMeasures(metrics: Metrics): (skill: string, measured: Measured) => void {
  const known = new Map<string, (measured: Measured) => void>()
  const bySkill = new Map<string, (measured: Measured) => void>()
  return (skill, measured) => {
    let measure = bySkill.get(skill)
    if (measure === undefined) {
      const name = skill.replace(/[^a-zA-Z0-9_]/g, '_')
      measure = known.get(name) ?? createSeries(metrics, name)
      known.set(name, measure)
      bySkill.set(skill, measure)
    }
    measure(measured)
  }
}

function createSeries(metrics: Metrics, skill: string): (measured: Measured) => void {
  const duration = metrics.histogram({
    name: `skill_${skill}_duration_ms`,
    help: `How long calls of ${skill} took.`,
    buckets: BUCKETS_MS,
  })
  const errors = metrics.counter({
    name: `skill_${skill}_errors_total`,
    help: `Calls of ${skill} that failed, by the code they ended in.`,
    labels: ['error_code'],
  })
  const retried = metrics.counter({
    name: `skill_${skill}_retries_total`,
    help: `Attempts of ${skill} after the first one of a call.`,
  })
  const rate = metrics.gauge({
    name: `skill_${skill}_success_rate`,
    help: `The share of successes among the last ${LIMITS.skillRateCalls} calls of ${skill}.`,
  })
  const counted = metrics.counter({
    name: `skill_${skill}_counted_total`,
    help: `What the recovery of an error of ${skill} says is to be counted.`,
    labels: ['what'],
  })
  const latest: boolean[] = []
  let good = 0

  return ({ durationMs, retries, code, counts }) => {
    duration.observe({}, durationMs)
    if (retries > 0) retried.add({}, retries)
    if (code !== undefined) errors.add({ error_code: code })
    if (counts !== undefined) counted.add({ what: counts })
    latest.push(code === undefined)
    if (code === undefined) good += 1
    if (latest.length > LIMITS.skillRateCalls && latest.shift()) good -= 1
    rate.set({}, good / latest.length)
  }
}
