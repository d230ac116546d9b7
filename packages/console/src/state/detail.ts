/** A fact in one line: whom and what it is about, from whichever of its fields are there. */
import { type FactPage, isWhole } from './events.ts'

type Fields = Readonly<Record<string, unknown>>

const SHORT = 8
const MOST = 5

export function detailOf(row: FactPage['facts'][number]): string {
  const fields: Fields = isWhole(row) ? flatten(row.fact) : row
  const parts = WORDS.flatMap(([name, show]) => {
    const value = fields[name]
    return value === undefined || value === '' ? [] : [show(value)]
  })
  return parts.slice(0, MOST).join(' · ')
}

const short = (value: unknown) => String(value).slice(0, SHORT)
const cents = (value: unknown) => (Number(value) / 100).toFixed(2)

const WORDS: readonly (readonly [string, (value: unknown) => string])[] = [
  ['name', String],
  ['payer', (value) => `from ${String(value)}`],
  ['payee', (value) => `to ${String(value)}`],
  ['owner', String],
  ['owner_id', String],
  ['amountCents', cents],
  ['amount', (value) => Number(value).toFixed(2)],
  ['priceCents', (value) => `price ${cents(value)}`],
  ['how', String],
  ['because', String],
  ['task', (value) => `task ${short(value)}`],
  ['task_id', (value) => `task ${short(value)}`],
  ['hold', (value) => `hold ${short(value)}`],
  ['agent', (value) => `agent ${short(value)}`],
  ['agent_id', (value) => `agent ${short(value)}`],
  ['id', short],
]

/** The fields of a fact and of its parts, where they are plain values. */
function flatten(fact: unknown): Fields {
  const flat: Record<string, unknown> = {}
  const take = (value: unknown, depth: number) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'object') {
        if (depth < 2) take(member, depth + 1)
      } else {
        flat[name] ??= member
      }
    }
  }
  take(fact, 0)
  return flat
}
