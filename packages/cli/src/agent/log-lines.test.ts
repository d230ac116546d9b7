/** The agent's log as people read it. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { lineForPeople } from './log-lines.ts'

describe('a line', () => {
  const time = new Date(2026, 10, 15, 9, 5, 7).toISOString()
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, entry: object, line: string | undefined][] = [
    ['of a skill',           { level: 'info', skill: 'a@v1.0', msg: 'hi', fields: { n: 1 } }, '09:05:07  info      a@v1.0  hi  {"n":1}\n'],
    ['without fields',       { level: 'info', skill: 'a@v1.0', msg: 'hi', fields: {} },       '09:05:07  info      a@v1.0  hi\n'],
    ['of the agent',         { level: 'info', msg: 'at work' },                               undefined],
    ['that is a warning',    { level: 'warn', msg: 'not registered', why: 'network' },        '09:05:07  warn      not registered  network\n'],
    ['with an error',        { level: 'error', msg: 'failed', err: { message: 'boom' } },     '09:05:07  error     failed  boom\n'],
    ['that would steer',     { level: 'warn', msg: '\u001b[31m' },                            '09:05:07  warn      \ufffd[31m\n'],
  ]
  for (const [why, entry, line] of rows) {
    test(why, () => assert.equal(lineForPeople(JSON.stringify({ time, ...entry })), line))
  }
  test('that is no JSON is shown as it is', () => assert.equal(lineForPeople('x\n'), 'x\n'))
})
