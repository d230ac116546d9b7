/** Server-sent events, however their bytes are cut. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { readEvents } from './event-lines.ts'

const TEXT = [
  ': hello\nid: 1.1.0\n\n',
  'id: 2.3.0\nevent: work\ndata: {"kind":"ü"}\n\n',
  'event: cut\r\ndata: a\r\ndata: b\n\ndata',
].join('')

async function* cutUp(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0
  for (const to of [...cuts].sort((a, b) => a - b)) {
    yield bytes.slice(from, to)
    from = Math.max(from, to)
  }
  yield bytes.slice(from)
}

test('P-7 V1 the same events and ids come from any pieces', async () => {
  const bytes = new TextEncoder().encode(TEXT)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: bytes.length })), async (cuts) => {
      const ids: string[] = []
      const events = []
      for await (const each of readEvents(cutUp(bytes, cuts), (id) => ids.push(id))) {
        events.push(each)
      }
      assert.deepEqual(events, [
        { event: 'work', data: '{"kind":"ü"}', id: '2.3.0' },
        { event: 'cut', data: 'a\nb', id: '' },
      ])
      assert.deepEqual(ids, ['1.1.0', '2.3.0'])
    }),
  )
})
