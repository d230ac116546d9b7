/**
 * Output: tables for people, JSON for programs, both on standard output; words about them go to
 * standard error, so that a pipe carries data only.
 *
 *   S1  What strangers wrote (names, reasons) cannot steer the terminal: no control characters, and
 *       none that turn the direction of the text.
 *   S2  A table has no frame and no colour, so that `grep`, `cut` and eyes read it alike.
 */
import Table from 'cli-table3'

export type Cell = string | number | undefined
export type Column = { readonly title: string; readonly align?: 'left' | 'right' }

const STEERING = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu

// biome-ignore format: a table is read by its columns
const NO_FRAME = {
  top: '', 'top-mid': '', 'top-left': '', 'top-right': '',
  bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '',
  left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ',
}

export function printTable(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
  const table = new Table({
    head: columns.map(({ title }) => title),
    colAligns: columns.map(({ align = 'left' }) => align),
    chars: NO_FRAME,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  for (const row of rows) table.push(row.map((cell) => plain(String(cell ?? '–'))))
  // The last column is padded too, which only makes lines wrap.
  console.log(table.toString().replace(/ +$/gm, ''))
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, undefined, 2))
}

export function plain(text: string): string {
  return text.replace(STEERING, '\ufffd')
}

/** `1234` → `12.34`. */
export function writeCredits(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
