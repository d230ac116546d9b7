/**
 * Definitions: the snippet of the documentation as an author writes it, what is refused and how it
 * is said, and the ten skills of the document, whose contracts fit as they are.
 */
import assert from 'node:assert/strict'
import { SKILLS, type SkillContract } from '@chimera/dialects/skills/contracts'
import { errorRow } from '@chimera/dialects/skills/error-codes'
import type { TSchema } from 'typebox'
import { describe, test } from 'vitest'
import { DefinitionError, defineSkill, Type } from './define.ts'
import { readDuration } from './duration.ts'
import type { ErrorOption } from './error-rows.ts'
import { createRunner } from './runner.ts'

test('SK-2 a skill is a plain function beside its contract, typed by its schemas', async () => {
  const wordCount = defineSkill({
    name: 'word_count',
    version: '1.0',
    price: 0.05,
    input: Type.Object({ text: Type.String({ maxLength: 100_000 }) }),
    output: Type.Object({ words: Type.Integer() }),
    timeout: '5s',
    run: async ({ text }, { signal, progress, log }) => {
      log.info('counting', { aborted: signal.aborted })
      progress(0.5)
      return { words: text.split(/\s+/).length }
    },
  })
  assert.equal(wordCount.priceCents, 5)
  assert.equal(wordCount.timeoutMs, 5_000)
  const runner = createRunner({ skills: [wordCount] })
  const outcome = await runner.run(wordCount, { text: 'one two three' })
  assert.ok(outcome.ok)
  // `words` is a number to the compiler, too.
  assert.equal(outcome.output.words + 1, 4)
  // @ts-expect-error a caller in TypeScript is held to the input's schema
  const wrong = await runner.run(wordCount, { text: 1 })
  assert.equal(!wrong.ok && wrong.error.code, 'INVALID_INPUT')
})

test('a function is held to its schemas and its codes by the compiler', () => {
  defineSkill({
    name: 'a',
    version: '1.0',
    input: Type.Object({}),
    output: Type.Object({ n: Type.Number() }),
    errors: { TOO_SHORT: 'Write more.' },
    // @ts-expect-error the output is not what the schema says
    run: () => ({ n: 'one' }),
  })
  defineSkill({
    name: 'a',
    version: '1.0',
    input: Type.Object({}),
    output: Type.Object({ n: Type.Number() }),
    errors: { TOO_SHORT: 'Write more.' },
    run: (_, { failure }) => {
      // @ts-expect-error there is no such code
      failure('TOO_LONG')
      throw failure('TOO_SHORT')
    },
  })
})

const good = {
  name: 'a',
  version: '1.0',
  input: Type.Object({}),
  output: Type.Object({}),
  run: () => ({}),
}
const DAY_MS = 86_400_000

// biome-ignore format: a table is read by its columns
const rows: [rule: string, change: object, path: string][] = [
  ['a name of strange characters',       { name: 'a b' },                                     'name, version'],
  ['a version that is none',             { version: 'new' },                                  'name, version'],
  ['a third decimal',                    { price: 0.055 },                                    'price'],
  ['a price below nothing',              { price: -1 },                                       'price'],
  ['a timeout that is none',             { timeout: '5 parsecs' },                            'timeout'],
  ['no time at all',                     { timeout: 0 },                                      'timeout'],
  ['more than a day',                    { timeout: '25h' },                                  'timeout'],
  ['more retries than three',            { errors: { A: { words: 'a', retryable: true, retries: 4 } } }, 'errors.A.retries'],
  ['a code in small letters',            { errors: { a: 'a' } },                              'errors'],
  ['a code that is not listed',          { codes: { timeout: 'NOWHERE' } },                   'codes'],
  ['a pattern that may run for ever',    { input: Type.Object({ a: Type.String({ pattern: '(?=a)' }) }) }, 'input/properties/a/pattern'],
  ['a reference to elsewhere',           { output: { $ref: 'https://example.org/a' } },       'output/$ref'],
  ['less notice than 30 days',           { deprecation: { declaredAt: 0, removedAt: 29 * DAY_MS } }, 'deprecation'],
  ['a cache that keeps nothing',         { cache: { ttl: 0 } },                               'cache.ttl'],
  ['a function that is none',            { run: 'run' },                                      'run'],
  ['a module without an address',        { run: undefined, module: './a.js' },                'module'],
]
describe('a definition that is not one is refused when it is made', () => {
  for (const [rule, change, path] of rows) {
    test(rule, () => {
      const { run, ...rest } = { ...good, ...change }
      const options = { ...rest, ...(run !== undefined && { run }) }
      assert.throws(
        () => defineSkill(options as unknown as typeof good),
        (error: unknown) =>
          error instanceof DefinitionError && error.issues.map((each) => each.path).join() === path,
      )
    })
  }

  test('D1 all that is wrong is said at once', () => {
    assert.throws(
      () => defineSkill({ ...good, price: 0.001, timeout: '1x' as '1s', version: '' }),
      /name, version: .*; price: .*; timeout: /,
    )
  })
})

// biome-ignore format: a table is read by its columns
const spans: [span: string | number, ms: number | undefined][] = [
  ['5s', 5_000], ['1.5m', 90_000], ['24h', 86_400_000], ['2d', 172_800_000], ['250ms', 250], [7, 7],
  ['', undefined], ['5', undefined], ['-5s', undefined], ['1e3s', undefined], ['5 s', undefined],
  [Number.NaN, undefined], [1.5, undefined], [-1, undefined],
]
for (const [span, ms] of spans) {
  test(`a span of ${span} is ${ms} ms`, () => assert.equal(readDuration(span), ms))
}

describe('SK-1 the ten contracts are skills as they stand', () => {
  for (const contract of Object.values<SkillContract>(SKILLS)) {
    test(contract.name, () => {
      const { name, input, output, timeoutMs, errors, codes } = contract
      const rows: Readonly<Record<string, ErrorOption>> = errors
      const skill = defineSkill<TSchema, TSchema, string>({
        name,
        version: '1.0',
        input,
        output,
        timeout: timeoutMs,
        errors: rows,
        codes,
        run: () => ({}),
      })
      for (const code of Object.keys(errors)) {
        assert.deepEqual(skill.errors.get(code), errorRow(name, code as 'TIMEOUT'))
      }
    })
  }

  test('with the types of their schemas and the codes of their table', () => {
    const { input, output, errors, codes, timeoutMs } = SKILLS.fetch_trends
    const skill = defineSkill({
      name: 'fetch_trends',
      version: '1.0',
      input,
      output,
      errors,
      codes,
      timeout: timeoutMs,
      cache: { ttl: '5m' },
      run: ({ limit }, { failure }) => {
        assert.equal(typeof limit, 'number')
        throw failure('PLATFORM_UNAVAILABLE')
      },
    })
    assert.equal(skill.codes.output, 'VALIDATION_FAILED')
  })
})
