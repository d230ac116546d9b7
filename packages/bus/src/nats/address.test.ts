/** Addresses of brokers, as operators write them. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { hasCode } from '../failure.ts'
import { readNatsAddress } from './address.ts'

// biome-ignore format: a table is read by its columns
const rows: [text: string, addresses: readonly string[], credentials?: object][] = [
  ['nats://broker',                  ['nats://broker:4222']],
  ['tls://broker:4443/',             ['tls://broker:4443']],
  ['nats://a:1, nats://b:2',         ['nats://a:1', 'nats://b:2']],
  ['nats://[::1]:4222',              ['nats://[::1]:4222']],
  ['nats://me:p%40ss@broker:1',      ['nats://broker:1'], { kind: 'password', user: 'me', password: 'p@ss' }],
  ['nats://t0ken@broker:1',          ['nats://broker:1'], { kind: 'token', token: 't0ken' }],
]
for (const [text, addresses, credentials] of rows) {
  test(`reads ${text}`, () => {
    assert.deepEqual(readNatsAddress(text), { addresses, ...(credentials && { credentials }) })
  })
}

for (const text of ['', 'broker:4222', 'http://a', 'nats://', 'nats://a/b', 'nats://me:pw@a?x=1']) {
  test(`refuses ${JSON.stringify(text)}, and repeats nothing of it`, () => {
    assert.throws(
      () => readNatsAddress(text),
      (error) => hasCode(error, 'address_malformed') && !error.detail.includes('pw'),
    )
  })
}
