/**
 * What a stranger wrote, made fit to be passed on as data: no character that steers a terminal,
 * turns the writing direction or hides words, and no value that is too deep or too large to walk.
 *
 *   C1  Ordinary text of any language, emoji included, stays as it is.
 *   C2  Values are plain JSON afterwards; nothing of them is shared with what came.
 */
// C0 and C1, marks of direction, invisible operators, tags (letters that nobody sees), lone halves
// of pairs, and what is no character. The joiner inside emoji (U+200D) stays.
const HIDDEN =
  /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu

const MOST_DEEP = 32
// A list of 600 trends has about 15 000.
const MOST_VALUES = 100_000

/** One line of text. */
export function cleanText(text: string): string {
  return text.replace(BREAKS, ' ').replace(HIDDEN, '')
}

/** JSON, cleaned; undefined for what is no JSON, too deep or too large. */
export function readData(text: string): unknown {
  if (isTooDeep(text)) return undefined
  try {
    return cleanValue(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** A value as it came out of JSON, cleaned; undefined where it is too deep or too large. */
export function cleanValue(value: unknown): unknown {
  const budget = { left: MOST_VALUES }
  try {
    return copy(value, 0, budget)
  } catch (error) {
    if (error instanceof TooMuch) return undefined
    throw error
  }
}

class TooMuch extends Error {}

function copy(value: unknown, depth: number, budget: { left: number }): unknown {
  budget.left -= 1
  if (depth > MOST_DEEP || budget.left < 0) throw new TooMuch()
  if (typeof value === 'string') return cleanText(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => copy(each, depth + 1, budget))
  // Not by assignment: a name such as `__proto__` would be more than a name.
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [cleanText(name), copy(each, depth + 1, budget)]),
  )
}

/** Told from the brackets, before anything is built. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let inText = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (inText) {
      if (char === BACKSLASH) at += 1
      else if (char === QUOTE) inText = false
    } else if (char === QUOTE) inText = true
    else if (char === BRACE || char === BRACKET) {
      depth += 1
      if (depth > MOST_DEEP) return true
    } else if (char === END_BRACE || char === END_BRACKET) depth -= 1
  }
  return false
}

const [QUOTE, BACKSLASH, BRACKET, END_BRACKET, BRACE, END_BRACE] = [34, 92, 91, 93, 123, 125]
