/** A plot over time. Its colours are those of the page, read anew when light and dark change. */
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'

export type Line = {
  readonly label: string
  /** Names a colour of the page. */
  readonly tone: 'accent' | 'bad' | 'muted'
  readonly values: readonly (number | null)[]
  readonly bars?: boolean
}

type PlotProps = {
  readonly label: string
  /** In seconds, as the library counts. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly show: (value: number) => string
  readonly height?: number
}

export function Plot({ label, times, lines, show, height = 150 }: PlotProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const shape = lines.map(({ label: name, tone }) => `${name}:${tone}`).join(' ')
  const drawn = useRef({ lines, show, height })
  drawn.current = { lines, show, height }

  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew when its lines are others
  useEffect(() => {
    const own = place.current
    if (own === null) return
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const draw = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(own, drawn.current), [[], ...lines.map(() => [])], own)
      feed()
    }
    const feed = () => {
      const { lines: now } = drawn.current
      plot.current?.setData([timesNow.current, ...now.map(({ values }) => [...values])])
    }
    const sized = new ResizeObserver(() =>
      plot.current?.setSize({ width: own.clientWidth, height: drawn.current.height }),
    )
    draw()
    sized.observe(own)
    dark.addEventListener('change', draw)
    return () => {
      dark.removeEventListener('change', draw)
      sized.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [shape])

  const timesNow = useRef<number[]>([])
  timesNow.current = [...times]
  useEffect(() => {
    plot.current?.setData([[...times], ...lines.map(({ values }) => [...values])])
  }, [times, lines])

  const last = lines.map(({ label: name, values }) => {
    const value = values.findLast((each) => each !== null)
    return `${name} ${value === null || value === undefined ? 'unknown' : show(value)}`
  })
  return (
    <figure className="plot">
      <div ref={place} role="img" aria-label={`${label}: ${last.join(', ')}`} />
      <figcaption>
        {lines.map(({ label: name, tone, values }) => {
          const value = values.findLast((each) => each !== null)
          return (
            <span key={name}>
              <i className={`swatch ${tone}`} aria-hidden="true" /> {name}{' '}
              <b className="num">{value === null || value === undefined ? '–' : show(value)}</b>
            </span>
          )
        })}
      </figcaption>
    </figure>
  )
}

type Drawn = Pick<PlotProps, 'lines' | 'show'> & {
  readonly height: number
}

function optionsOf(place: HTMLElement, { lines, show, height }: Drawn): uPlot.Options {
  const style = getComputedStyle(place)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const axis: uPlot.Axis = {
    stroke: colour('muted'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  }
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] })
  return {
    width: Math.max(100, place.clientWidth),
    height,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: {
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      { ...axis, size: 26, space: 70, values: (_, ticks) => ticks.map(tickText(ticks)) },
      { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => show(tick)) },
    ],
    series: [
      {},
      ...lines.map(
        ({ label, tone, bars: asBars }): uPlot.Series => ({
          label,
          stroke: colour(tone),
          width: 1.5,
          points: { show: false },
          ...(asBars && bars
            ? { paths: bars, fill: colour(tone), width: 0 }
            : tone === 'accent' && { fill: colour('accent-soft') }),
        }),
      ),
    ],
  }
}

const DAY_S = 86_400
const MINUTE_S = 60

const tickText = (ticks: readonly number[]) => (tick: number) => {
  const date = new Date(tick * 1_000)
  const pad = (value: number) => String(value).padStart(2, '0')
  const long = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0) > 2 * DAY_S
  if (long) return `${date.getDate()}.${date.getMonth() + 1}.`
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}`
  const fine = (ticks[1] ?? 0) - (ticks[0] ?? 0) < MINUTE_S
  return fine ? `${time}:${pad(date.getSeconds())}` : time
}
