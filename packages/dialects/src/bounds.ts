/**
 * What no schema says: how deep a message may nest, how much it may hold, and that its text is
 * text. A lone surrogate cannot be written as UTF-8, so it would break every signature over it; no
 * database of ours can keep a U+0000.
 *
 * Every message passes here, so the way through a good one makes no strings and no paths: the path
 * of a complaint is put together on the way back.
 */
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'

/** Members and elements in one message: the body limit holds fewer of any useful kind. */
const MOST_NODES = 50_000

/** Half of a surrogate pair without its other half. */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

type Budget = { left: number }

/** The first thing out of bounds, or undefined. */
export function findOutOfBounds(value: unknown): Issue | undefined {
  return look(value, 0, { left: MOST_NODES })
}

/** `depth` is that of the object or list that holds the value. */
function look(value: unknown, depth: number, budget: Budget): Issue | undefined {
  if (typeof value === 'string') return isText(value) ? undefined : NOT_TEXT
  if (typeof value !== 'object' || value === null) return undefined
  if (depth >= LIMITS.jsonDepth) return TOO_DEEP
  return Array.isArray(value)
    ? lookThrough(value, depth, budget)
    : lookInto(value as Readonly<Record<string, unknown>>, depth, budget)
}

function lookThrough(list: readonly unknown[], depth: number, budget: Budget): Issue | undefined {
  budget.left -= list.length
  if (budget.left < 0) return TOO_MANY
  for (let at = 0; at < list.length; at += 1) {
    const issue = look(list[at], depth + 1, budget)
    if (issue !== undefined) return under(at, issue)
  }
  return undefined
}

function lookInto(
  object: Readonly<Record<string, unknown>>,
  depth: number,
  budget: Budget,
): Issue | undefined {
  const names = Object.keys(object)
  budget.left -= names.length
  if (budget.left < 0) return TOO_MANY
  for (const name of names) {
    if (!isText(name)) return NOT_TEXT
    const issue = look(object[name], depth + 1, budget)
    if (issue !== undefined) return under(name, issue)
  }
  return undefined
}

const NOT_TEXT: Issue = {
  path: '',
  expected: 'text of whole characters, without U+0000',
  got: 'a string with half of a surrogate pair or U+0000',
}
const TOO_DEEP: Issue = {
  path: '',
  expected: `at most ${LIMITS.jsonDepth} levels`,
  got: 'deeper nesting',
}
const TOO_MANY: Issue = { path: '', expected: `at most ${MOST_NODES} values`, got: 'more' }

const under = (name: string | number, issue: Issue): Issue => ({
  ...issue,
  path: `/${name}${issue.path}`,
})

/** Newer engines look for themselves, in half the time; the types of ES2023 do not know of it. */
type Looked = { readonly isWellFormed?: () => boolean }

export const isText = (text: string): boolean =>
  ((text as Looked).isWellFormed?.() ?? !LONE_SURROGATE.test(text)) && !text.includes('\u0000')
