/**
 * The ten skills for people: what each takes and gives, within which bounds, and how it ends. Made
 * from the contracts alone, so `chimera skill show` and the reference page say what is checked.
 */

import { ContentPackage } from '@chimera/dialects/skills/content'
import { SKILLS, type SkillContract } from '@chimera/dialects/skills/contracts'
import { COMMON_ERRORS, type ErrorRow, type SkillId } from '@chimera/dialects/skills/error-codes'
import { Persona } from '@chimera/dialects/skills/persona'
import { AgentProfile } from '@chimera/dialects/skills/profile'
import { TrendData } from '@chimera/dialects/skills/trend'
import { withDefaults } from '@chimera/skill/defaults'
import type { TSchema } from 'typebox'

export const SKILL_NAMES: readonly SkillId[] = Object.values(SKILLS).map(({ name }) => name)

export type FieldShown = {
  /** `campaign_goals[]`, `state_updates.status`. */
  readonly name: string
  readonly required: boolean
  readonly type: string
  /** `1 to 500`, `at most 50 elements`; empty where there are none. */
  readonly bounds: string
  /** As JSON. */
  readonly preset?: string
  readonly about?: string
}

export type ErrorShown = {
  readonly code: string
  readonly http: number
  readonly retries: number
  readonly recovery: string
  readonly words: string
}

export type SkillShown = {
  readonly name: SkillId
  readonly version: string
  readonly purpose: string
  readonly roles: readonly string[]
  readonly timeoutMs: number
  readonly partsMs: Readonly<Record<string, number>>
  readonly cacheMs?: number
  /** What a repeat is recognised by, where it happens once. */
  readonly once?: string
  readonly input: readonly FieldShown[]
  readonly output: readonly FieldShown[]
  readonly errors: readonly ErrorShown[]
}

export const isSkillName = (name: string): name is SkillId => Object.hasOwn(SKILLS, name)

export function showSkill(id: SkillId): SkillShown {
  const { name, version, purpose, roles, timeoutMs, parts, cache, once, ...rest }: SkillContract =
    SKILLS[id]
  const rows: Readonly<Record<string, ErrorRow>> = rest.errors
  return {
    name,
    version: `${version.major}.${version.minor}`,
    purpose,
    roles,
    timeoutMs,
    partsMs: { ...parts },
    ...(cache && { cacheMs: cache.ttlMs }),
    ...(once && { once: once.replaceAll('_', ' ') }),
    input: fieldsOf({ ...rest.input }),
    output: fieldsOf({ ...rest.output }),
    errors: Object.entries(rows).map(([code, row]) => showError(code, row)),
  }
}

/** What is filled in where an input says nothing, by the path of each. */
export function presetsFor(
  id: SkillId,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const schema: TSchema = SKILLS[id].input
  return Object.fromEntries(addedTo(input, withDefaults({ ...schema }, input), ''))
}

