/**
 * What is counted and measured, for Prometheus to read. Each process, and each hub in a process,
 * has a registry of its own, so that two in one test do not add up.
 *
 *   M1  A metric has at most so many series; beyond them every label reads `other`, and how often
 *       that happened is itself a metric. A stranger cannot grow the memory by naming things (A5).
 *   M2  A label's value never shows a secret or a name of the inside.
 *   M3  Names and labels are those that the documents give; a name is registered once.
 */
import {
  collectDefaultMetrics,
  Counter as PromCounter,
  Gauge as PromGauge,
  Histogram as PromHistogram,
  Registry,
} from 'prom-client'
import { redactText } from './redact.ts'

export type Labels<Name extends string> = Readonly<Record<Name, string>>

export type Metric<Name extends string> = {
  readonly name: string
  /** One sentence for whoever reads the page. */
  readonly help: string
  readonly labels?: readonly Name[]
  /** The most series of this metric (M1). */
  readonly most?: number
}

export type HistogramMetric<Name extends string> = Metric<Name> & {
  /** Upper bounds of the buckets, rising, in the unit that the name ends with. */
  readonly buckets: readonly number[]
}

export type GaugeMetric<Name extends string> = Metric<Name> & {
  /** Asked when the page is read, for what is known anyway; only without labels. */
  readonly read?: () => number
}

export type Counter<Name extends string> = {
  readonly add: (labels: Labels<Name>, by?: number) => void
}
export type Gauge<Name extends string> = {
  readonly set: (labels: Labels<Name>, value: number) => void
  /** Takes the series away: what it measured is gone. */
  readonly drop: (labels: Labels<Name>) => void
}
export type Histogram<Name extends string> = {
  readonly observe: (labels: Labels<Name>, value: number) => void
}

export type Metrics = {
  readonly counter: <Name extends string = never>(metric: Metric<Name>) => Counter<Name>
  readonly gauge: <Name extends string = never>(metric: GaugeMetric<Name>) => Gauge<Name>
  readonly histogram: <Name extends string = never>(
    metric: HistogramMetric<Name>,
  ) => Histogram<Name>
  /** The page, and the type it is served under. */
  readonly text: () => Promise<string>
  readonly contentType: string
}

export type MetricsOptions = {
  /** Also the process itself: memory, processor, event loop. Once per process. */
  readonly process?: boolean
  /** Labels of every series, such as which hub it is. */
  readonly always?: Readonly<Record<string, string>>
}

// Enough for every agent of a fleet or every reason of a refusal, and read in a few milliseconds.
const MOST_SERIES = 500
const OTHER = 'other'
const FOLDED = 'metrics_folded_total'

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new Registry()
  if (options.always) registry.setDefaultLabels(options.always)
  if (options.process) collectDefaultMetrics({ register: registry })
  const folded = new PromCounter({
    name: FOLDED,
    help: 'Times that a metric had too many series and one was counted as other.',
    labelNames: ['metric'],
    registers: [registry],
  })

  function define<Name extends string>(metric: Metric<Name>) {
    const { name, help, labels = [], most = MOST_SERIES } = metric
    const config = { name, help, labelNames: [...labels], registers: [registry] }
    const series = createSeries(labels, most, () => folded.inc({ metric: name }))
    return { config, series }
  }

  return {
    counter: (metric) => {
      const { config, series } = define(metric)
      const counter = new PromCounter<string>(config)
      return { add: (labels, by = 1) => counter.inc(series.of(labels), by) }
    },
    gauge: (metric) => {
      const { config, series } = define(metric)
      const { read } = metric
      const gauge = new PromGauge<string>({
        ...config,
        ...(read && {
          collect() {
            this.set(read())
          },
        }),
      })
      return {
        set: (labels, value) => gauge.set(series.of(labels), value),
        drop: (labels) => {
          const own = series.drop(labels)
          if (own) gauge.remove(own)
        },
      }
    },
    histogram: (metric) => {
      const { config, series } = define(metric)
      const histogram = new PromHistogram<string>({ ...config, buckets: [...metric.buckets] })
      return { observe: (labels, value) => histogram.observe(series.of(labels), value) }
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

type Shown = Record<string, string>

/** Which series a set of labels belongs to: its own as long as there is room, then the shared. */
function createSeries(names: readonly string[], most: number, fold: () => void) {
  const known = new Map<string, Shown>()
  const shared: Shown = Object.fromEntries(names.map((name) => [name, OTHER]))
  const keyOf = (labels: Shown): string => JSON.stringify(names.map((name) => labels[name]))

  return {
    of: (labels: Shown): Shown => {
      if (names.length === 0) return shared
      const key = keyOf(labels)
      const own = known.get(key)
      if (own) return own
      if (known.size >= most) {
        fold()
        return shared
      }
      const shown = names.map((name) => [name, redactText(labels[name] ?? '')])
      const made: Shown = Object.fromEntries(shown)
      known.set(key, made)
      return made
    },
    drop: (labels: Shown): Shown | undefined => {
      const key = keyOf(labels)
      const own = known.get(key)
      known.delete(key)
      return own
    },
  }
}
