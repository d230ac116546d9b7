/** The token that an address may carry. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { takeToken } from './address.ts'

describe('a token in the address', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['#token=chm_owner_Df-YOLBM97hxB', 'chm_owner_Df-YOLBM97hxB'],
    ['', undefined],
    ['#/network', undefined],
    ['#token=', undefined],
    ['#token=<script>', undefined],
    ['#other=1&token=abc', undefined],
  ]
  for (const [hash, expected] of rows) {
    test(`${hash || 'nothing'} is ${expected ?? 'none'}`, () => {
      const replaced: string[] = []
      const token = takeToken({ hash, pathname: '/console/' }, (address) => replaced.push(address))
      assert.equal(token, expected)
      assert.deepEqual(replaced, expected === undefined ? [] : ['/console/'])
    })
  }
})
