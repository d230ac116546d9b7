/**
 * Where a wallet keeps its debits, in a database: embedded, for one process, or PostgreSQL, for as
 * many as there are. What this gives is what `openWallet` of the skills takes:
 *
 *   openWallet({ …, ...(await openWalletStore({ database: 'postgres://…' })) })
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createDebits } from './debits.ts'
import { openDatabase } from './engine/open.ts'
import { inspectSchema, migrate, requireSchema } from './migrate.ts'
import { createPurses } from './wallet-purses.ts'

export type WalletStoreOptions = {
  /**
   * `postgres://…`; or a directory for the embedded database, which one process at a time has; or
   * `:memory:`, gone with the process, which no debit on a chain is kept in.
   */
  readonly database: string
}

export type WalletStore = Awaited<ReturnType<typeof openWalletStore>>

const SERVER = /^postgres(ql)?:\/\//
const MEMORY = ':memory:'

export async function openWalletStore({ database: address }: WalletStoreOptions) {
  const embedded = `pglite:${address === MEMORY ? 'memory' : address}`
  const database = await openDatabase(SERVER.test(address) ? address : embedded)
  try {
    const { pending } = await inspectSchema(database)
    if (pending.length > 0) await migrate(database, { now: Date.now() })
    await requireSchema(database)
  } catch (error) {
    await database.close()
    throw error
  }
  const hands = { sleep: (ms: number) => sleep(ms), fraction: () => Math.random() }
  const options = { database, durable: address !== MEMORY, hands }
  return {
    /** For the option of the same name: debits on a chain. */
    keep: createDebits(options),
    /** For the option of the same name: the embedded wallet's money. */
    purses: createPurses(options),
    close: () => database.close(),
  }
}
