/**
 * No clock, no chance and no machine in `domain` and `dialects` (X-8, and the design's "knows no
 * clock"): the same input gives the same answer on every computer, at any time, for ever. Time,
 * chance, identifiers and hashes are handed in. The tests of these packages may do as they like.
 *
 *   U1  Aliases count: `const { now } = Date` is as impure as `Date.now()`.
 *   U2  The machine's time zone and language are part of it: `getHours()`, `localeCompare`.
 *   U3  In the domain nothing waits: a decision is made in one go (A1).
 */
import type { Node } from 'oxc-parser'
import { declaredNames, standsForValue } from './scope.ts'
import { type Finding, memberName, type Source, walk } from './source.ts'

const PURE_AREAS = ['domain', 'dialects']

const GLOBALS: Readonly<Record<string, string>> = {
  process: 'have settings handed in',
  performance: 'take `now` as an argument',
  Temporal: 'take `now` as an argument',
  crypto: 'have identifiers, chance and hashes handed in',
  setTimeout: 'answer when to look again instead of waiting',
  setInterval: 'answer when to look again instead of waiting',
  setImmediate: 'answer when to look again instead of waiting',
  queueMicrotask: 'answer when to look again instead of waiting',
  fetch: 'have what the network says handed in',
  require: 'import by name',
  globalThis: 'name what is needed as an argument',
  global: 'name what is needed as an argument',
  window: 'name what is needed as an argument',
  self: 'name what is needed as an argument',
}

const LOCAL_ONLY =
  /^(get(TimezoneOffset|Hours|Day|Date|Month|FullYear)|(toL|l)ocale\w+|to(Date|Time)String)$/

export function inspectPurity(source: Source): Finding[] {
  if (!source.shipped || !PURE_AREAS.includes(source.area)) return []
  const declared = declaredNames(source.program)
  const found: Finding[] = []
  walk(source.program, (node, parents, key) => {
    const advice =
      node.type === 'Identifier' && standsForValue(parents[0], key)
        ? impureName(node.name, parents, key, declared)
        : (localTime(node) ?? (source.area === 'domain' ? waiting(node) : undefined))
    if (advice) found.push({ at: node.start, rule: 'purity', advice })
  })
  return found
}

function impureName(
  name: string,
  [parent]: readonly Node[],
  key: string,
  declared: ReadonlySet<string>,
): string | undefined {
  if (name === 'Date') return impureDate(parent, key)
  if (name === 'Math') return impureMath(parent, key)
  if (name === 'Intl') return 'no language or time zone here: leave formatting to the edge'
  if (declared.has(name) || !Object.hasOwn(GLOBALS, name)) return undefined
  return `no \`${name}\` here: ${GLOBALS[name]}`
}

function impureDate(parent: Node | undefined, key: string): string | undefined {
  if (parent?.type === 'MemberExpression' && key === 'object') {
    const member = memberName(parent)
    if (member === 'UTC' || member === 'parse') return undefined
    return 'no `Date.now()` here: take `now` as an argument'
  }
  if (parent?.type === 'NewExpression' && key === 'callee') {
    const [only, ...more] = parent.arguments
    if (only && only.type !== 'SpreadElement' && more.length === 0) return undefined
    return only
      ? '`new Date(year, month, …)` reads the local time zone: use `Date.UTC`'
      : 'no `new Date()` without an instant here: take `now` as an argument'
  }
  if (parent?.type === 'BinaryExpression' && parent.operator === 'instanceof') return undefined
  return 'no other name for `Date`, and no bare `Date()`: take `now` as an argument'
}

function impureMath(parent: Node | undefined, key: string): string | undefined {
  if (parent?.type === 'MemberExpression' && key === 'object') {
    const member = memberName(parent)
    if (member !== undefined && member !== 'random') return undefined
  }
  return 'no `Math.random`, and no other name for `Math`: take chance as an argument'
}

function localTime(node: Node): string | undefined {
  const member = memberName(node)
  if (member === undefined || !LOCAL_ONLY.test(member)) return undefined
  return `\`${member}\` depends on the machine's time zone or language: use UTC and code units`
}

function waiting(node: Node): string | undefined {
  const waits =
    node.type === 'AwaitExpression' ||
    (node.type === 'ForOfStatement' && node.await) ||
    ('async' in node && node.async)
  return waits ? 'nothing in the domain waits: load first, decide then' : undefined
}
