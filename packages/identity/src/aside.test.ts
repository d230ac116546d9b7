/** The thread beside: the same verdicts in the same order, with it and without it. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
// @ts-expect-error: the package ships no types.
import sodium from 'sodium-native'
import { describe, test } from 'vitest'
import { type Checked, createAside } from './aside.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')

/** Every third has the signature of another. */
const isGood = (number: number) => number % 3 !== 0
function asked(number: number): Checked {
  const bytes = Buffer.from(`message ${number}`.repeat(1 + (number % 4)))
  const signed = isGood(number) ? bytes : Buffer.from('another')
  return { bytes, key, signature: sign(null, signed, privateKey) }
}

describe('T1 T2 verdicts beside', () => {
  for (const count of [1, 7, 8, 500]) {
    test(`${count} together`, async () => {
      const check = createAside(sodium.crypto_sign_verify_detached)
      const numbers = Array.from({ length: count }, (_, at) => at)
      const verdicts = await Promise.all(numbers.map((number) => check(asked(number))))
      assert.deepEqual(verdicts, numbers.map(isGood))
    })
  }

  test('few behind many are answered after them', async () => {
    const check = createAside(sodium.crypto_sign_verify_detached)
    const answered: number[] = []
    const ask = (number: number) => check(asked(number)).then(() => answered.push(number))
    const many = Array.from({ length: 50 }, (_, at) => ask(at))
    // In a turn of its own, while the many are under way.
    await Promise.resolve()
    await Promise.resolve()
    await Promise.all([...many, ask(50)])
    assert.deepEqual(
      answered,
      Array.from({ length: 51 }, (_, at) => at),
    )
  })
})

test('T3 what a thread owes that cannot start is checked here', async () => {
  let here = 0
  const check = createAside(
    (...args) => {
      here += 1
      return sodium.crypto_sign_verify_detached(...args)
    },
    () => '/nowhere/sodium-native',
  )
  const numbers = Array.from({ length: 20 }, (_, at) => at)
  const ask = () => Promise.all(numbers.map((number) => check(asked(number))))
  assert.deepEqual(await ask(), numbers.map(isGood))
  assert.deepEqual(await ask(), numbers.map(isGood))
  assert.equal(here, 40)
})
