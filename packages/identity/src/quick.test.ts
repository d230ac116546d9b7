/** Which library signs changes the speed and nothing else. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { test } from 'vitest'
import { signBytes } from './ed25519.ts'
import { keyPairFromSeed } from './keys.ts'
import { createQuicken } from './quick.ts'

const bytesOf = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })

test('Q1 both libraries make the same signature', () => {
  const quicken = createQuicken()
  fc.assert(
    fc.property(bytesOf(32), fc.uint8Array({ maxLength: 2_000 }), (seed, bytes) => {
      const pair = keyPairFromSeed(seed)
      const quick = quicken(pair)
      assert.notEqual(quick.sign, undefined, 'the library is not installed')
      assert.deepEqual([...signBytes(bytes, quick)], [...signBytes(bytes, pair)])
    }),
    { numRuns: 50 },
  )
})

test('a key is made quick once, and shows no more of itself than before', () => {
  const quicken = createQuicken()
  const pair = keyPairFromSeed(Buffer.alloc(32, 7))
  assert.equal(quicken(pair), quicken(pair))
  assert.equal(JSON.stringify(quicken(pair)), JSON.stringify(pair))
  assert.ok(!inspect(quicken(pair), { depth: 5 }).includes('BwcHBwcH'))
})

test('Q2 without the library a key signs as it did', () => {
  const pair = keyPairFromSeed(Buffer.alloc(32, 7))
  const quicken = createQuicken(() => {
    throw new Error('not there')
  })
  assert.equal(quicken(pair), pair)
})
