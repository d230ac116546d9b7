/**
 * What a module exports, as its author wrote it: the declaration behind each name, wherever it
 * stands, with its doc comment and its signature.
 *
 *   E1  A name is followed through re-exports and imports to where it is declared. What leads out
 *       of our packages is named with the package, and not described.
 *   E2  Whatever is not understood is an error: a page that leaves something out tells nobody.
 */
import { dirname, join } from 'node:path/posix'
import type { Class, Node } from 'oxc-parser'
import { parseSource, type Source } from '../tidy/source.ts'

export type Kind = 'function' | 'class' | 'constant' | 'type'

export type Exported = {
  readonly name: string
  /** Where it is declared; the npm package of what is not ours. */
  readonly from: string
} & (
  | { readonly foreign: true }
  | {
      readonly foreign: false
      readonly kind: Kind
      readonly doc: string
      readonly signature: string
    }
)

/** The text of a file of the checkout; throws where there is none. */
export type ReadFile = (path: string) => string

export function readExports(entry: string, read: ReadFile): readonly Exported[] {
  const sources = new Map<string, Source>()

  function open(path: string): Source {
    const known = sources.get(path)
    if (known !== undefined) return known
    const parsed = parseSource({ path, text: read(path) })
    if (!parsed.ok) throw new Error(`${path}: ${parsed.reason}`)
    sources.set(path, parsed.source)
    return parsed.source
  }

  function follow(from: string, name: string, source: string): Exported {
    const path = pathOf(from, source)
    return path === undefined ? { name, from: source, foreign: true } : find(path, name)
  }

  function find(path: string, name: string): Exported {
    const source = open(path)
    for (const node of source.program.body) {
      if (node.type === 'ExportAllDeclaration') throw notUnderstood(path, 'export *')
      if (node.type === 'ExportNamedDeclaration') {
        for (const each of node.specifiers) {
          if (nameOf(each.exported) !== name) continue
          const local = nameOf(each.local)
          if (node.source !== null) return { ...follow(path, local, node.source.value), name }
          return { ...findLocal(path, local), name }
        }
      }
    }
    return findLocal(path, name)
  }

  function findLocal(path: string, name: string): Exported {
    const source = open(path)
    for (const node of source.program.body) {
      if (node.type === 'ImportDeclaration') {
        for (const each of node.specifiers) {
          if (each.local.name !== name) continue
          if (each.type !== 'ImportSpecifier') throw notUnderstood(path, `import of ${name}`)
          return { ...follow(path, nameOf(each.imported), node.source.value), name }
        }
      }
      const declared = node.type === 'ExportNamedDeclaration' ? node.declaration : node
      if (declared && isDeclarationOf(declared, name)) return describe(source, node, declared, name)
    }
    throw new Error(`${path}: ${name} is exported, and declared nowhere`)
  }

  return exportedNames(open(entry)).map((name) => find(entry, name))
}

function exportedNames({ path, program }: Source): readonly string[] {
  return program.body.flatMap((node) => {
    if (node.type === 'ExportAllDeclaration' || node.type === 'ExportDefaultDeclaration') {
      throw notUnderstood(path, node.type)
    }
    if (node.type !== 'ExportNamedDeclaration') return []
    if (node.declaration === null) return node.specifiers.map(({ exported }) => nameOf(exported))
    return namesDeclared(path, node.declaration)
  })
}

function namesDeclared(path: string, node: Node): readonly string[] {
  if (node.type === 'VariableDeclaration') {
    return node.declarations.map(({ id }) => {
      if (id.type !== 'Identifier') throw notUnderstood(path, `export of a ${id.type}`)
      return id.name
    })
  }
  if ('id' in node && node.id?.type === 'Identifier') return [node.id.name]
  throw notUnderstood(path, `export of a ${node.type}`)
}

function isDeclarationOf(node: Node, name: string): boolean {
  if (node.type === 'VariableDeclaration') {
    return node.declarations.some(({ id }) => id.type === 'Identifier' && id.name === name)
  }
  const named = /^(?:Function|Class|TSTypeAlias|TSInterface)Declaration$/.test(node.type)
  return named && 'id' in node && node.id?.type === 'Identifier' && node.id.name === name
}

function describe(source: Source, statement: Node, declared: Node, name: string): Exported {
  const common = { name, from: source.path, foreign: false, doc: docOf(source, statement) } as const
  const cut = (from: number, to: number): string => source.text.slice(from, to).trim()
  switch (declared.type) {
    case 'FunctionDeclaration': {
      if (declared.body === null) throw notUnderstood(source.path, `overloads of ${name}`)
      // Whether it is async is how it is written; what it returns says the rest.
      const signature = cut(declared.start, declared.body.start).replace(/^async /, '')
      return { ...common, kind: 'function', signature }
    }
    case 'TSTypeAliasDeclaration':
    case 'TSInterfaceDeclaration':
      return { ...common, kind: 'type', signature: cut(declared.start, declared.end) }
    case 'ClassDeclaration':
      return { ...common, kind: 'class', signature: classOf(source, declared) }
    case 'VariableDeclaration':
      return { ...common, kind: 'constant', signature: cut(declared.start, declared.end) }
    default:
      throw notUnderstood(source.path, `${declared.type} of ${name}`)
  }
}

/** Its head and what can be seen of it, without the code. */
function classOf({ path, text }: Source, node: Class): string {
  const lines = node.body.body.map((member) => {
    switch (member.type) {
      case 'PropertyDefinition':
        return text.slice(member.start, member.end)
      case 'MethodDefinition': {
        const { body } = member.value
        if (body === null) throw notUnderstood(path, 'a method without a body')
        return text.slice(member.start, body.start).trim()
      }
      default:
        throw notUnderstood(path, `${member.type} in a class`)
    }
  })
  const head = text.slice(node.start, node.body.start).trim()
  return [`${head} {`, ...lines.map((line) => `  ${line}`), '}'].join('\n')
}

/** The comment right above, without its stars. */
function docOf({ text, comments }: Source, { start }: Node): string {
  const above = comments.find(
    ({ type, value, end }) =>
      type === 'Block' &&
      value.startsWith('*') &&
      end <= start &&
      /^\s*$/.test(text.slice(end, start)),
  )
  if (above === undefined) return ''
  const lines = above.value.slice(1).split('\n')
  return lines
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim()
}

/** Undefined: not one of our packages. */
function pathOf(from: string, source: string): string | undefined {
  if (source.startsWith('.')) return join(dirname(from), source)
  const [, name, inner = 'index'] = /^@chimera\/([^/]+)(?:\/(.+))?$/.exec(source) ?? []
  return name === undefined ? undefined : `packages/${name}/src/${inner}.ts`
}

function nameOf(node: Node): string {
  if (node.type === 'Identifier') return node.name
  throw new Error(`a name was expected, not a ${node.type}`)
}

const notUnderstood = (path: string, what: string): Error =>
  new Error(`${path}: ${what} is not understood; write it otherwise, or teach tools/api`)
