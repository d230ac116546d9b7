/**
 * Every import of a file against the table in boundaries.ts: static, dynamic, re-exported and
 * type imports alike, and the dependencies that a package's manifest names.
 */
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import type { Node } from 'oxc-parser'
import { BOUNDARIES, COMPOSED, permits, TEST_NPM } from './boundaries.ts'
import { areaOf, type Finding, type Source, type SourceFile, stringOf, walk } from './source.ts'

/** `from` is absent when the address is computed. */
type Import = { readonly at: number; readonly from: string | undefined; readonly type: boolean }

const OURS = '@chimera/'

export function inspectImports(source: Source): Finding[] {
  if (source.area === '' || source.path.endsWith('.config.ts')) return []
  return importsOf(source).flatMap((each) => {
    const advice = refusalOf(source, each)
    return advice ? [{ at: each.at, rule: 'imports', advice }] : []
  })
}

function importsOf({ program }: Source): Import[] {
  const found: Import[] = []
  walk(program, (node) => {
    const read = readImport(node)
    if (read) found.push({ at: node.start, from: stringOf(read.from), type: read.type })
  })
  return found
}

function readImport(node: Node): { from: Node; type: boolean } | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
      return { from: node.source, type: node.importKind === 'type' || onlyTypes(node.specifiers) }
    case 'ExportAllDeclaration':
      return { from: node.source, type: node.exportKind === 'type' }
    case 'ExportNamedDeclaration':
      return node.source ? { from: node.source, type: node.exportKind === 'type' } : undefined
    case 'ImportExpression':
      return { from: node.source, type: false }
    case 'TSImportType':
      return { from: node.source, type: true }
    case 'TSExternalModuleReference':
      return { from: node.expression, type: false }
    case 'CallExpression': {
      const [from] = node.arguments
      const required = node.callee.type === 'Identifier' && node.callee.name === 'require'
      return required && from ? { from, type: false } : undefined
    }
    default:
      return undefined
  }
}

function onlyTypes(specifiers: readonly Node[]): boolean {
  return (
    specifiers.length > 0 &&
    specifiers.every((each) => each.type === 'ImportSpecifier' && each.importKind === 'type')
  )
}

function refusalOf(source: Source, { from, type }: Import): string | undefined {
  const boundary = BOUNDARIES[source.area]
  if (!boundary) return `give packages/${source.area} a row in tools/tidy/boundaries.ts`
  if (from === undefined) {
    return boundary.node ? undefined : `${source.area} imports by fixed names only`
  }
  if (from.startsWith('.')) return leavesHome(source.path, from)
  if (from.startsWith(OURS)) return ownRefusal(source, from, type)
  if (isBuiltin(from)) {
    return boundary.node || source.test
      ? undefined
      : `${source.area} does no I/O and runs in a browser: have ${from} handed in`
  }
  const npm = packageOf(from)
  if (permits(boundary.npm, npm) || (source.test && permits(TEST_NPM, npm))) return undefined
  return `${source.area} may not use ${npm}: have it handed in, or add it to its boundary`
}

function leavesHome(path: string, from: string): string | undefined {
  const home = path.startsWith('packages/') ? path.split('/').slice(0, 2).join('/') : areaOf(path)
  const target = posix.join(posix.dirname(path), from)
  if (target.startsWith(`${home}/`)) return undefined
  return 'import another package by its name (@chimera/<name>/<file>), not by a path'
}

function ownRefusal(source: Source, from: string, type: boolean): string | undefined {
  const [name = '', ...inside] = from.slice(OURS.length).split('/')
  if (name === source.area) return 'import a file of the same package by its relative path'
  if (/^(src|dist)$/.test(inside[0] ?? '') || /\.[cm]?[jt]sx?$/.test(from)) {
    return `import what @chimera/${name} exports (@chimera/${name}/<file>), not a file inside it`
  }
  if (!(name in BOUNDARIES)) return `@chimera/${name} is not in tools/tidy/boundaries.ts`
  if (reach(source, type).includes(name)) return undefined
  const composed = COMPOSED[source.area]
  return composed?.uses.includes(name)
    ? `only ${composed.file} names ${name}: take a port as an argument`
    : `${source.area} may not import ${name}: move what both need down, or take it as an argument`
}

/** Our packages that this very file may import from. */
function reach(source: Source, type: boolean): readonly string[] {
  const boundary = BOUNDARIES[source.area]
  const composed = COMPOSED[source.area]
  return [
    ...(boundary?.uses ?? []),
    ...(type ? (boundary?.typesOf ?? []) : []),
    ...(source.test ? (boundary?.testsUse ?? []) : []),
    ...(composed?.file === source.path ? composed.uses : []),
  ]
}

function packageOf(from: string): string {
  const [first = '', second = ''] = from.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

type Manifest = Readonly<Record<string, unknown>>

/** What a package declares must be what it may import, at an exact version. */
export function inspectManifest({ path, text }: SourceFile): Finding[] {
  const area = areaOf(path)
  const boundary = BOUNDARIES[area]
  const manifest: Manifest = JSON.parse(text)
  const composed = COMPOSED[area]?.uses ?? []
  const ours = [...(boundary?.uses ?? []), ...(boundary?.typesOf ?? []), ...composed]
  const finding = (name: string, advice: string): Finding => ({
    at: Math.max(0, text.indexOf(`"${name}":`)),
    rule: 'imports',
    advice,
  })
  const unlisted = ['dependencies', 'optionalDependencies', 'peerDependencies']
    .flatMap((kind) => Object.keys(declaredAs(kind, manifest)))
    .filter((name) =>
      name.startsWith(OURS)
        ? !ours.includes(name.slice(OURS.length))
        : !permits(boundary?.npm ?? ['*'], name),
    )
    .map((name) => finding(name, `${area} may not depend on ${name}`))
  const loose = ['dependencies', 'optionalDependencies', 'devDependencies']
    .flatMap((kind) => Object.entries(declaredAs(kind, manifest)))
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))
    .map(([name]) => finding(name, `pin ${name} to an exact version`))
  return [...unlisted, ...loose]
}

function declaredAs(kind: string, manifest: Manifest): Record<string, unknown> {
  return Object.assign({}, manifest[kind])
}
