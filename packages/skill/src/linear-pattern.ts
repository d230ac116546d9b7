/**
 * Patterns of strangers, run in time linear in the text by RE2, which knows no backtracking.
 *
 *   L1  A pattern that RE2 cannot run (look-around, back-references) is refused, never weakened.
 *   L2  Its size is known before it is compiled: `(a{1000}){1000}` is short to write only.
 *
 * Where the two languages differ, RE2's meaning counts: `\s` is ASCII's blanks, and `.` is
 * everything but a newline.
 */
import { RE2JS } from 're2js'

export type LinearPattern = {
  readonly size: number
  readonly test: (text: string) => boolean
}

/** Undefined when it cannot be run, or would be larger than allowed. */
export function compilePattern(source: string, most: number): LinearPattern | undefined {
  const size = sizeOf(source)
  if (size > most || BACK_REFERENCE.test(source)) return undefined
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source))
    return { size, test: (text) => compiled.test(text) }
  } catch {
    return undefined
  }
}

/** By name; the translator would read it as a letter. RE2 itself refuses those by number. */
const BACK_REFERENCE = /(?<!\\)(?:\\\\)*\\k/

const REPEAT = /^\{(\d{1,9})(?:,(\d{0,9}))?\}/
/** A property, a code point or one character; what stands in braces is no repetition. */
const ESCAPE = /^\\(?:[pPux]\{[^}]*\}|[\s\S]?)/
/** A `]` that comes first is taken to end the class, as it does in JavaScript. */
const CLASS = /^\[(?:\\[\s\S]|[^\]\\])*\]?/

/** About how many instructions a pattern becomes. Never less than a third of what it does. */
function sizeOf(source: string): number {
  const open: number[] = []
  let sum = 0
  let last = 0
  for (let at = 0; at < source.length; ) {
    const rest = source.slice(at, at + LONGEST_TOKEN)
    const repeat = REPEAT.exec(rest)
    if (repeat !== null) {
      const times = Math.max(Number(repeat[1]), Number(repeat[2] ?? 0))
      sum += last * Math.max(times - 1, 0)
      last *= Math.max(times, 1)
      at += repeat[0].length
      continue
    }
    const token = tokenAt(rest)
    at += token.length
    if (token === '(') {
      open.push(sum)
      sum = 0
    } else if (token === ')') {
      last = sum + 1
      sum = (open.pop() ?? 0) + last
    } else {
      last = 1
      sum += 1
    }
  }
  return open.reduce((all, each) => all + each, sum)
}

/** A class may be as long as it likes: what is cut off is counted as well. */
const LONGEST_TOKEN = 2_000

function tokenAt(rest: string): string {
  const first = rest.charAt(0)
  if (first === '\\') return ESCAPE.exec(rest)?.[0] ?? first
  if (first === '[') return CLASS.exec(rest)?.[0] ?? first
  return first
}
