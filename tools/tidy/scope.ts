/**
 * Which names a file binds, and where an identifier stands for a value: just enough of scope to
 * tell a global from a name of the file's own. A name bound anywhere in the file is the file's own
 * everywhere in it, which is coarse, and enough beside a compiler that knows no such globals.
 */
import type { Node, Program } from 'oxc-parser'
import { isNode, walk } from './source.ts'

const KEYED = new Set([
  'Property',
  'MethodDefinition',
  'PropertyDefinition',
  'AccessorProperty',
  'ImportAttribute',
])
const LABELLED = new Set(['LabeledStatement', 'BreakStatement', 'ContinueStatement'])
const WRAPPERS = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
])

/**
 * Whether an identifier stands for a value here, rather than for a type, a key or a label. A
 * binding counts as one too: who needs to tell them apart asks `declaredNames`.
 */
export function standsForValue(parent: Node | undefined, key: string): boolean {
  if (!parent) return false
  if (parent.type === 'MemberExpression') return key === 'object' || parent.computed
  if (KEYED.has(parent.type)) return key !== 'key' || ('computed' in parent && parent.computed)
  if (LABELLED.has(parent.type) || parent.type === 'MetaProperty') return key === 'body'
  if (/^(Import|Export)\w*Specifier$/.test(parent.type)) return key === 'local'
  if (WRAPPERS.has(parent.type)) return key === 'expression'
  return !parent.type.startsWith('TS')
}

/** Every name that the file binds itself; `declare const …` binds nothing at run time. */
export function declaredNames(program: Program): ReadonlySet<string> {
  const names = new Set<string>()
  walk(program, (node, parents) => {
    for (const name of namesBoundBy(node, parents[0])) names.add(name)
  })
  return names
}

function namesBoundBy(node: Node, parent: Node | undefined): string[] {
  if (node.type === 'VariableDeclarator') {
    return parent?.type === 'VariableDeclaration' && parent.declare ? [] : namesIn(node.id)
  }
  if (node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') {
    const own = node.declare ? [] : namesIn(node.id)
    return node.type === 'FunctionDeclaration' ? [...own, ...node.params.flatMap(namesIn)] : own
  }
  if (node.type === 'CatchClause') return namesIn(node.param)
  if (/^Import\w*Specifier$/.test(node.type) && 'local' in node) return namesIn(node.local)
  return 'params' in node && Array.isArray(node.params) ? node.params.flatMap(namesIn) : []
}

/** The names that a binding pattern introduces. */
export function namesIn(pattern: unknown): string[] {
  if (!isNode(pattern)) return []
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name]
    case 'AssignmentPattern':
      return namesIn(pattern.left)
    case 'RestElement':
      return namesIn(pattern.argument)
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesIn)
    case 'ObjectPattern':
      return pattern.properties.flatMap((each) =>
        namesIn(each.type === 'Property' ? each.value : each),
      )
    default:
      return []
  }
}
