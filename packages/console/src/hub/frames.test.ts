/** Frames out of pieces: S1 wherever they are cut, S2 ids without data. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createFrameReader, type Frame } from './frames.ts'

const STREAM =
  'id: 1.1.0\nevent: ledger\ndata: {"kind":"credits_held"}\n\n' +
  ': alive\nid: 1.5.0\n\n' +
  'id: 2.9.0\r\nevent: work\r\ndata: a\r\ndata: b\r\n\r\n'

const readAll = (pieces: readonly string[]): readonly Frame[] => {
  const reader = createFrameReader()
  return pieces.flatMap((piece) => reader.push(piece))
}

const WHOLE: readonly Frame[] = [
  { event: 'ledger', data: '{"kind":"credits_held"}', id: '1.1.0' },
  { event: 'work', data: 'a\nb', id: '2.9.0' },
]

describe('frames', () => {
  test('are read whole', () => assert.deepEqual(readAll([STREAM]), WHOLE))

  test('S1 are the same wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: STREAM.length })), (cuts) => {
        const places = [...new Set([0, ...cuts, STREAM.length])].sort((a, b) => a - b)
        const pieces = places.map((at, index) => STREAM.slice(at, places[index + 1] ?? at))
        assert.deepEqual(readAll(pieces), WHOLE)
      }),
    )
  })

  test('S2 an id without data moves the place and is no event', () => {
    const reader = createFrameReader('0.1.0')
    assert.deepEqual(reader.push(': alive\nid: 7.7.0\n\n'), [])
    assert.equal(reader.lastId(), '7.7.0')
  })

  test('S3 the id of a frame that is not whole yet is not the last one', () => {
    const reader = createFrameReader('0.1.0')
    assert.deepEqual(reader.push('id: 7.7.0\nevent: work\n'), [])
    assert.equal(reader.lastId(), '0.1.0')
    reader.push('data: {}\n\n')
    assert.equal(reader.lastId(), '7.7.0')
  })

  test('what never ends is no hub', () => {
    const reader = createFrameReader()
    assert.throws(() => reader.push('x'.repeat(4_000_001)))
  })
})
