/**
 * Values that can be written as JSON and read back the same. What a caller gives and what a skill
 * gives is copied on its way through, so that nobody changes it afterwards.
 *
 *   L1  Nothing is read twice and nothing unbounded: depth, members and size have a limit.
 *   L2  What JSON would lose or change silently (a date, a map, NaN, a bigint, a circle) is
 *       refused. Members that are undefined are left out, as JSON has it.
 *   L3  Reading never throws, whatever the value does when it is looked at.
 */
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import { kindOf } from './foreign-words.ts'

export type Plain =
  | { readonly ok: true; readonly value: unknown; readonly bytes: number }
  | { readonly ok: false; readonly because: 'oversized' | 'unplain'; readonly issue: Issue }

type Budget = { nodes: number; bytes: number }
type Flaw = { readonly because: 'oversized' | 'unplain'; readonly issue: Issue }

class Flawed extends Error {
  readonly flaw: Flaw
  constructor(flaw: Flaw) {
    super('not plain')
    this.flaw = flaw
  }
}

/** A copy, frozen all through when it is to be shared. */
export function readPlain(value: unknown, { freeze = false } = {}): Plain {
  const budget: Budget = { nodes: LIMITS.skillNodes, bytes: LIMITS.skillBytes }
  try {
    const copy = copyInto(value, { path: '', depth: 0 }, budget, freeze)
    return { ok: true, value: copy, bytes: LIMITS.skillBytes - budget.bytes }
  } catch (error) {
    if (error instanceof Flawed) return { ok: false, ...error.flaw }
    const issue = { path: '', expected: JSON_VALUE, got: 'one that cannot be read' }
    return { ok: false, because: 'unplain', issue }
  }
}

/** Of a value that was read already. */
export function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) copy[name] = copyOf(Reflect.get(value, name))
  return copy
}

const JSON_VALUE = 'a value that JSON can hold'

type Place = { readonly path: string; readonly depth: number }

function copyInto(value: unknown, place: Place, budget: Budget, freeze: boolean): unknown {
  switch (typeof value) {
    case 'string':
      spend(budget, value.length + 2, place)
      if (!isText(value)) {
        throw unplain(place, 'text of whole characters, without U+0000', 'another string')
      }
      return value
    case 'boolean':
      spend(budget, 5, place)
      return value
    case 'number':
      // A number is written with 17 digits at most, and rarely with so many.
      spend(budget, 8, place)
      if (!Number.isFinite(value)) throw unplain(place, 'a finite number', String(value))
      return value
    case 'object':
      if (value === null) return null
      break
    default:
      throw unplain(place, JSON_VALUE, kindOf(value))
  }
  if (place.depth >= LIMITS.jsonDepth) {
    throw oversized(place, `at most ${LIMITS.jsonDepth} levels`, 'deeper nesting')
  }
  const copy = Array.isArray(value)
    ? copyList(value, place, budget, freeze)
    : copyMembers(value, place, budget, freeze)
  return freeze ? Object.freeze(copy) : copy
}

function copyList(
  list: readonly unknown[],
  place: Place,
  budget: Budget,
  freeze: boolean,
): unknown[] {
  take(budget, list.length, place)
  return Array.from(list, (each, at) => copyInto(each, within(place, String(at)), budget, freeze))
}

function copyMembers(value: object, place: Place, budget: Budget, freeze: boolean) {
  const kind: unknown = Object.getPrototypeOf(value)
  if (kind !== Object.prototype && kind !== null && Object.getPrototypeOf(kind) !== null) {
    throw unplain(place, 'a plain object', `a ${value.constructor.name.slice(0, 40)}`)
  }
  const names = Object.keys(value)
  take(budget, names.length, place)
  const copy: Record<string, unknown> = {}
  for (const name of names) {
    if (name === '__proto__') throw unplain(place, 'no member of this name', name)
    spend(budget, name.length + 3, place)
    if (!isText(name)) throw unplain(place, 'names of whole characters', 'another one')
    const member: unknown = Reflect.get(value, name)
    if (member !== undefined) copy[name] = copyInto(member, within(place, name), budget, freeze)
  }
  return copy
}

const within = ({ path, depth }: Place, name: string): Place => ({
  path: `${path}/${name}`.slice(0, LIMITS.keyChars),
  depth: depth + 1,
})

function spend(budget: Budget, bytes: number, place: Place): void {
  budget.bytes -= bytes
  if (budget.bytes < 0) throw oversized(place, `at most ${LIMITS.skillBytes} bytes`, 'more')
}

function take(budget: Budget, nodes: number, place: Place): void {
  budget.nodes -= nodes
  if (budget.nodes < 0) throw oversized(place, `at most ${LIMITS.skillNodes} values`, 'more')
}

const oversized = ({ path }: Place, expected: string, got: string) =>
  new Flawed({ because: 'oversized', issue: { path, expected, got } })
const unplain = ({ path }: Place, expected: string, got: string) =>
  new Flawed({ because: 'unplain', issue: { path, expected, got } })

/** Half of a surrogate pair cannot be written as UTF-8, and no database of ours keeps a U+0000. */
const isText = (text: string): boolean =>
  ((text as Looked).isWellFormed?.() ?? !/\p{Cs}/u.test(text)) && !text.includes('\u0000')

/** Newer engines look for themselves, in half the time; the types of ES2023 do not know of it. */
type Looked = { readonly isWellFormed?: () => boolean }
