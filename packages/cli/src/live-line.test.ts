/** One line that is written anew at a terminal, and plain lines elsewhere. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { createLiveLine } from './live-line.ts'

function onStream(more: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  return { written, line: createLiveLine({ ...more, write: (text) => written.push(text) }) }
}

test('at a terminal the line is taken back and never wraps', () => {
  const { written, line } = onStream({ isTTY: true, columns: 12 })
  line.show('Looking …')
  line.show('Looking …')
  line.show('a line that is too long')
  line.note('refused')
  line.show('again')
  line.clear()
  line.clear()
  const erase = '\r\u001b[2K'
  assert.deepEqual(written, [
    `${erase}Looking …`,
    `${erase}a line tha…`,
    erase,
    'refused\n',
    `${erase}again`,
    erase,
  ])
})

test('elsewhere each difference is a line, and strangers steer nothing', () => {
  const { written, line } = onStream({})
  for (const text of ['one', 'one', 'two\u001b[31m']) line.show(text)
  line.note('three')
  line.clear()
  assert.deepEqual(written, ['one\n', 'two\ufffd[31m\n', 'three\n'])
})
