/**
 * A schema as models take it: shapes and words, without the bounds. Providers know different bounds
 * and refuse the ones that they do not know; ours are checked here, on what comes back.
 */
import { shapeChecker } from '@chimera/dialects/check'
import type { Static, TSchema } from 'typebox'

export type WireSchema = {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly items?: WireSchema
  readonly properties?: Readonly<Record<string, WireSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false
}

export function wireSchema(schema: TSchema): WireSchema {
  const { type, description, enum: words, items, properties }: Described = schema
  const members = Object.entries(properties ?? {})
  const wide = words === undefined ? type : 'string'
  return {
    ...(wide !== undefined && { type: wide }),
    ...(description !== undefined && { description }),
    ...(words !== undefined && { enum: words }),
    ...(items !== undefined && { items: wireSchema(items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(members.map(([name, each]) => [name, wireSchema(each)])),
      // Strict modes want all of them named, and nothing beside.
      required: members.map(([name]) => name),
      additionalProperties: false as const,
    }),
  }
}

type Described = {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly items?: TSchema
  readonly properties?: Readonly<Record<string, TSchema>>
}

export type Fits = <Schema extends TSchema>(
  schema: Schema,
  value: unknown,
) => value is Static<Schema>

/** Each schema is compiled once, and let go when nobody asks by it any more. */
export function createFits(): Fits {
  const compiled = new WeakMap<TSchema, (value: unknown) => { readonly ok: boolean }>()
  return <Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> => {
    const check = compiled.get(schema) ?? shapeChecker(schema)
    compiled.set(schema, check)
    return check(value).ok
  }
}
