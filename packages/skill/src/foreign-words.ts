/**
 * A stranger's schema, read word by word into one that holds nothing but what we know: both the
 * older way of writing (draft-07) and the present one (2020-12) are read, the present one results.
 *
 *   W1  A word that constrains is taken over or refused; only words that describe are dropped.
 *   W2  References lead to places within the schema, and become names that we gave.
 *   W3  Every part says what it costs to look at, so that a check can be stopped (`STEPS`).
 *   W4  Values are compared by their canonical text, whatever names their members have.
 */
import type { PublishedSchema } from '@chimera/domain/agent/agent'
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import { canonicalText } from './canonical-text.ts'
import { isFormat } from './formats.ts'
import { compilePattern, type LinearPattern } from './linear-pattern.ts'

/** Words of ours in the schema that results. */
export const STEPS = 'x-steps'
export const VALUES = 'x-values'
export const UNIQUE = 'x-unique'

export type KnownSchema = {
  readonly schema: PublishedSchema
  /** What `VALUES` refers to by number: the canonical texts of what is allowed. */
  readonly values: readonly ReadonlySet<string>[]
  readonly patterns: ReadonlyMap<string, LinearPattern>
}

export type ReadSchema =
  | { readonly ok: true; readonly known: KnownSchema }
  | { readonly ok: false; readonly issue: Issue }

type Part = boolean | Readonly<Record<string, unknown>>
type Place = { readonly path: string; readonly depth: number }
/** What a word of a part becomes; nothing when it only describes. */
type Words = Readonly<Record<string, unknown>>
type Taken = (value: unknown, place: Place, beside: PublishedSchema) => Words

const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

export function readForeignSchema(root: PublishedSchema): ReadSchema {
  try {
    return { ok: true, known: translate(root) }
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, issue: error.issue }
    throw error
  }
}

