/** Addresses by EIP-55, against its own examples and against a library that is widely used. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { getAddress, keccak256 as reference } from 'viem'
import { describe, test } from 'vitest'
import { readAddress, writeAddress } from './address.ts'
import { keccak256 } from './keccak.ts'

/** From the text of EIP-55. */
const EXAMPLES = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

describe('SK-13 an address', () => {
  for (const address of EXAMPLES) {
    test(`${address} is one, in its own case and in a single one`, () => {
      const lower = address.toLowerCase()
      assert.equal(readAddress(address), lower)
      assert.equal(readAddress(lower), lower)
      assert.equal(readAddress(`0x${address.slice(2).toUpperCase()}`), lower)
      assert.equal(writeAddress(lower), address)
    })
  }

  // biome-ignore format: a table is read by its columns
  const wrong: [why: string, text: string][] = [
    ['one letter in the wrong case', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'],
    ['two digits swapped',           '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BaeEd'],
    ['too short',                    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe'],
    ['too long',                     '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd'],
    ['without its beginning',        '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['a beginning in capitals',      '0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['a line after it',              '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n'],
    ['a name',                       'vitalik.eth'],
    ['nothing',                      ''],
  ]
  for (const [why, text] of wrong) {
    test(`${why} is none`, () => assert.equal(readAddress(text), undefined))
  }

  test('the checksum is everybody’s', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const lower = `0x${Buffer.from(bytes).toString('hex')}`
        assert.equal(writeAddress(lower), getAddress(lower))
      }),
      { seed: 4, numRuns: 30 },
    )
  })

  test('the hash is everybody’s, for every length of one block', () => {
    for (const length of [0, 1, 31, 40, 134, 135]) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 7) % 256)
      assert.equal(`0x${Buffer.from(keccak256(bytes)).toString('hex')}`, reference(bytes))
    }
    assert.throws(() => keccak256(new Uint8Array(136)), RangeError)
  })
})
