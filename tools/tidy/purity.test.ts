/** One row, one way to reach a clock, chance or the machine, and the look-alikes that are fine. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { inspect } from './inspect.ts'

function found(path: string, code: string): string[] {
  const text = `/** A source for the tests. */\n${code}\n`
  return inspect({ path, text }, new Set())
    .filter((each) => each.rule === 'purity')
    .map((each) => `${each.line} ${each.advice}`)
}

const IMPURE: Record<string, string> = {
  'Date.now': 'export const at = () => Date.now()',
  "Date['now']": `export const at = () => Date['now']()`,
  'a computed member of Date': 'export const at = (name: "now") => Date[name]()',
  'Date.now as a value': 'export const at = Date.now',
  'new Date without an instant': 'export const at = () => new Date()',
  'new Date without parentheses': 'export const at = () => new Date',
  'new Date with a spread': 'export const at = (all: [number]) => new Date(...all)',
  'new Date in local time': 'export const at = () => new Date(2026, 0, 1)',
  'a bare Date()': 'export const at = () => Date()',
  'Date in parentheses': 'export const at = () => (Date).now()',
  'Date under a cast': 'export const at = () => (Date as { now(): number }).now()',
  'another name for Date': 'const Clock = Date\nexport const at = (x: number) => new Clock(x)',
  'now taken out of Date': 'const { now } = Date\nexport const at = (x = now) => x',
  'Date as an argument': 'export const at = (read: (d: unknown) => number) => read(Date)',
  'Math.random': 'export const draw = () => Math.random()',
  "Math['random']": `export const draw = () => Math['random']()`,
  'another name for Math': 'const M = Math\nexport const draw = (x: number) => M.abs(x)',
  'random taken out of Math': 'const { random } = Math\nexport const draw = (x = random) => x',
  'performance.now': 'export const at = () => performance.now()',
  setTimeout: 'export const later = (run: () => void) => setTimeout(run, 1)',
  setInterval: 'export const later = (run: () => void) => setInterval(run, 1)',
  setImmediate: 'export const later = (run: () => void) => setImmediate(run)',
  process: 'export const home = () => process.env.HOME',
  'typeof process': `export const node = () => typeof process !== 'undefined'`,
  'a process that is only declared': 'declare const process: { pid: number }\nexport { process }',
  'crypto.randomUUID': 'export const id = () => crypto.randomUUID()',
  'globalThis.crypto': 'export const id = () => globalThis.crypto.randomUUID()',
  "globalThis['Date']": `export const at = () => globalThis['Date'].now()`,
  'a global in a shorthand': 'export const all = () => ({ process })',
  'a global as a default': 'export const at = (clock = performance) => clock.now()',
  fetch: 'export const ask = () => fetch("x")',
  'the time zone': 'export const hour = (at: number) => new Date(at).getHours()',
  'the language of the machine': 'export const by = (a: string, b: string) => a.localeCompare(b)',
  'numbers in the language of the machine': 'export const show = (n: number) => n.toLocaleString()',
  Intl: 'export const show = (n: number) => new Intl.NumberFormat().format(n)',
}

const PURE: Record<string, string> = {
  'new Date of an instant': 'export const show = (at: number) => new Date(at).toISOString()',
  'Date.UTC': 'export const at = Date.UTC(2026, 0, 1)',
  'Date.parse': 'export const at = (text: string) => Date.parse(text)',
  'Date as a type': 'export const at = (x: Date): x is Date => x instanceof Date',
  'the rest of Math': 'export const cut = (x: number) => Math.max(0, Math.trunc(x))',
  'a property of that name': 'export const of = (x: { process: number }) => x.process',
  'a key of that name': 'export const of = (x: number) => ({ performance: x, now: x })',
  'a window of our own': 'export const count = (window: readonly number[]) => window.length',
  'crypto that was handed in': 'export const id = (crypto: { next(): string }) => crypto.next()',
  'process as a verb': 'function process(x: number) { return x }\nexport const y = process(1)',
  'Date.now in a string': `export const words = 'Date.now() and Math.random()'`,
  'Date.now in a comment': '// Date.now() is not called here\nexport const x = 1',
  'parts in UTC': 'export const hour = (at: number) => new Date(at).getUTCHours()',
}

for (const area of ['domain', 'dialects']) {
  describe(`purity of ${area}`, () => {
    for (const [name, code] of Object.entries(IMPURE)) {
      test(`stops ${name}`, () => {
        assert.notDeepEqual(found(`packages/${area}/src/a.ts`, code), [])
      })
    }
    for (const [name, code] of Object.entries(PURE)) {
      test(`lets ${name} through`, () => {
        assert.deepEqual(found(`packages/${area}/src/a.ts`, code), [])
      })
    }
  })
}

describe('purity elsewhere', () => {
  test('tests are exempt', () => {
    for (const code of Object.values(IMPURE)) {
      assert.deepEqual(found('packages/domain/src/a.test.ts', code), [])
    }
  })

  test('so are the packages that meet the world', () => {
    for (const code of Object.values(IMPURE)) {
      assert.deepEqual(found('packages/host/src/a.ts', code), [])
    }
  })

  test('the line is the line of the offence', () => {
    const code = '\n\nexport const at = () => Date.now()'
    assert.match(found('packages/domain/src/a.ts', code).join(), /^4 no `Date\.now/)
  })
})

describe('waiting', () => {
  const waits = [
    'export async function load() {}',
    'export const load = async () => 1',
    'export const x = { async load() {} }',
    'export class Ask { async load() {} }',
    'export async function all(x: AsyncIterable<number>) { for await (const each of x) each }',
  ]

  test('is not for the domain', () => {
    for (const code of waits) assert.notDeepEqual(found('packages/domain/src/a.ts', code), [], code)
  })

  test('is for others', () => {
    for (const code of waits) assert.deepEqual(found('packages/dialects/src/a.ts', code), [], code)
  })
})
