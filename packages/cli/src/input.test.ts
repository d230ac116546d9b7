/** The input of a skill, from the words themselves and from a file. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { readInput } from './input.ts'
import { MISUSED, Trouble } from './trouble.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chimera-input-'))
  await writeFile(join(folder, 'good.json'), '\n {"a": [1]}\n')
  await writeFile(join(folder, 'bad.json'), 'a: 1')
  await writeFile(join(folder, 'large.json'), `{"a":"${'x'.repeat(2_000_000)}"}`)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('reads an object', async () => {
  assert.deepEqual(await readInput('{"text":"x"}'), { text: 'x' })
  assert.deepEqual(await readInput(`@${join(folder, 'good.json')}`), { a: [1] })
})

describe('anything else names the flag, what was expected and what came', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, said: () => string, came: RegExp][] = [
    ['a list',            () => '[1]',                           /came "\[1\]"\.$/],
    ['null',              () => 'null',                          /came "null"\.$/],
    ['a text',            () => 'hello',                         /came no JSON: "hello"\.$/],
    ['something long',    () => 'x'.repeat(100),                 /came no JSON: "x{59}…\.$/],
    ['a file of no JSON', () => `@${join(folder, 'bad.json')}`,  /came no JSON: "a: 1", from .*bad\.json\.$/],
    ['no file',           () => `@${join(folder, 'none')}`,      /none", which cannot be read\.$/],
    ['a folder',          () => `@${folder}`,                    /which cannot be read\.$/],
    ['too much',          () => `@${join(folder, 'large.json')}`, /came more than \d+ bytes\.$/],
  ]
  for (const [why, said, came] of rows) {
    test(why, async () => {
      const trouble = await readInput(said()).catch((error: unknown) => error)
      assert.ok(trouble instanceof Trouble)
      assert.equal(trouble.status, MISUSED)
      assert.match(trouble.message, /^--input: expected one JSON object, @file with one, or -/)
      assert.match(trouble.message, came)
    })
  }
})