function translate(root: PublishedSchema): KnownSchema {
  const values: ReadonlySet<string>[] = []
  const patterns = new Map<string, LinearPattern>()
  /** By the reference; the parts that they lead to are read one after another. */
  const names = new Map<string, string>()
  const waiting: { readonly name: string; readonly part: unknown; readonly path: string }[] = []
  let parts = 0
  let patternsLeft: number = LIMITS.schemaPatterns

  function read(part: unknown, { path, depth }: Place): Part {
    parts += 1
    if (parts > LIMITS.schemaParts) fail(path, `at most ${LIMITS.schemaParts} parts`, 'more')
    if (depth > LIMITS.schemaDepth) fail(path, `at most ${LIMITS.schemaDepth} levels`, 'more')
    if (typeof part === 'boolean') return part
    if (!isMap(part)) fail(path, 'a schema', kindOf(part))
    const known = Object.entries(part).map(([word, value]) =>
      WORDS.get(word)?.(value, { path: `${path}/${word}`, depth: depth + 1 }, part),
    )
    return Object.assign({ [STEPS]: stepsOf(part) }, ...known)
  }

  const within = ({ path, depth }: Place, name: string): Place => ({
    path: `${path}/${name}`,
    depth: depth + 1,
  })

  const plain =
    (word: string, fits: (value: unknown) => boolean, expected: string): Taken =>
    (value, { path }) =>
      fits(value) ? { [word]: value } : fail(path, expected, kindOf(value))

  const one =
    (word: string): Taken =>
    (value, place) => ({ [word]: read(value, place) })

  const several =
    (word: string): Taken =>
    (value, place) => {
      const list = listIn(value, place.path)
      if (list.length === 0) fail(place.path, 'at least one schema', 'none')
      return { [word]: list.map((each, index) => read(each, within(place, String(index)))) }
    }

  const byName =
    (word: string, readOne: (value: unknown, place: Place, name: string) => unknown): Taken =>
    (value, place) => {
      if (!isMap(value)) fail(place.path, 'schemas by name', kindOf(value))
      const members = Object.entries(value).map(([name, each]) => {
        if (name === '__proto__') fail(place.path, 'no member of this name', name)
        return [name, readOne(each, within(place, name), name)]
      })
      return { [word]: Object.fromEntries(members) }
    }

  const refer: Taken = (ref, { path }) => {
    if (!isText(ref) || !/^#(?:\/|$)/.test(ref)) {
      return fail(path, 'a reference by place within the schema', 'another one')
    }
    let name = names.get(ref)
    if (name === undefined) {
      const part = followPointer(root, ref.slice(1))
      if (part === undefined) fail(path, 'a place in the schema', 'a reference to nothing')
      name = `part${names.size}`
      names.set(ref, name)
      waiting.push({ name, part, path: ref.slice(1) })
    }
    return { $ref: `#/$defs/${name}` }
  }

  const pattern: Taken = (source, { path }) => {
    if (!isText(source)) return fail(path, 'a pattern', kindOf(source))
    if (!patterns.has(source)) {
      const compiled = compilePattern(source, patternsLeft)
      if (compiled === undefined) {
        return fail(path, 'a short pattern without look-around and back-references', 'another one')
      }
      patternsLeft -= compiled.size
      patterns.set(source, compiled)
    }
    return { pattern: source }
  }

  /** Both words may stand in one part, and each keeps its own list. */
  const allow = (word: string, allowed: readonly unknown[]): Words => {
    values.push(new Set(allowed.map((each) => canonicalText(each))))
    return { [`${VALUES}-${word}`]: values.length - 1 }
  }

  const unreadable =
    (expected: string): Taken =>
    (_value, { path }) =>
      fail(path, expected, 'this')

  const number = (word: string) => plain(word, isNumber, 'a number')
  const count = (word: string) => plain(word, isCount, 'a count')

  const WORDS: ReadonlyMap<string, Taken> = new Map([
    ['type', plain('type', isType, 'the name of a type, or a list of some')],
    ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map(keyed(number)),
    ['multipleOf', plain('multipleOf', isPositive, 'a number above zero')],
    ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains'].map(
      keyed(count),
    ),
    ...['minProperties', 'maxProperties'].map(keyed(count)),
    ['required', plain('required', isNames, 'a list of names')],
    ['dependentRequired', plain('dependentRequired', isNamesByName, 'lists of names by name')],
    ...['not', 'if', 'then', 'else', 'propertyNames', 'contains'].map(keyed(one)),
    ...['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'].map(keyed(one)),
    ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map(keyed(several)),
    ['properties', byName('properties', read)],
    ['dependentSchemas', byName('dependentSchemas', read)],
    // The older word for names and schemas alike.
    ['dependencies', byName('dependencies', (each, at) => (isNames(each) ? each : read(each, at)))],
    [
      'patternProperties',
      byName('patternProperties', (each, at, name) => {
        pattern(name, at, {})
        return read(each, at)
      }),
    ],
    // A list was the older way to say what comes first.
    ['items', (value, at, beside) => ITEMS(Array.isArray(value))(value, at, beside)],
    [
      'additionalItems',
      (value, at, { items }) => (Array.isArray(items) ? { items: read(value, at) } : {}),
    ],
    ['pattern', pattern],
    ['format', (value) => (isText(value) && isFormat(value) ? { format: value } : {})],
    ['enum', (value, { path }) => allow('enum', listIn(value, path))],
    ['const', (value) => allow('const', [value])],
    ['uniqueItems', (value) => (value === true ? { [UNIQUE]: true } : {})],
    ['$ref', refer],
    ['$dynamicRef', unreadable('a plain reference')],
    ['$recursiveRef', unreadable('a plain reference')],
    [
      '$id',
      (_value, { path, depth }) => (depth === 1 ? {} : fail(path, 'no name for a part', 'one')),
    ],
  ])
  const ITEMS = (first: boolean) => (first ? several('prefixItems') : one('items'))

  const whole = read(root, { path: '', depth: 0 })
  const defs: Record<string, Part> = {}
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    defs[next.name] = read(next.part, { path: next.path, depth: 0 })
  }
  return { schema: { allOf: [whole], $defs: defs }, values, patterns }
}

class Unreadable extends Error {
  readonly issue: Issue
  constructor(issue: Issue) {
    super(issue.expected)
    this.issue = issue
  }
}

/** A schema is read deep within itself: this is the short way out, and goes no further than it. */
function fail(path: string, expected: string, got: string): never {
  throw new Unreadable({ path, expected, got })
}

const keyed =
  (taking: (word: string) => Taken) =>
  (word: string): [string, Taken] => [word, taking(word)]

/** A part is looked at once for each of its words and for each name that it lists. */
function stepsOf(part: PublishedSchema): number {
  const { required, properties } = part
  const listed = Array.isArray(required) ? required.length : 0
  const described = isMap(properties) ? Object.keys(properties).length : 0
  return 1 + Object.keys(part).length + listed + described
}

/** The place that a JSON pointer leads to; only members of its own count (RFC 6901). */
function followPointer(root: unknown, pointer: string): unknown {
  let place = root
  for (const token of pointer.split('/').slice(1)) {
    const name = nameIn(token)
    if (name === undefined || typeof place !== 'object' || place === null) return undefined
    place = Object.hasOwn(place, name) ? (place as PublishedSchema)[name] : undefined
  }
  return place
}

function nameIn(token: string): string | undefined {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

function listIn(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : fail(path, 'a list', kindOf(value))
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
const isPositive = (value: unknown): boolean => isNumber(value) && Number(value) > 0
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isNamesByName = (value: unknown): boolean =>
  isMap(value) && !Object.hasOwn(value, '__proto__') && Object.values(value).every(isNames)
const isTypeName = (value: unknown): boolean => isText(value) && TYPES.has(value)
const isType = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 && new Set(value).size === value.length && value.every(isTypeName)
    : isTypeName(value)

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (value === undefined) return 'nothing'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
