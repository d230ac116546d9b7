/**
 * The screen of `chimera watch`: from what is known, the size of the terminal and the time to its
 * lines. Pure, so that every size and every text can be tried.
 *
 *   D1  Never more lines than rows, and never a line wider than the terminal: one column stays
 *       free, since some terminals break a line that is exactly full.
 *   D2  What there is no room for is left out from below, and a list says how many are missing.
 */
import { centsOf, instantOf } from '@chimera/dialects/wire'
import type { Instant } from '@chimera/domain/ids'
import { writeCredits } from '../show.ts'
import { writeSpan } from '../span.ts'
import type { AgentRow, Event, Hold, Sums, Watched } from './state.ts'
import { type Align, fit, widthOf } from './width.ts'
import { COLOURS, detailsOf } from './words.ts'

export type Size = { readonly columns: number; readonly rows: number }

type Paint = (text: string, colour: number) => string
const painted: Paint = (text, colour) => `\u001b[${colour}m${text}\u001b[0m`
const bare: Paint = (text) => text

const BOLD = 1
const DIM = 2
const RED = 31
const GREEN = 32
const YELLOW = 33

export function drawWatched(
  watched: Watched,
  { columns, rows }: Size,
  { now, colour }: { readonly now: Instant; readonly colour: boolean },
): readonly string[] {
  const paint = colour ? painted : bare
  const page: Page = { width: Math.max(0, columns - 1), paint, now, watched }
  const head = [headLine(page), '']
  const money = [title(page, 'MONEY'), moneyLine(page), '']
  // Two titles with a blank line, and the title of the events.
  const room = rows - head.length - money.length - 5
  const agents = agentLines(page, Math.max(1, Math.ceil(room / 2)))
  const work = workLines(page, Math.max(1, Math.floor((room - agents.length) / 2)))
  const above = [
    ...head,
    agentTitle(page),
    ...agents,
    '',
    title(page, 'WORK GOING ON'),
    ...work,
    '',
    ...money,
    title(page, 'LAST EVENTS'),
  ]
  return [...above, ...eventLines(page, Math.max(0, rows - above.length))].slice(0, rows)
}

type Page = {
  readonly width: number
  readonly paint: Paint
  readonly now: Instant
  readonly watched: Watched
}

const title = ({ width, paint }: Page, text: string): string => paint(fit(text, width), DIM)

function headLine({ width, paint, now, watched }: Page): string {
  const { hub, agents, total, trouble } = watched
  const here = agents.filter(({ liveness }) => liveness !== 'offline').length
  const count = `${here} of ${total} agents here`
  const right = `${trouble ?? count}  ${clockOf(now)}  q leaves`
  const left = `Chimera  ${hub}`
  const spare = width - widthOf(right)
  if (spare < 20) return paint(fit(`Chimera  ${trouble ?? count}`, width), trouble ? RED : BOLD)
  return paint(fit(left, spare), BOLD) + paint(fit(right, widthOf(right)), trouble ? RED : DIM)
}

type Column<Row> = {
  readonly title: string
  readonly columns: number
  readonly align?: Align
  readonly text: (row: Row, now: Instant) => string
  readonly colour?: (row: Row, now: Instant) => number | undefined
}

const CONDITIONS: Readonly<Record<string, number>> = {
  idle: GREEN,
  working: YELLOW,
  draining: YELLOW,
  paused: YELLOW,
  maintenance: YELLOW,
  human_review: YELLOW,
  error: RED,
  stopped: DIM,
}

// biome-ignore format: a table is read by its columns
const AGENT: readonly Column<AgentRow>[] = [
  { title: 'CONDITION', columns: 12, text: conditionOf, colour: (row) => CONDITIONS[row.condition] },
  { title: 'SLOTS', columns: 7,  align: 'right', text: ({ slots_free, slots_total }) => `${slots_total - slots_free}/${slots_total}` },
  { title: 'LOAD',  columns: 5,  align: 'right', text: loadOf },
  { title: 'HEARD', columns: 7,  align: 'right', text: heardOf, colour: (row) => (row.liveness === 'suspect' ? RED : undefined) },
  { title: 'SCORE', columns: 7,  align: 'right', text: ({ running_score }) => running_score.toFixed(2) },
  { title: '0–1',   columns: 6,  align: 'right', text: ({ window_score }) => window_score.toFixed(3) },
  { title: 'DONE',  columns: 6,  align: 'right', text: ({ completed }) => String(completed) },
  { title: 'FAILED', columns: 7, align: 'right', text: ({ failed }) => String(failed), colour: ({ failed }) => (failed > 0 ? RED : undefined) },
]
const GAP = 1
// A name that is shorter tells nobody apart.
const NAME = 16

/** As many columns as there is room for beside the names. */
function columnsIn(width: number): readonly Column<AgentRow>[] {
  let left = width - NAME
  return AGENT.filter(({ columns }) => {
    left -= columns + GAP
    return left >= 0
  })
}

const nameWidth = (width: number): number =>
  columnsIn(width).reduce((left, { columns }) => left - columns - GAP, width)

