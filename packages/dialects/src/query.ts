/**
 * Query strings carry only text. This gives them the types that their schema asks for, strictly, so
 * that one check serves bodies and queries alike: "5" becomes 5 where a number is wanted, and "5x"
 * stays text and is refused by the check.
 */
import type { Static, TSchema } from 'typebox'
import { type Check, checker } from './check.ts'

export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>

const NUMBER = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/

/** The check of a query: typed first, then held to its schema. */
export function queryChecker<Schema extends TSchema>(schema: Schema): Check<Static<Schema>> {
  const check = checker(schema)
  return (raw) => check(typeQuery(schema, raw as RawQuery))
}

export function typeQuery(schema: TSchema, raw: RawQuery): Record<string, unknown> {
  const properties = membersOf(schema)
  const typed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(raw)) {
    if (value === undefined) continue
    typed[name] = typeValue(properties[name]?.type, value)
  }
  return typed
}

function typeValue(type: string | undefined, value: string | readonly string[]): unknown {
  if (type === 'array') return [value].flat().flatMap((each) => each.split(','))
  if (typeof value !== 'string') return value
  if ((type === 'number' || type === 'integer') && NUMBER.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

function membersOf(schema: TSchema): Record<string, { readonly type?: string }> {
  return 'properties' in schema ? (schema.properties as Record<string, { type?: string }>) : {}
}
