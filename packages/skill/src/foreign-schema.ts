/**
 * Checks a value against a JSON Schema that a stranger published (OC-2, OC-17).
 *
 *   S1  Getting ready and checking both end: in size, in depth, in parts, in patterns, in steps. A
 *       check that would take longer fails; it never passes.
 *   S2  A pattern runs in linear time or is refused; nothing that constrains is left out silently.
 *   S3  Inherited members are nobody's: `constructor` is a name like any other.
 *   S4  The answer lists a bounded number of issues, and repeats no value.
 */
import type { PublishedSchema } from '@chimera/domain/agent/agent'
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { canonicalText } from './canonical-text.ts'
import {
  type KnownSchema,
  kindOf,
  readForeignSchema,
  STEPS,
  UNIQUE,
  VALUES,
} from './foreign-words.ts'
import { FORMATS } from './formats.ts'

/** What is wrong with a value; empty when it fits. */
export type ForeignCheck = (value: unknown) => readonly Issue[]
export type ForeignSchema =
  | { readonly ok: true; readonly check: ForeignCheck }
  | { readonly ok: false; readonly issues: readonly Issue[] }

const FITS: readonly Issue[] = []

export function compileForeignSchema(schema: PublishedSchema): ForeignSchema {
  const size = JSON.stringify(schema).length
  if (size > LIMITS.schemaBytes) {
    const expected = `at most ${LIMITS.schemaBytes} bytes`
    return { ok: false, issues: [{ path: '', expected, got: `${size}` }] }
  }
  const read = readForeignSchema(schema)
  if (!read.ok) return { ok: false, issues: [read.issue] }
  try {
    return { ok: true, check: createCheck(read.known) }
  } catch {
    // What is left are contradictions within a part, which the validator finds by itself.
    return { ok: false, issues: [{ path: '', expected: 'a valid schema', got: 'another one' }] }
  }
}

/** The first complaint is found at once; all of them are looked for only when there is one. */
function createCheck(known: KnownSchema): ForeignCheck {
  const meter = createMeter()
  const quick = compile(known, meter, false)
  let thorough: ValidateFunction | undefined

  const run = (validate: ValidateFunction, value: unknown): readonly Issue[] | undefined => {
    meter.fill()
    try {
      return validate(value) ? FITS : explain(validate.errors ?? [])
    } catch (error) {
      // A reference that leads back to itself ends with the stack, others with the meter.
      if (error instanceof OutOfSteps || error instanceof RangeError) return undefined
      throw error
    }
  }

  return (value) => {
    const first = run(quick, value)
    if (first === undefined) return TOO_LONG
    if (first.length === 0) return FITS
    thorough ??= compile(known, meter, true)
    return run(thorough, value) ?? first
  }
}

const TOO_LONG: readonly Issue[] = [
  {
    path: '',
    expected: 'a value that its schema can check quickly',
    got: 'one that takes too long',
  },
]

type Meter = { readonly fill: () => void; readonly spend: (steps: number) => void }

class OutOfSteps extends Error {}

function createMeter(): Meter {
  let left = 0
  return {
    fill: () => {
      left = LIMITS.schemaSteps
    },
    spend: (steps) => {
      left -= steps
      if (left < 0) throw new OutOfSteps()
    },
  }
}

function compile(known: KnownSchema, { spend }: Meter, allErrors: boolean): ValidateFunction {
  const { values, patterns } = known
  const test = (source: string) => ({
    test: (text: string) => {
      spend(1 + text.length)
      return patterns.get(source)?.test(text) ?? false
    },
    // By this the validator tells one pattern from another.
    toString: () => source,
  })
  const ajv = new Ajv2020({
    allErrors,
    verbose: true,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    ownProperties: true,
    // A part that is referred to twice would be written out twice.
    inlineRefs: false,
    // 0.3 is a multiple of 0.1.
    multipleOfPrecision: 8,
    formats: FORMATS,
    // Tidier code takes as long again to write as it saves.
    code: { regExp: Object.assign(test, { code: 'linear' }), optimize: false },
  })
  const compare = (value: unknown) =>
    canonicalText(value, () => {
      spend(1)
    })
  ajv.addKeyword({
    keyword: STEPS,
    before: '$ref',
    validate: (steps: number) => {
      spend(steps)
      return true
    },
  })
  for (const word of ['enum', 'const']) {
    ajv.addKeyword({
      keyword: `${VALUES}-${word}`,
      validate: (index: number, value: unknown) => values[index]?.has(compare(value)) ?? false,
    })
  }
  ajv.addKeyword({
    keyword: UNIQUE,
    type: 'array',
    validate: (_: true, list: readonly unknown[]) =>
      new Set(list.map(compare)).size === list.length,
  })
  return ajv.compile(known.schema)
}

/** Complaints that only say that another one was made. */
const ECHOES = new Set(['if', 'allOf', 'anyOf', 'oneOf'])
// A name or a pattern of a stranger's, long enough to be recognised.
const QUOTED_CHARS = 80

function explain(errors: readonly ErrorObject[]): readonly Issue[] {
  const telling = errors.filter(({ keyword }) => !ECHOES.has(keyword))
  const issues = new Map<string, Issue>()
  for (const error of telling.length > 0 ? telling : errors) {
    const issue = issueOf(error)
    issues.set(`${issue.path} ${issue.expected}`, issue)
    if (issues.size === LIMITS.issues) break
  }
  return [...issues.values()]
}

function issueOf({ keyword, instancePath, params, data, message }: ErrorObject): Issue {
  const member: unknown =
    params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty
  const path = typeof member === 'string' ? `${instancePath}/${member}` : instancePath
  return {
    path: clip(path, LIMITS.keyChars),
    expected: clip(expectedOf(keyword, params, message), LIMITS.keyChars),
    got:
      keyword === 'required'
        ? 'nothing'
        : kindOf(typeof member === 'string' ? memberIn(data, member) : data),
  }
}

function expectedOf(keyword: string, params: Record<string, unknown>, message = keyword): string {
  switch (keyword) {
    case 'required':
      return 'to be present'
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'no field of this name'
    case `${VALUES}-enum`:
    case `${VALUES}-const`:
      return 'one of the values that the schema lists'
    case UNIQUE:
      return 'no element twice'
    case 'pattern':
      return `text that matches ${clip(String(params.pattern), QUOTED_CHARS)}`
    default:
      return message
  }
}

function memberIn(data: unknown, name: string): unknown {
  const holds = typeof data === 'object' && data !== null && Object.hasOwn(data, name)
  return holds ? (data as Record<string, unknown>)[name] : undefined
}

const clip = (text: string, chars: number): string =>
  text.length > chars ? `${text.slice(0, chars - 1)}…` : text