function addedTo(given: unknown, filled: unknown, path: string): readonly [string, unknown][] {
  if (given === filled || !isRecord(given) || !isRecord(filled)) return []
  return Object.entries(filled).flatMap(([name, value]): readonly [string, unknown][] => {
    const at = path === '' ? name : `${path}.${name}`
    return Object.hasOwn(given, name) ? addedTo(given[name], value, at) : [[at, value]]
  })
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What any of them may end in beside its own. */
export const showCommonErrors = (): readonly ErrorShown[] =>
  Object.entries(COMMON_ERRORS).map(([code, row]) => showError(code, row))

function showError(code: string, row: ErrorRow): ErrorShown {
  const { http, retries, words } = row
  return { code, http, retries, words, recovery: recoveryOf(row) }
}

// biome-ignore format: a table is read by its columns
const ENDINGS: Readonly<Record<ErrorRow['ending'], string>> = {
  refuse:        'the error',
  empty:         'an empty answer',
  partial:       'what was done until then',
  review:        'an answer that asks for a person',
  invalid:       'an answer that says not valid',
  without_media: 'an answer without media',
  existing:      'the first answer',
  cached:        'the last known copy, marked stale; the error where there is none',
  warn:          'an answer with a warning',
}

function recoveryOf({ retries, fallback, escalate, counts, needs, ending }: ErrorRow): string {
  const steps = [
    ...(retries > 0 ? [`${retries} ${retries === 1 ? 'retry' : 'retries'}`] : []),
    ...(fallback ? [`another ${fallback.to} from retry ${fallback.fromRetry}`] : []),
    ...(escalate ? ['a person is told'] : []),
    ...(counts ? [`counted (${counts})`] : []),
    ...(needs ? [`needs a ${needs.replaceAll('_', ' ')}`] : []),
  ]
  return steps.length === 0 ? ENDINGS[ending] : `${steps.join(', ')}, then ${ENDINGS[ending]}`
}

/** As much of JSON Schema as the contracts are written in. */
type Described = {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Described>>
  readonly required?: readonly string[]
  readonly items?: Described
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Described[]
  readonly format?: string
  readonly pattern?: string
  readonly [bound: string]: unknown
}

/** Shapes with names of their own are shown by these, and described once. */
const SHAPES: Readonly<Record<string, TSchema>> = {
  'Trend data': TrendData,
  'Content package': ContentPackage,
  Persona,
  'Agent profile': AgentProfile,
}

export type ShapeShown = { readonly name: string; readonly fields: readonly FieldShown[] }

export const showShapes = (): readonly ShapeShown[] =>
  Object.entries(SHAPES).map(([name, schema]) => ({ name, fields: fieldsOf({ ...schema }) }))

function fieldsOf(schema: Described, before = ''): readonly FieldShown[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = before === '' ? name : `${before}.${name}`
    const inner = innerOf(member)
    const { default: preset, description } = member
    const field: FieldShown = {
      name: path,
      required: required.includes(name),
      type: typeOf(member),
      bounds: boundsOf(member),
      ...(preset !== undefined && { preset: JSON.stringify(preset) }),
      ...(description !== undefined && { about: description }),
    }
    return inner === undefined ? [field] : [field, ...fieldsOf(inner.schema, path + inner.mark)]
  })
}

/** An object of no name is shown with its members. */
function innerOf(schema: Described): { schema: Described; mark: string } | undefined {
  const isShown = ({ properties, title }: Described): boolean =>
    properties !== undefined && !isNamed(title)
  if (isShown(schema)) return { schema, mark: '' }
  const { items } = schema
  return items !== undefined && isShown(items) ? { schema: items, mark: '[]' } : undefined
}

const isNamed = (title: string | undefined): title is string =>
  title !== undefined && Object.hasOwn(SHAPES, title)

function typeOf(schema: Described): string {
  const { title, type, anyOf, items, format } = schema
  if (isNamed(title)) return title
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (items !== undefined) return `list of ${typeOf(items)}`
  if (schema.enum !== undefined) return 'word'
  if (format !== undefined) return FORMATS[format] ?? format
  return typeof type === 'string' ? (TYPES[type] ?? type) : 'any'
}

const TYPES: Readonly<Record<string, string>> = { string: 'text', integer: 'whole number' }
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'time',
  'http-url': 'address',
  uri: 'address',
}

/** Each is said once, also where a value may be one or a list of the same. */
function boundsOf(schema: Described): string {
  return [...new Set(boundsIn(schema))].join('; ')
}

function boundsIn(schema: Described): readonly string[] {
  const { anyOf, items, pattern } = schema
  if (anyOf !== undefined) return anyOf.flatMap(boundsIn)
  const words = schema.enum ?? items?.enum
  const isPlain = items !== undefined && items.properties === undefined && words === undefined
  return [
    words?.map(String).join(', ') ?? '',
    rangeOf(schema, 'minimum', 'maximum', ''),
    rangeOf(schema, 'minLength', 'maxLength', 'characters'),
    typeof pattern === 'string' ? `matches ${pattern}` : '',
    items === undefined ? '' : rangeOf(schema, 'minItems', 'maxItems', 'elements'),
    ...(isPlain ? boundsIn(items).map((bound) => `each ${bound}`) : []),
  ].filter((text) => text !== '')
}

/** The largest whole number is no bound that anybody meets. */
function rangeOf(schema: Described, low: string, high: string, unit: string): string {
  const [from, to] = [schema[low], schema[high]].map((bound) =>
    typeof bound === 'number' && bound !== Number.MAX_SAFE_INTEGER ? String(bound) : '',
  )
  const words =
    from && to ? `${from} to ${to}` : from ? `at least ${from}` : to ? `at most ${to}` : ''
  return words === '' || unit === '' ? words : `${words} ${unit}`
}
