/** Where something went wrong, in the author's own files and nowhere else. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { placeIn } from './place.ts'

const FILES = ['/home/ann/skills.ts', '/home/ann/words.ts']

function thrown(message: string, frames: readonly string[], more: object = {}): Error {
  const error = new Error(message)
  error.stack = [`Error: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n')
  return Object.assign(error, more)
}

describe('the place', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, error: unknown, lines: string[] | undefined][] = [
    ['the first of its own frames', thrown('boom', ['f (node:fs:1:2)', 'g (file:///home/ann/words.ts:3:7)', 'h (/home/ann/skills.ts:1:1)']),
      ['Error: boom', '  at /home/ann/words.ts:3:7']],
    ['a frame without a name',      thrown('boom', ['/home/ann/skills.ts:4:5']), ['Error: boom', '  at /home/ann/skills.ts:4:5']],
    ['what does not compile',       thrown('Transform failed:\n/home/ann/words.ts:1:2: ERROR: x', []), ['Transform failed:\n/home/ann/words.ts:1:2: ERROR: x']],
    ['a module that is missing',    thrown('Cannot find x', [], { code: 'ERR_MODULE_NOT_FOUND' }), ['Cannot find x']],
    ['nothing of its own',          thrown('boom', ['f (node:fs:1:2)']), undefined],
    ['no error',                    'boom', undefined],
  ]
  for (const [why, error, lines] of rows) {
    test(why, () => assert.deepEqual(placeIn(error, FILES), lines))
  }
})
