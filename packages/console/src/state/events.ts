/** What the live feed and its past tell, as far as the page reads it. */
import type { encodeFacts } from '@chimera/dialects/chimera'

type Row = ReturnType<typeof encodeFacts>['facts'][number]

/** A whole fact, with its seal. */
export type WholeFact = Extract<Row, { readonly fact: unknown }>

/** One event; fields that its kind does not have are absent. */
export type Told = Exclude<Row, WholeFact>

export type FactPage = ReturnType<typeof encodeFacts>

export const isWhole = (row: Row): row is WholeFact => 'fact' in row

/** Undefined for what is none. */
export function readTold(topic: string, data: string): Told | undefined {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined
    return { ...value, topic } as Told
  } catch {
    return undefined
  }
}
