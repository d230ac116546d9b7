/** Lines in and out of files: their ends, their size, and that a file is there whole or not. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { readLines, writeLines } from './line-file.ts'

let home = ''
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'chimera-lines-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const fileWith = (content: string | Buffer): string => {
  const path = join(home, 'some')
  writeFileSync(path, content)
  return path
}

test('L1 a line ends with a newline and with nothing else', () => {
  assert.deepEqual([...readLines(fileWith('a\u2028b\r\n\nc'))], ['a\u2028b\r', '', 'c'])
  assert.deepEqual([...readLines(fileWith(''))], [])
})

test('what was written is read again, over the borders of chunks', async () => {
  const lines = ['', 'é'.repeat(700_000), 'x'.repeat(2_500_000), 'a', '', 'b']
  const path = join(home, 'large')
  await writeLines(path, async (put) => {
    for (const line of lines) await put(line)
  })
  const read = [...readLines(path)]
  assert.equal(read.length, lines.length)
  assert.ok(read.every((line, at) => line === lines[at]))
})

test('bytes that are no text are named by their line', () => {
  const path = fileWith(Buffer.from([0x61, 0x0a, 0xff, 0x0a]))
  assert.throws(() => [...readLines(path)], /line 2: not UTF-8/)
})

test('L2 a file that could not be finished is not there, and none is replaced', async () => {
  const path = join(home, 'half')
  const half = writeLines(path, async (put) => {
    await put('a')
    throw new Error('cut off')
  })
  await assert.rejects(half, /cut off/)
  assert.ok(!readdirSync(home).some((name) => name.startsWith('half')))
  const there = fileWith('kept')
  await assert.rejects(
    writeLines(there, (put) => put('new')),
    /is there already/,
  )
  assert.equal(readFileSync(there, 'utf8'), 'kept')
  assert.ok(!readdirSync(home).some((name) => name.endsWith('.part')))
})
