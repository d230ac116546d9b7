/** Debits without a database: the rules of the port, and what is there after a restart. */
import assert from 'node:assert/strict'
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import type { DebitEnd, DebitWanted } from '@chimera/domain/wallet/debit'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createMemoryDebits, openFileDebits } from './debit-files.ts'

const account = { chain: 1, address: '0xa' }
const FUNDS = { count: 3, floor: 3, units: 10n ** 60n, coins: 100n }
const CONFIRMED: DebitEnd = {
  state: 'confirmed',
  hash: '0xf',
  block: 9,
  balanceUnits: 10n ** 59n,
  at: 2,
}
const FAILED: DebitEnd = { state: 'failed', why: 'replaced', hash: '0xf', block: 9, at: 2 }

const wanted = (key: string, units = 10n ** 50n): DebitWanted => ({
  key: key as IdempotencyKey,
  content: `${key} ${units}` as Digest,
  account,
  asset: '0xusdc',
  units,
  feeUnits: 1n,
  description: 'line\nbreak \u0000',
  sinceBlock: 1,
  at: 1,
})
const sign = async (nonce: number) => ({ bytes: `0xb${nonce}`, hash: `0xh${nonce}` })

describe('SK-14 debits without a database', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chimera-debits-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('in memory they are gone with the process, and say so', () => {
    assert.equal(createMemoryDebits().durable, false)
  })

  test('many at once: each nonce once, no more than there is, a key once', async () => {
    const keep = createMemoryDebits()
    const funds = { ...FUNDS, units: 5n * 10n ** 50n }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        keep.sign({ wanted: wanted(`k${at % 10}`), funds, sign }),
      ),
    )
    const count = (is: string) => answers.filter((each) => each.is === is).length
    assert.deepEqual([count('signed'), count('known'), count('short')], [5, 5, 10])
    const nonces = (await keep.open(account)).map(({ nonce }) => nonce)
    assert.deepEqual(nonces, [3, 4, 5, 6, 7])
    const other = { ...wanted('k0', 7n) }
    assert.equal((await keep.sign({ wanted: other, funds, sign })).is, 'conflict')
  })

  test('in a file they are as they were after a restart, and nobody else reads them', async () => {
    const path = join(folder, 'kept.jsonl')
    const keep = await openFileDebits({ path })
    await keep.sign({ wanted: wanted('a'), funds: FUNDS, sign })
    const first = await keep.find('a' as IdempotencyKey)
    await keep.sign({ wanted: wanted('b'), funds: FUNDS, sign })
    const second = await keep.find('b' as IdempotencyKey)
    assert.ok(first && second)
    await keep.end(first, CONFIRMED)
    await keep.end(first, FAILED)
    await keep.end(second, FAILED)
    await keep.sign({ wanted: wanted('b'), funds: FUNDS, sign })
    const before = await Promise.all(['a', 'b'].map((key) => keep.history(key as IdempotencyKey)))
    await keep.close()
    for (const round of [1, 2]) {
      const again = await openFileDebits({ path })
      const after = await Promise.all(['a', 'b'].map((key) => again.history(key as IdempotencyKey)))
      assert.deepEqual(after, before, `restart ${round}`)
      assert.deepEqual(after[0]?.[0]?.end, CONFIRMED, 'an end is written once')
      assert.deepEqual(
        (await again.open(account)).map(({ nonce, attempt }) => [nonce, attempt]),
        [[5, 2]],
      )
      await again.close()
    }
    assert.equal((await stat(path)).mode & 0o077, 0)
  })

  test('one process at a time has the file', async () => {
    const path = join(folder, 'alone.jsonl')
    const keep = await openFileDebits({ path })
    await assert.rejects(openFileDebits({ path }), { code: 'answers_locked' })
    await keep.close()
    await (await openFileDebits({ path })).close()
  })

  test('a line that a crash cut off counts for nothing; a damaged one is an error', async () => {
    const path = join(folder, 'torn.jsonl')
    const keep = await openFileDebits({ path })
    await keep.sign({ wanted: wanted('a'), funds: FUNDS, sign })
    await keep.close()
    await appendFile(path, '{"key":"b","att')
    const again = await openFileDebits({ path })
    assert.equal((await again.open(account)).length, 1)
    await again.close()
    const whole = await readFile(path, 'utf8')
    for (const damaged of [
      whole.replace('"nonce":3', '"nonce":"3"'),
      whole.replace('"units":', '"sum":'),
      whole.replace('}\n', ',"end":{"state":"won"}}\n'),
      `nothing\n${whole}`,
    ]) {
      await writeFile(path, damaged)
      await assert.rejects(openFileDebits({ path }), { name: 'DebitsUnusable', code: 'damaged' })
    }
  })
})
