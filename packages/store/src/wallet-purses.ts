/**
 * The embedded wallet's pretended money: what each wallet has spent of what it began with, and
 * every debit under its key, for ever.
 */
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import type { Database, Queries } from './engine/database.ts'
import { type RetryHands, retrying } from './engine/retry.ts'
import type { Failure } from './failure.ts'

export type PursesOptions = {
  readonly database: Database
  /** Whether the database outlives a crash of the process: `pglite:memory` does not. */
  readonly durable: boolean
  readonly hands: RetryHands
}

export type PurseAsk = {
  readonly key: IdempotencyKey
  readonly content: Digest
  readonly wallet: string
  readonly currency: string
  readonly units: bigint
  readonly startUnits: bigint
  readonly description: string
  readonly at: number
}

export type PurseDebit = Omit<PurseAsk, 'startUnits'> & { readonly balanceUnits: bigint }

export type PurseAnswer =
  | { readonly is: 'debited' | 'known'; readonly debit: PurseDebit }
  | { readonly is: 'conflict' }
  | { readonly is: 'short' }

export type Purses = {
  readonly durable: boolean
  readonly balance: (wallet: string, currency: string, startUnits: bigint) => Promise<bigint>
  readonly debit: (ask: PurseAsk) => Promise<PurseAnswer>
  readonly find: (key: IdempotencyKey) => Promise<PurseDebit | undefined>
}

const HOLD = `
  INSERT INTO wallet_purses (wallet, currency, spent) VALUES ($1, $2, '0')
  ON CONFLICT (wallet, currency) DO UPDATE SET spent = wallet_purses.spent RETURNING spent`
const FIND = 'SELECT * FROM wallet_purse_debits WHERE key = $1'
const PUT = `
  INSERT INTO wallet_purse_debits
    (key, content, wallet, currency, units, description, at, balance_units)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

/** Two asked under one key for different wallets: the second finds the first at its next look. */
const isTaken = ({ sqlState }: Failure): boolean => sqlState === '23505'

export function createPurses({ database, durable, hands }: PursesOptions): Purses {
  async function found(queries: Queries, key: IdempotencyKey): Promise<PurseDebit | undefined> {
    const [row] = await queries.query<Row>(FIND, [key])
    return row && debitOf(row)
  }

  async function debitIn(tx: Queries, { startUnits, ...ask }: PurseAsk): Promise<PurseAnswer> {
    const { key, content, wallet, currency, units, description, at } = ask
    const [purse] = await tx.query<{ spent: string }>(HOLD, [wallet, currency])
    const known = await found(tx, key)
    if (known !== undefined) {
      return known.content === content ? { is: 'known', debit: known } : { is: 'conflict' }
    }
    const spent = BigInt(purse?.spent ?? 0) + units
    const balanceUnits = startUnits - spent
    if (balanceUnits < 0n) return { is: 'short' }
    await tx.query('UPDATE wallet_purses SET spent = $3 WHERE wallet = $1 AND currency = $2', [
      wallet,
      currency,
      spent.toString(),
    ])
    const words = JSON.stringify(description)
    const sums = [units.toString(), words, at, balanceUnits.toString()]
    await tx.query(PUT, [key, content, wallet, currency, ...sums])
    return { is: 'debited', debit: { ...ask, balanceUnits } }
  }

  return {
    durable,
    async balance(wallet, currency, startUnits) {
      const [purse] = await database.query<{ spent: string }>(
        'SELECT spent FROM wallet_purses WHERE wallet = $1 AND currency = $2',
        [wallet, currency],
      )
      const left = startUnits - BigInt(purse?.spent ?? 0)
      // Somebody may have started it with less since.
      return left < 0n ? 0n : left
    },
    debit: (ask) =>
      retrying(() => database.transaction((tx) => debitIn(tx, ask)), hands, { also: isTaken }),
    find: (key) => found(database, key),
  }
}

type Row = {
  readonly key: string
  readonly content: string
  readonly wallet: string
  readonly currency: string
  readonly units: string
  readonly description: string
  readonly at: number
  readonly balance_units: string
}

const debitOf = (row: Row): PurseDebit => ({
  key: row.key as IdempotencyKey,
  content: row.content as Digest,
  wallet: row.wallet,
  currency: row.currency,
  units: BigInt(row.units),
  description: String(JSON.parse(row.description)),
  at: row.at,
  balanceUnits: BigInt(row.balance_units),
})
