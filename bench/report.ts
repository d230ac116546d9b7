/**
 * What is said of a run: for people as lines, for machines as JSON. The machine and the date are
 * handed in, since a figure without them means nothing.
 */
import type { Result } from './frame.ts'

export type Machine = {
  readonly date: string
  readonly node: string
  readonly platform: string
  readonly cpu: string
  readonly cores: number
}

export type Report = {
  readonly machine: Machine
  /** Rough figures, from few and short rounds. */
  readonly quick: boolean
  readonly results: readonly Result[]
}

export function renderReport({ machine, quick, results }: Report): string {
  const { date, node, platform, cpu, cores } = machine
  const heading = `${date}, Node ${node}, ${platform}, ${cpu}, ${cores} cores`
  const rough = quick ? ['Quick: few and short rounds, rough figures.'] : []
  const missed = results.filter(({ met }) => !met).length
  const summary = `${results.length - missed} of ${results.length} targets met`
  return [[heading, ...rough].join('\n'), ...results.map(renderResult), summary].join('\n\n')
}

function renderResult(result: Result): string {
  const { name, method, unit, ours, peer, ratio, spread, target, met, rounds } = result
  const width = Math.max(ours.name.length, peer.name.length)
  const line = (side: { name: string; figure: number }): string =>
    `  ${side.name.padEnd(width)}  ${number(side.figure).padStart(14)} ${unit}`
  const between = `${number(spread[0])}–${number(spread[1])} over ${rounds} rounds`
  const verdict = met ? 'met' : 'MISSED'
  return [
    name,
    ...wrap(method, 94).map((each) => `  ${each}`),
    line(ours),
    line(peer),
    `  ratio ${number(ratio)} (${between}), target ${target.direction} ${target.ratio}: ${verdict}`,
  ].join('\n')
}

/** Three digits that count, and blanks between the thousands. */
export function number(figure: number): string {
  if (!Number.isFinite(figure)) return String(figure)
  const whole = Math.abs(figure) >= 100
  const [digits = '', fraction] = (whole ? figure.toFixed(0) : figure.toPrecision(3)).split('.')
  const grouped = digits.replace(/\B(?=(\d{3})+$)/g, ' ')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`
    } else lines.push(word)
  }
  return lines
}
