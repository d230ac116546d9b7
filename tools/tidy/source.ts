/**
 * A source file as the rules see it: where it stands, its syntax tree, and a way to walk it.
 *
 * The rules read the tree and never the text, so that a word in a string or in a comment is not
 * taken for code. TypeScript 7 has no compiler API in its main export, hence oxc.
 */
import { type Comment, type Node, type Program, parseSync } from 'oxc-parser'

export type SourceFile = { readonly path: string; readonly text: string }

export type Violation = {
  readonly path: string
  readonly line: number
  readonly rule: string
  /** What to do, in one sentence. */
  readonly advice: string
}

/** Offsets are turned into lines once, when the violations of a file are gathered. */
export type Finding = { readonly at: number; readonly rule: string; readonly advice: string }

export type Source = {
  readonly path: string
  readonly text: string
  /** The package or workspace it belongs to (`domain`, `tools`); empty for the root's own files. */
  readonly area: string
  /** A test, or something that only tests use. */
  readonly test: boolean
  /** Under `packages/<name>/src` and not a test: what users install. */
  readonly shipped: boolean
  readonly program: Program
  readonly comments: readonly Comment[]
}

export type Parsed =
  | { readonly ok: true; readonly source: Source }
  | { readonly ok: false; readonly at: number; readonly reason: string }

export function areaOf(path: string): string {
  const [top = '', second = '', third] = path.split('/')
  if (top === 'packages') return third === undefined ? '' : second
  return second === '' ? '' : top
}

function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path) || /^packages\/[^/]+\/test\//.test(path)
}

export function parseSource({ path, text }: SourceFile): Parsed {
  const { program, comments, errors } = parseSync(path, text, { preserveParens: false })
  const [first] = errors
  if (first) return { ok: false, at: first.labels[0]?.start ?? 0, reason: first.message }
  const test = isTest(path)
  const shipped = !test && /^packages\/[^/]+\/src\//.test(path)
  const source = { path, text, area: areaOf(path), test, shipped, program, comments }
  return { ok: true, source }
}

/** Lines count from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** The parents of a node from the innermost outwards, and the key by which the first holds it. */
export type Visit = (node: Node, parents: readonly Node[], key: string) => void

export function walk(root: Node, visit: Visit): void {
  step(root, [], '', visit)
}

function step(node: Node, parents: readonly Node[], key: string, visit: Visit): void {
  visit(node, parents, key)
  const inner = [node, ...parents]
  for (const [name, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) step(child, inner, name, visit)
    }
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** The text of a string literal, or of a template's fixed parts with a blank for each hole. */
export function stringOf(node: Node | null | undefined): string | undefined {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node?.type !== 'TemplateLiteral') return undefined
  return node.quasis.map((each) => each.value.cooked ?? '').join(' ')
}

/** `a.b` and `a['b']` both answer `b`. */
export function memberName(node: Node): string | undefined {
  if (node.type !== 'MemberExpression') return undefined
  if (!node.computed) return node.property.type === 'Identifier' ? node.property.name : undefined
  return stringOf(node.property)
}