function agentTitle({ width, paint }: Page): string {
  const cells = columnsIn(width).map(({ title: text, columns, align }) => fit(text, columns, align))
  return paint([fit('AGENT', nameWidth(width)), ...cells].join(' '), DIM)
}

function agentLines(page: Page, most: number): readonly string[] {
  const { watched, width, paint, now } = page
  if (watched.agents.length === 0) return [fit('Nobody is registered yet.', width)]
  const rows = [...watched.agents].sort(byPresence)
  const shown = rows.length > most ? rows.slice(0, Math.max(1, most - 1)) : rows
  const lines = shown.map((row) => {
    const cells = columnsIn(width).map(({ columns, align, text, colour }) => {
      const tint = colour?.(row, now)
      const cell = fit(text(row, now), columns, align)
      return tint === undefined ? cell : paint(cell, tint)
    })
    return [fit(row.agent_name, nameWidth(width)), ...cells].join(' ')
  })
  const missing = watched.total - shown.length
  return missing > 0 ? [...lines, paint(fit(`… ${missing} more`, width), DIM)] : lines
}

/** Who is here first, then by name: a list that jumps about cannot be read. */
const byPresence = (a: AgentRow, b: AgentRow): number =>
  Number(a.liveness === 'offline') - Number(b.liveness === 'offline') ||
  (a.agent_name < b.agent_name ? -1 : 1)

function conditionOf({ condition, liveness }: AgentRow): string {
  return liveness === 'suspect' ? 'silent?' : condition.replaceAll('_', ' ')
}

/** Of its busiest instance. */
function loadOf({ instances }: AgentRow): string {
  const loads = instances
    .filter(({ liveness }) => liveness !== 'offline')
    .map(({ load }) => Math.max(load.cpu, load.mem))
  return loads.length === 0 ? '–' : `${Math.round(Math.max(...loads) * 100)}%`
}

function heardOf({ heard_at }: AgentRow, now: Instant): string {
  return heard_at === undefined ? 'never' : writeSpan(now - instantOf(heard_at))
}

function workLines({ watched, width, paint, now }: Page, most: number): readonly string[] {
  const { holds, since } = watched
  if (holds === undefined) return [paint(fit('Not told to you: --token-file', width), DIM)]
  if (holds.length === 0) return [paint(fit('Nothing at the moment.', width), DIM)]
  const shown = holds.length > most ? holds.slice(0, Math.max(1, most - 1)) : holds
  const lines = shown.map((hold) => {
    const right = workFigures(hold, now - (since.get(hold.hold_id) ?? now))
    const who = `${hirerOf(hold, watched)} > ${nameOf(watched, hold.agent_id)}`
    const spare = width - widthOf(right) - GAP
    if (spare < NAME) return fit(who, width)
    return `${fit(who, spare)} ${fit(right, widthOf(right))}`
  })
  const missing = holds.length - shown.length
  return missing > 0 ? [...lines, paint(fit(`… ${missing} more`, width), DIM)] : lines
}

const workFigures = ({ state, price, amount }: Hold, spanMs: number): string =>
  [
    (state === 'placed' ? 'asked' : 'at work').padEnd(7),
    writeCredits(centsOf(price ?? amount)).padStart(9),
    writeSpan(spanMs).padStart(7),
  ].join(' ')

const hirerOf = ({ hirer_id, payer_id }: Hold, watched: Watched): string =>
  hirer_id === undefined ? payer_id : nameOf(watched, hirer_id)

const nameOf = ({ agents }: Watched, id: string): string =>
  agents.find(({ agent_id }) => agent_id === id)?.agent_name ?? id

function moneyLine({ watched, width, paint }: Page): string {
  const { sums } = watched
  if (sums === undefined) return paint(fit('Not told to you: --token-file', width), DIM)
  const line = fit(moneyWords(sums), width)
  return sums.balanced ? line : paint(line, RED)
}

function moneyWords(sums: Sums): string {
  const credits = (amount: number): string => writeCredits(centsOf(amount))
  return [
    `minted ${credits(sums.minted)}`,
    `in accounts ${credits(sums.in_accounts)}`,
    `held ${credits(sums.in_holds)}`,
    `paid ${credits(sums.volume)} in ${sums.payments}`,
    sums.balanced ? 'the books balance' : 'THE BOOKS DO NOT BALANCE',
  ].join(', ')
}

function eventLines({ watched, width, paint }: Page, most: number): readonly string[] {
  return watched.events.slice(0, most).map(({ topic, told }: Event) => {
    const when = fit(clockOf(instantOf(told.at)), 8)
    const what = fit(topic, 8)
    const name = (id: string): string => nameOf(watched, id)
    const { task_id: task, ...others } = told
    const short = task === undefined ? others : { ...others, task_id: task.slice(0, SHORT) }
    const rest = `${told.kind.padEnd(20)} ${detailsOf(short, name)}`
    if (width < 40) return fit(rest, width)
    return `${when} ${paint(what, COLOURS[topic] ?? DIM)} ${fit(rest, width - 18)}`
  })
}

// As other commands show an id, and take it.
const SHORT = 8

/** The time of day where the watcher is. */
function clockOf(at: Instant): string {
  const date = new Date(at)
  const two = (part: number): string => String(part).padStart(2, '0')
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
}
