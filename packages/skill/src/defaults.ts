/**
 * Defaults that stand in a schema, filled in after the input was checked as it came.
 *
 *   F1  What was given is never changed or replaced; only what is absent is filled in.
 */
import { copyOf } from './plain.ts'

type Described = {
  readonly properties?: Readonly<Record<string, Described>>
  readonly default?: unknown
}

/** A copy where something was missing, the value itself where nothing was. */
export function withDefaults(schema: Described, value: unknown): unknown {
  const { properties } = schema
  if (properties === undefined || !isObject(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    const filled = withDefaults(member, given === undefined ? copyOf(member.default) : given)
    if (filled === given) continue
    copy ??= { ...value }
    copy[name] = filled
  }
  return copy ?? value
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
