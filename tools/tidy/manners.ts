/**
 * What does not belong in finished code: output that nobody asked for, promises to do it later,
 * and tests that do not run.
 */
import type { CallExpression, Node } from 'oxc-parser'
import { declaredNames, standsForValue } from './scope.ts'
import { type Finding, lineAt, memberName, type Source, walk } from './source.ts'

const MAY_PRINT = ['cli', 'tools', 'bench', 'soak', 'examples']
const LATER = /\b(TODO|FIXME|XXX)\b/
const RUNNERS = ['test', 'it', 'describe', 'suite']
const NARROWING = ['only', 'todo', 'skip', 'skipIf', 'runIf', 'fails']

export function inspectManners(source: Source): Finding[] {
  return [...printing(source), ...postponed(source), ...unrunTests(source)]
}

function printing({ area, program }: Source): Finding[] {
  if (MAY_PRINT.includes(area) || declaredNames(program).has('console')) return []
  const found: Finding[] = []
  walk(program, (node, parents, key) => {
    const named = node.type === 'Identifier' && node.name === 'console'
    if (!named || !standsForValue(parents[0], key)) return
    const advice = 'only the CLI prints: take a log as an argument'
    found.push({ at: node.start, rule: 'console', advice })
  })
  return found
}

function postponed({ comments }: Source): Finding[] {
  return comments.flatMap(({ start, value }) => {
    const match = LATER.exec(value)
    if (!match) return []
    const advice = `do it now, or write the limit down in the docs; no ${match[0]}`
    // The two characters are the comment's own opening.
    return [{ at: start + 2 + match.index, rule: 'postponed', advice }]
  })
}

function unrunTests(source: Source): Finding[] {
  if (!source.test) return []
  const found: Finding[] = []
  walk(source.program, (node) => {
    if (node.type !== 'CallExpression') return
    for (const how of narrowedBy(node)) {
      const never = how === 'only' || how === 'todo'
      if (!never && hasReason(source, node.start)) continue
      const advice = never
        ? `no .${how}: every test is written, and runs`
        : `say in a comment on the line above why this test may not run (.${how})`
      found.push({ at: node.start, rule: 'unrun', advice })
    }
  })
  return found
}

/** `test.only(…)`, `describe.skipIf(…)(…)` and `test('…', { skip: true }, …)`. */
export function narrowedBy(call: CallExpression): string[] {
  const modifiers = modifiersOf(call.callee)
  if (!modifiers) return []
  const options = call.arguments.flatMap((each) =>
    each.type === 'ObjectExpression' ? each.properties : [],
  )
  const set = options.flatMap((each) =>
    each.type === 'Property' &&
    each.key.type === 'Identifier' &&
    !(each.value.type === 'Literal' && each.value.value === false)
      ? [each.key.name]
      : [],
  )
  return [...modifiers, ...set].filter((each) => NARROWING.includes(each))
}

/** The chain behind `test`, `it`, `describe` or `suite`; absent when the root is none of them. */
export function modifiersOf(callee: Node): string[] | undefined {
  if (callee.type === 'Identifier') return RUNNERS.includes(callee.name) ? [] : undefined
  if (callee.type !== 'MemberExpression') return undefined
  const inner = modifiersOf(callee.object)
  const own = memberName(callee)
  return inner && own !== undefined ? [...inner, own] : undefined
}

/** A comment that ends on the line above the test, or stands on its own line. */
function hasReason({ text, comments }: Source, at: number): boolean {
  const line = lineAt(text, at)
  return comments.some(({ end, value }) => {
    const below = line - lineAt(text, end)
    return (below === 0 || below === 1) && (value.match(/[\p{L}\d]+/gu) ?? []).length >= 3
  })
}
