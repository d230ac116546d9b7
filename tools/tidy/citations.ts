/**
 * Test titles, and the requirement rows that they cite. A title is what `test`, `it` or `describe`
 * is called with; in a table of tests it is a string that opens with an ID and goes on.
 */
import type { Node } from 'oxc-parser'
import { citedIn } from '../requirement-table.ts'
import { modifiersOf, narrowedBy } from './manners.ts'
import { type Finding, type Source, stringOf, walk } from './source.ts'

/** `runs` is false for a title whose test is skipped: it proves nothing. */
export type Title = { readonly at: number; readonly text: string; readonly runs: boolean }

/** An ID and then words; an ID alone is data. */
const ROW_TITLE = /^[A-Z]{1,2}-\d{1,2}\W+\w/

export function titlesOf(source: Source): readonly Title[] {
  if (!source.test) return []
  const called = new Map<number, Title>()
  const rows = new Map<number, Title>()
  walk(source.program, (node) => {
    if (node.type === 'CallExpression' && isRunner(node.callee)) {
      const [first] = node.arguments
      const text = stringOf(first)
      const runs = narrowedBy(node).length === 0
      if (first && text !== undefined) called.set(first.start, { at: first.start, text, runs })
    }
    const text = stringOf(node)
    if (text !== undefined && ROW_TITLE.test(text)) {
      rows.set(node.start, { at: node.start, text, runs: true })
    }
  })
  return [...new Map([...rows, ...called]).values()]
}

/** `test`, `test.concurrent`, `test.each(rows)`, `test.skipIf(none)`. */
function isRunner(callee: Node): boolean {
  if (callee.type === 'CallExpression') return isRunner(callee.callee)
  if (callee.type === 'TaggedTemplateExpression') return isRunner(callee.tag)
  return modifiersOf(callee) !== undefined
}

export function inspectCitations(source: Source, known: ReadonlySet<string>): Finding[] {
  return titlesOf(source).flatMap(({ at, text }) =>
    citedIn(text, known)
      .filter((id) => !known.has(id))
      .map((id) => ({
        at,
        rule: 'citation',
        advice: `there is no ${id} in docs/requirements.md: cite the row that this proves`,
      })),
  )
}
