/**
 * How a file looks: it opens by saying what it is, its lines fit 100 columns and its code fits 500
 * lines. The formatter keeps most lines short, but not comments and strings.
 *
 *   L1  A table under `biome-ignore format` may be as wide as its columns.
 *   L2  An address, a key or a regular expression has no place to break, and does not count.
 */
import { type Finding, type Source, walk } from './source.ts'

const COLUMNS = 100
const LINES = 500
/** From here on, one unbroken thing is the line's reason to be long. */
const UNBROKEN = 60
const UNBREAKABLE = new RegExp(`https?://\\S+|(['"\`])[^\\s'"\`]{${UNBROKEN},}\\1`, 'g')
const DIRECTIVE = /^\s*(biome-ignore|oxlint-disable|@ts-|eslint|prettier|\/\s*<reference)/

export function inspectLayout(source: Source): Finding[] {
  return [...opening(source), ...wideLines(source), ...tooLong(source)]
}

function opening({ program, comments }: Source): Finding[] {
  const code = program.body[0]?.start ?? Number.MAX_SAFE_INTEGER
  const first = comments.find(({ end, value }) => end <= code && !DIRECTIVE.test(value))
  if (first && (first.value.match(/[\p{L}\d]+/gu) ?? []).length >= 3) return []
  const advice = 'open the file with one to eight lines that say what it is'
  return [{ at: 0, rule: 'opening', advice }]
}

function wideLines(source: Source): Finding[] {
  const exempt = [...tableSpans(source), ...patternSpans(source)]
  let at = 0
  return source.text.split('\n').flatMap((line) => {
    const start = at
    at += line.length + 1
    const columns = [...line.replace(UNBREAKABLE, '')].length
    if (columns <= COLUMNS) return []
    if (exempt.some((span) => span.start < start + line.length && start < span.end)) return []
    const advice = `${columns} columns: break it, ${COLUMNS} is the most`
    return [{ at: start, rule: 'columns', advice }]
  })
}

type Span = { readonly start: number; readonly end: number }

function patternSpans({ program }: Source): Span[] {
  const found: Span[] = []
  walk(program, (node) => {
    const pattern = node.type === 'Literal' && 'regex' in node
    if (pattern && node.end - node.start >= UNBROKEN) found.push(node)
  })
  return found
}

/** What each `biome-ignore format` covers: the widest node that begins next after it. */
function tableSpans({ program, comments }: Source): Span[] {
  return comments
    .filter((each) => each.value.includes('biome-ignore format'))
    .map((comment) => {
      let next: Span = { start: Number.MAX_SAFE_INTEGER, end: 0 }
      walk(program, ({ type, start, end }) => {
        // The program itself may begin with its first statement.
        if (start < comment.end || type === 'Program') return
        if (start < next.start || (start === next.start && end > next.end)) next = { start, end }
      })
      return next
    })
}

function tooLong({ text }: Source): Finding[] {
  const lines = text.replace(/\n$/, '').split('\n').length
  if (lines <= LINES) return []
  return [{ at: 0, rule: 'lines', advice: `${lines} lines: cut it in two, ${LINES} is the most` }]
}
