/**
 * The hub's figures over time: pages of the Prometheus format, taken one after another, become
 * rates and latencies between them.
 *
 *   M1  A counter that is lower than before was started anew: then nothing is said of that span.
 *   M2  So many points are kept: an hour at one every five seconds.
 */
export type Sample = { readonly name: string; readonly labels: Labels; readonly value: number }
type Labels = Readonly<Record<string, string>>

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

export function readSamples(page: string): readonly Sample[] {
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('#')) return []
    const [, name, labels = '', text = ''] = LINE.exec(line) ?? []
    const value = text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text)
    if (name === undefined || Number.isNaN(value)) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', said = '']) => [label, said])
    return [{ name, labels: Object.fromEntries(pairs) as Labels, value }]
  })
}

export function sumOf(
  samples: readonly Sample[],
  name: string,
  fits: (labels: Labels) => boolean = () => true,
): number {
  return samples
    .filter((each) => each.name === name && fits(each.labels))
    .reduce((sum, { value }) => sum + value, 0)
}

export type Bucket = { readonly most: number; readonly count: number }

function bucketsOf(samples: readonly Sample[], name: string): readonly Bucket[] {
  const sums = new Map<number, number>()
  for (const { name: own, labels, value } of samples) {
    if (own !== `${name}_bucket`) continue
    const most = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)
    sums.set(most, (sums.get(most) ?? 0) + value)
  }
  return [...sums].map(([most, count]) => ({ most, count })).sort((a, b) => a.most - b.most)
}

/** Within which time so large a share was answered between two pages; linear inside a bucket. */
export function quantile(
  before: readonly Bucket[],
  after: readonly Bucket[],
  share: number,
): number | undefined {
  const between = after.map(({ most, count }, index) => ({
    most,
    count: count - (before[index]?.count ?? 0),
  }))
  const total = between.at(-1)?.count ?? 0
  if (total <= 0) return undefined
  const wanted = share * total
  const index = between.findIndex(({ count }) => count >= wanted)
  const found = between[index]
  if (found === undefined) return undefined
  const below = between[index - 1] ?? { most: 0, count: 0 }
  if (found.most === Number.POSITIVE_INFINITY) return below.most
  const inside = found.count - below.count
  const part = inside <= 0 ? 1 : (wanted - below.count) / inside
  return below.most + (found.most - below.most) * part
}

export type Point = {
  readonly at: number
  readonly requests?: number
  readonly refused?: number
  readonly p50?: number
  readonly p95?: number
  readonly delay?: number
  readonly memory: number
  readonly events?: number
}

export type Figures = {
  readonly points: readonly Point[]
  readonly last?: { readonly at: number; readonly samples: readonly Sample[] }
}

export const NO_FIGURES: Figures = { points: [] }
const MOST_POINTS = 720

const isRefused = ({ status = '' }: Labels) => status.startsWith('4') || status.startsWith('5')

export function addPage({ points, last }: Figures, page: string, at: number): Figures {
  const samples = readSamples(page)
  const rate = (name: string, fits?: (labels: Labels) => boolean) => {
    if (last === undefined) return undefined
    const grown = sumOf(samples, name, fits) - sumOf(last.samples, name, fits)
    return grown < 0 || at <= last.at ? undefined : grown / ((at - last.at) / 1_000)
  }
  const buckets = bucketsOf(samples, 'http_request_seconds')
  const earlier = last === undefined ? undefined : bucketsOf(last.samples, 'http_request_seconds')
  const point: Point = {
    at,
    memory: sumOf(samples, 'process_resident_memory_bytes'),
    ...pick('requests', rate('http_requests_total')),
    ...pick('refused', rate('http_requests_total', isRefused)),
    ...pick('events', rate('live_events_total')),
    ...pick(
      'delay',
      samples.find(({ name }) => name === 'nodejs_eventloop_lag_p99_seconds')?.value,
    ),
    ...pick('p50', earlier && quantile(earlier, buckets, 0.5)),
    ...pick('p95', earlier && quantile(earlier, buckets, 0.95)),
  }
  return { points: [...points, point].slice(-MOST_POINTS), last: { at, samples } }
}

const pick = <Name extends string>(name: Name, value: number | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [Each in Name]?: number }
