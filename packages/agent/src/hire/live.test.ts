/** Server-sent events as they come: in any pieces, and never more than is bounded. */
import assert from 'node:assert/strict'
import { LIMITS } from '@chimera/domain/limits'
import * as fc from 'fast-check'
import { describe, test } from 'vitest'
import { createReading, type LiveEvent } from './live.ts'

function readIn(pieces: readonly string[]): LiveEvent[] {
  const heard: LiveEvent[] = []
  const read = createReading((event) => heard.push(event))
  for (const piece of pieces) read(Buffer.from(piece))
  return heard
}

describe('P-7 events', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [what: string, text: string, heard: LiveEvent[]][] = [
    ['with all that they have',     'id: 1\nevent: progress\ndata: {}\n\n',          [{ id: '1', event: 'progress', data: '{}' }]],
    ['without a name',              'data: x\n\n',                                   [{ event: 'message', data: 'x' }]],
    ['on several lines',            'data: a\ndata: b\n\n',                          [{ event: 'message', data: 'a\nb' }]],
    ['with the other line ends',    'event: gap\r\ndata: {}\r\n\r\n',                [{ event: 'gap', data: '{}' }]],
    ['without the space',           'id:7\ndata:x\n\n',                              [{ id: '7', event: 'message', data: 'x' }]],
    ['a beat is none',              ': still there\n\n',                             []],
    ['nor is a name alone',         'event: result\n\n',                             []],
    ['nor what has not ended',      'data: x\n',                                     []],
  ]
  for (const [what, text, heard] of rows) {
    test(what, () => assert.deepEqual(readIn([text]), heard))
  }

  test('are the same however the connection cuts them', () => {
    const text = rows
      .map(([, each]) => each)
      .slice(0, 7)
      .join('')
    const whole = readIn([text])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 })), (cuts) => {
        const bytes = Buffer.from(text)
        const heard: LiveEvent[] = []
        const read = createReading((event) => heard.push(event))
        let at = 0
        for (const cut of cuts) {
          read(bytes.subarray(at, at + cut))
          at += cut
        }
        read(bytes.subarray(at))
        assert.deepEqual(heard, whole)
      }),
    )
  })

  test('one that is too long is passed over, and the next is heard', () => {
    const piece = 'x'.repeat(LIMITS.bodyBytes)
    const heard = readIn(['data: ', piece, piece, piece, '\n', '\nid: 2\ndata: y\n\n'])
    assert.deepEqual(heard, [{ id: '2', event: 'message', data: 'y' }])
  })
})
