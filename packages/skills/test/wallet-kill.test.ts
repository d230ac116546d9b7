/**
 * A process that is killed between signing, keeping, sending and recording: after a restart there
 * is exactly one transfer on the chain, and it is the one that is answered.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDirectories } from '@chimera/store/testing/embedded'
import { readyBundle, testProgram } from '@chimera/tools/bundle'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Anvil, NO_CHAIN, PAYEE, startAnvil, WALLET } from './anvil.ts'
import { debitOf } from './paying.ts'
import { type Cut, type Paying, pay } from './paying-child.ts'

const SUM = 1_500_000n

async function killed(paying: Paying): Promise<void> {
  const script = await readyBundle(testProgram(new URL('./paying-child.ts', import.meta.url)))
  const child = spawn(process.execPath, [script, 'pay', JSON.stringify(paying)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  child.stdout.on('data', (text) => said.push(String(text)))
  child.stderr.on('data', (text) => said.push(String(text)))
  const signal = await new Promise((resolve) => child.on('close', (_, how) => resolve(how)))
  assert.equal(signal, 'SIGKILL', said.join(''))
}

// There is no anvil for every platform; in CI that is a failure.
describe.skipIf(NO_CHAIN)(`killed while it pays ${NO_CHAIN ?? ''}`, { timeout: 180_000 }, () => {
  const directories = createDirectories()
  let anvil: Anvil
  let folder: string

  beforeAll(async () => {
    anvil = await startAnvil({ chain: 8_453 })
    folder = await mkdtemp(join(tmpdir(), 'chimera-wallet-'))
    await anvil.mint(WALLET, 1_000_000_000n)
  })
  afterAll(async () => {
    await anvil.stop()
    await rm(folder, { recursive: true, force: true })
    await directories.removeAll()
  })

  // biome-ignore format: a table is read by its columns
  const rows: [cut: Cut, keep: 'file' | 'database', onChain: bigint][] = [
    ['signed', 'file',     0n],
    ['kept',   'file',     0n],
    ['sent',   'file',     SUM],
    ['ending', 'file',     SUM],
    ['ended',  'file',     SUM],
    ['sent',   'database', SUM],
  ]
  for (const [cut, keep, onChain] of rows) {
    test(`SK-14 once it is ${cut}, with a ${keep}: one transfer after a restart`, async () => {
      const before = { sum: await anvil.balance(PAYEE), count: await anvil.count(WALLET) }
      const paying = {
        url: anvil.url,
        coin: anvil.coin,
        input: debitOf(),
        ...(keep === 'file'
          ? { file: join(folder, `${randomUUID()}.jsonl`) }
          : { database: await directories.newMigrated() }),
      }
      await killed({ ...paying, cut })
      assert.equal((await anvil.balance(PAYEE)) - before.sum, onChain, 'where it was cut off')
      const first = await pay({ ...paying, cut: 'none' })
      const again = await pay({ ...paying, cut: 'none' })
      assert.ok(first.ok && again.ok, JSON.stringify(first))
      assert.deepEqual(again.output, first.output)
      assert.equal((await anvil.balance(PAYEE)) - before.sum, SUM)
      assert.equal((await anvil.count(WALLET)) - before.count, 1)
    })
  }
})
