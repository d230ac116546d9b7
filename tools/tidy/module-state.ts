/**
 * Importing a module does nothing (A6), and nothing is kept beside the state that is handed in.
 *
 *   M1  Nothing runs at the top of a shipped file, but for entry points (`main`, workers).
 *   M2  No module-level `let`, and no module-level collection that is filled later.
 *   M3  A module-level regular expression with `g` or `y` remembers where it stopped, so it is not
 *       used with `test` or `exec`.
 */
import type { Node, VariableDeclaration } from 'oxc-parser'
import { namesIn } from './scope.ts'
import { type Finding, memberName, type Source, walk } from './source.ts'

const ENTRY = /\/(main|worker|[a-z0-9]+-worker)\.tsx?$/
const COLLECTIONS = ['Map', 'Set', 'WeakMap', 'WeakSet', 'Array']
const CHANGES =
  /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin)$/
const STANDS_STILL = /^(Import|Export|TS)|^(Function|Class|Variable)Declaration$|^EmptyStatement$/

export function inspectModuleState(source: Source): Finding[] {
  if (!source.shipped || ENTRY.test(source.path)) return []
  const top = source.program.body.map((each) =>
    each.type === 'ExportNamedDeclaration' && each.declaration ? each.declaration : each,
  )
  const variables = top.filter((each) => each.type === 'VariableDeclaration' && !each.declare)
  return [
    ...top.flatMap(startsWork),
    ...variables.flatMap(keepsState),
    ...changesOf(source, variables),
  ]
}

function startsWork(node: Node): Finding[] {
  const at = node.start
  if (node.type === 'ExpressionStatement' && node.directive) return []
  if (!STANDS_STILL.test(node.type)) {
    const advice = 'importing a module does nothing: put this into a function'
    return [{ at, rule: 'on-import', advice }]
  }
  if (node.type === 'ImportDeclaration' && node.importKind !== 'type') {
    if (node.specifiers.length > 0 || node.source.value.endsWith('.css')) return []
    const advice = 'an import for its effect alone belongs into an entry point'
    return [{ at, rule: 'on-import', advice }]
  }
  return waitsAtTop(node) ? [{ at, rule: 'on-import', advice: 'no top-level await' }] : []
}

function waitsAtTop(root: Node): boolean {
  let waits = false
  walk(root, (node, parents) => {
    const inside = parents.some((each) => /Function/.test(each.type))
    if (node.type === 'AwaitExpression' && !inside) waits = true
  })
  return waits
}

function keepsState(node: Node): Finding[] {
  if (node.type !== 'VariableDeclaration') return []
  if (node.kind === 'let' || node.kind === 'var') {
    const advice = 'no module-level state: keep it in what is handed in, or make it a const'
    return [{ at: node.start, rule: 'module-state', advice }]
  }
  return node.declarations.flatMap(({ start, init }) => {
    const empty =
      init?.type === 'NewExpression' &&
      init.arguments.length === 0 &&
      init.callee.type === 'Identifier' &&
      COLLECTIONS.includes(init.callee.name)
    const advice = 'an empty collection here is state of the module: make it where it is filled'
    return empty ? [{ at: start, rule: 'module-state', advice }] : []
  })
}

/** Where a function of the file changes one of the file's own constants. */
function changesOf(source: Source, variables: readonly Node[]): Finding[] {
  const kept = ownConstants(source, variables)
  const found: Finding[] = []
  walk(source.program, (node, [parent, above], key) => {
    if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier') return
    const { name } = node.object
    const constant = kept.get(name)
    if (!constant) return
    const member = memberName(node) ?? ''
    const called = parent?.type === 'CallExpression' && key === 'callee'
    const written =
      (parent?.type === 'AssignmentExpression' && key === 'left') ||
      parent?.type === 'UpdateExpression' ||
      (parent?.type === 'UnaryExpression' && parent.operator === 'delete')
    const changed = written || (called && CHANGES.test(member))
    const stepped = called && constant.sticky && /^(test|exec)$/.test(member)
    if (!changed && !stepped) return
    // A change at the top of the file is already reported as work on import.
    if (above?.type === 'ExpressionStatement' && source.program.body.includes(above)) return
    const advice = stepped
      ? `${name} remembers where it stopped: drop its flag, or use matchAll`
      : `${name} belongs to the module and is changed here: keep it in what is handed in`
    found.push({ at: node.start, rule: 'module-state', advice })
  })
  return found
}

/** A name that is also bound inside a function is left out: which one is meant is not known. */
function ownConstants({ program }: Source, variables: readonly Node[]) {
  const declarations = variables.flatMap((each) =>
    each.type === 'VariableDeclaration' ? each.declarations : [],
  )
  const inner = new Set<string>()
  walk(program, (node) => {
    if (node.type === 'VariableDeclarator' && !declarations.includes(node)) {
      for (const name of namesIn(node.id)) inner.add(name)
    }
    if ('params' in node && Array.isArray(node.params)) {
      for (const name of node.params.flatMap(namesIn)) inner.add(name)
    }
  })
  const kept = declarations.flatMap(({ id, init }: VariableDeclaration['declarations'][number]) => {
    const sticky = init?.type === 'Literal' && 'regex' in init && /[gy]/.test(init.regex.flags)
    return namesIn(id).map((name) => [name, { sticky }] as const)
  })
  return new Map(kept.filter(([name]) => !inner.has(name)))
}
