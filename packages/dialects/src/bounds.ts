/**
 * What no schema says: how deep a message may nest, how much it may hold, and that its text is text.
 * A lone surrogate cannot be written as UTF-8, so it would break every signature over it.
 */
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'

/** Members and elements in one message: the body limit holds fewer of any useful kind. */
const MOST_NODES = 50_000

/** Half of a surrogate pair without its other half, found without the flag that older engines lack. */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** The first thing out of bounds, or undefined. */
export function findOutOfBounds(value: unknown): Issue | undefined {
  return walk(value, '', 0, { left: MOST_NODES })
}

function walk(
  value: unknown,
  path: string,
  depth: number,
  budget: { left: number },
): Issue | undefined {
  if (typeof value === 'string') return isText(value) ? undefined : notText(path)
  if (typeof value !== 'object' || value === null) return undefined
  if (depth >= LIMITS.jsonDepth) {
    return { path, expected: `at most ${LIMITS.jsonDepth} levels`, got: 'deeper nesting' }
  }
  const names = Object.keys(value)
  budget.left -= names.length
  if (budget.left < 0) return { path, expected: `at most ${MOST_NODES} values`, got: 'more' }
  for (const name of names) {
    const member = (value as Record<string, unknown>)[name]
    if (!isText(name)) return notText(path)
    if (typeof member !== 'string' && (typeof member !== 'object' || member === null)) continue
    if (typeof member === 'string') {
      if (!isText(member)) return notText(`${path}/${name}`)
      continue
    }
    const issue = walk(member, `${path}/${name}`, depth + 1, budget)
    if (issue !== undefined) return issue
  }
  return undefined
}

const notText = (path: string): Issue => ({
  path,
  expected: 'text of whole characters',
  got: 'a string with half of a surrogate pair',
})

const isText = (text: string): boolean => !LONE_SURROGATE.test(text)
