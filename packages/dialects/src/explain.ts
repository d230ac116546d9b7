/**
 * A validator's complaint in plain words: where, what was expected, and what kind of thing came.
 * The value itself is never repeated: it could be a secret.
 */
import type { Issue } from '@chimera/domain/decision'
import type { ErrorObject } from 'ajv'

const FORMATS: Record<string, string> = {
  uuid: 'a uuid such as 550e8400-e29b-41d4-a716-446655440000',
  'date-time': 'a time with a zone such as 2026-02-06T16:00:00Z',
  uri: 'an absolute address',
  'http-url': 'an http or https address without a user name',
  credits: 'credits with at most two decimals',
}

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

/** Complaints that only say that another one was made. */
const ECHOES = new Set(['if', 'allOf', 'anyOf', 'oneOf', 'not'])

export function explain(errors: readonly ErrorObject[], most: number): readonly Issue[] {
  const telling = errors.filter((error) => !ECHOES.has(error.keyword))
  const issues = new Map<string, Issue>()
  for (const error of telling.length > 0 ? telling : errors) {
    const issue = { path: pathOf(error), expected: expectedOf(error), got: kindOf(error) }
    issues.set(`${issue.path} ${issue.expected}`, issue)
    if (issues.size === most) break
  }
  return [...issues.values()]
}

function pathOf({ keyword, instancePath, params }: ErrorObject): string {
  if (keyword === 'required') return `${instancePath}/${params.missingProperty}`
  if (keyword === 'additionalProperties') return `${instancePath}/${params.additionalProperty}`
  return instancePath
}

/** What the schema wanted, keyed by the rule that was broken. */
function expectedOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'to be present'
    case 'additionalProperties':
      return 'no field of this name'
    case 'type':
      return listOf([params.type].flat().map((each: string) => KINDS[each] ?? each))
    case 'format':
      return FORMATS[params.format] ?? `the format ${params.format}`
    case 'enum':
      return `one of ${params.allowedValues.join(', ')}`
    case 'const':
      return String(params.allowedValue)
    case 'minLength':
      return `at least ${counted(params.limit, 'character')}`
    case 'maxLength':
      return `at most ${counted(params.limit, 'character')}`
    case 'minItems':
      return `at least ${counted(params.limit, 'element')}`
    case 'maxItems':
      return `at most ${counted(params.limit, 'element')}`
    case 'maxProperties':
      return `at most ${counted(params.limit, 'member')}`
    case 'minimum':
      return `at least ${params.limit}`
    case 'maximum':
      return `at most ${params.limit}`
    case 'exclusiveMinimum':
      return `more than ${params.limit}`
    case 'pattern':
      return `text that matches ${params.pattern}`
    case 'uniqueItems':
      return 'no element twice'
    default:
      return message ?? keyword
  }
}

/** The type of what came, with its size where the size was the trouble. */
function kindOf({ keyword, data, params }: ErrorObject): string {
  if (keyword === 'required') return 'nothing'
  const sized = keyword === 'maxLength' || keyword === 'minLength'
  // The object was complained of, but it is the member that is meant.
  const meant =
    keyword === 'additionalProperties'
      ? (data as Record<string, unknown>)[params.additionalProperty]
      : data
  if (typeof meant === 'string') {
    return sized ? `a string of ${counted([...meant].length, 'character')}` : 'a string'
  }
  if (Array.isArray(meant)) return `a list of ${counted(meant.length, 'element')}`
  if (meant === null) return 'null'
  return KINDS[typeof meant] ?? typeof meant
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const listOf = (words: readonly string[]): string => words.join(' or ')
