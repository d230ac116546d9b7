/**
 * The schemas that agents publish with their skills. They come from strangers: bounded in size and
 * depth, without references to elsewhere. Chorus programs write a flat map of key to type name
 * instead (`{ "text": "string" }`); it is read as the JSON Schema that it stands for.
 */
import type { PublishedSchema } from '@chimera/domain/agent/agent'
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'

// biome-ignore format: a table is read by its columns
const TYPE_NAMES: Record<string, PublishedSchema> = {
  string: { type: 'string' },   str: { type: 'string' },    text: { type: 'string' },
  number: { type: 'number' },   float: { type: 'number' },  double: { type: 'number' },
  integer: { type: 'integer' }, int: { type: 'integer' },
  boolean: { type: 'boolean' }, bool: { type: 'boolean' },
  list: { type: 'array' },      array: { type: 'array' },
  object: { type: 'object' },   dict: { type: 'object' },   map: { type: 'object' },
}

/** Members that a JSON Schema without properties may consist of. */
const SCHEMA_ONLY = new Set(['type', '$schema', '$id', 'title', 'description'])
const JSON_TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

export function readPublishedSchema(schema: PublishedSchema): PublishedSchema {
  if (!isFlatMap(schema)) return schema
  const names = Object.keys(schema)
  const properties = Object.fromEntries(
    names.map((name) => [name, TYPE_NAMES[String(schema[name]).toLowerCase()] ?? {}]),
  )
  return { type: 'object', required: names, properties }
}

/** `{ "type": "object" }` is a schema; `{ "type": "string", "text": "string" }` is a map. */
function isFlatMap(schema: PublishedSchema): boolean {
  const entries = Object.entries(schema)
  if (entries.length === 0 || !entries.every(([, value]) => typeof value === 'string')) return false
  const looksLikeSchema = entries.every(([name]) => SCHEMA_ONLY.has(name))
  return !(looksLikeSchema && JSON_TYPES.has(String(schema.type)))
}

export function findSchemaIssues(schema: PublishedSchema, path: string): readonly Issue[] {
  if (isPlainlyFine(schema, 0, { left: LIMITS.schemaBytes })) return NONE
  const size = JSON.stringify(schema).length
  if (size > LIMITS.schemaBytes) {
    return [{ path, expected: `at most ${LIMITS.schemaBytes} bytes`, got: `${size}` }]
  }
  const foreign = findForeignRef(schema, path, 0)
  return foreign === undefined ? NONE : [foreign]
}

const NONE: readonly Issue[] = []

/** No string is written longer than this per character, no number longer than this in all. */
const ESCAPED_CHARS = 6
const NUMBER_CHARS = 24
/** Quotes, colon and comma. */
const AROUND_CHARS = 4

/**
 * Whether the schema is fine by a generous estimate of its size, without writing it out. Nearly
 * every schema is; one that is not, or that has something amiss, is looked at exactly.
 */
function isPlainlyFine(value: unknown, depth: number, budget: { left: number }): boolean {
  if (typeof value !== 'object' || value === null) {
    const chars = typeof value === 'string' ? value.length * ESCAPED_CHARS : NUMBER_CHARS
    budget.left -= chars + AROUND_CHARS
    return budget.left >= 0
  }
  budget.left -= AROUND_CHARS
  if (depth > LIMITS.schemaDepth) return false
  if (Array.isArray(value)) {
    for (const each of value) if (!isPlainlyFine(each, depth + 1, budget)) return false
    return true
  }
  for (const name of Object.keys(value)) {
    const member = (value as PublishedSchema)[name]
    if (name === '$ref' && !isOwnRef(member)) return false
    budget.left -= name.length * ESCAPED_CHARS + AROUND_CHARS
    if (!isPlainlyFine(member, depth + 1, budget)) return false
  }
  return true
}

const isOwnRef = (ref: unknown): boolean => typeof ref !== 'string' || ref.startsWith('#')

function findForeignRef(value: unknown, path: string, depth: number): Issue | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > LIMITS.schemaDepth) {
    return { path, expected: `at most ${LIMITS.schemaDepth} levels`, got: 'deeper nesting' }
  }
  for (const [name, member] of Object.entries(value)) {
    if (name === '$ref' && !isOwnRef(member)) {
      return {
        path: `${path}/$ref`,
        expected: 'a reference within the schema',
        got: 'one to elsewhere',
      }
    }
    const issue = findForeignRef(member, `${path}/${name}`, depth + 1)
    if (issue !== undefined) return issue
  }
  return undefined
}
