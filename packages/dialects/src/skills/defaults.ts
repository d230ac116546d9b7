/**
 * Documented defaults. They stand in the published schema, and nothing fills them in while a
 * message is checked: what was signed is what is checked. Whoever runs the skill asks for them
 * afterwards.
 *
 *   F1  What was given is never changed or replaced; only what is absent is filled in.
 *   F2  Filling in twice is filling in once.
 */
import { type Static, type TObject, type TOptional, type TSchema, Type } from 'typebox'

/** Optional on the wire, always there once defaults are filled in. */
export type Preset<Schema extends TSchema> = TOptional<Schema> & { readonly default: unknown }

/** For a schema that carries a `default`. */
export function preset<Schema extends TSchema>(schema: Schema): Preset<Schema> {
  return Type.Optional(schema) as Preset<Schema>
}

/** What a message is once its defaults are filled in. */
export type Filled<Schema extends TSchema> =
  Schema extends TObject<infer Members>
    ? Static<Schema> & { [Name in AlwaysThere<Members>]: Filled<Members[Name]> }
    : Static<Schema>

type AlwaysThere<Members> = {
  [Name in keyof Members]: Members[Name] extends Preset<TSchema>
    ? Name
    : Members[Name] extends TOptional
      ? never
      : Name
}[keyof Members]

/** A copy where something was missing, the input itself where nothing was. */
export function withDefaults<Schema extends TSchema>(
  schema: Schema,
  input: Static<Schema>,
): Filled<Schema> {
  return fill(schema, input) as Filled<Schema>
}

type Described = { readonly properties?: Readonly<Record<string, TSchema>>; default?: unknown }

function fill(schema: Described, value: unknown): unknown {
  const { properties } = schema
  if (properties === undefined || !isObject(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const name of Object.keys(properties)) {
    const member: Described = properties[name] ?? {}
    const given = value[name]
    const filled = fill(member, given === undefined ? member.default : given)
    if (filled === given) continue
    copy ??= { ...value }
    copy[name] = filled
  }
  return copy ?? value
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
