/**
 * Debits on a chain as the wallet's port asks for them: kept before they are sent, one nonce after
 * another for each account, whichever process asks (W1 … W4 of the domain's `wallet/debit.ts`).
 *
 *   D1  Looking at the key, giving the nonce, signing and keeping are one transaction, which holds
 *       the row of the account. Signing is quick and local, so nobody waits long.
 *   D2  How it ended is written once; whoever comes later reads what is written.
 */
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import {
  type Debit,
  type DebitEnd,
  type DebitWanted,
  decideKey,
  decideSigning,
  type Funds,
  type SignedBytes,
  type WalletAccount,
} from '@chimera/domain/wallet/debit'
import type { Database, Param, Queries } from './engine/database.ts'
import { type RetryHands, retrying } from './engine/retry.ts'
import type { Failure } from './failure.ts'

export type DebitsOptions = {
  readonly database: Database
  /** Whether the database outlives a crash of the process: `pglite:memory` does not. */
  readonly durable: boolean
  readonly hands: RetryHands
}

export type SignAsk = {
  readonly wanted: DebitWanted
  readonly funds: Funds
  readonly sign: (nonce: number) => Promise<SignedBytes>
}

export type SignAnswer =
  | { readonly is: 'signed' | 'known'; readonly debit: Debit }
  | { readonly is: 'conflict' }
  | { readonly is: 'short'; readonly of: 'sum' | 'fee' }

export type Debits = {
  readonly durable: boolean
  readonly find: (key: IdempotencyKey) => Promise<Debit | undefined>
  readonly sign: (ask: SignAsk) => Promise<SignAnswer>
  readonly open: (account: WalletAccount) => Promise<readonly Debit[]>
  readonly end: (debit: Pick<Debit, 'key' | 'attempt'>, end: DebitEnd) => Promise<Debit>
  readonly history: (key: IdempotencyKey) => Promise<readonly Debit[]>
}

const COLUMNS = `key, attempt, content, chain, address, asset, units, fee_units, description,
  since_block, at, nonce, bytes, hash, state, end_hash, end_why, end_block, end_units, end_at`

const LATEST = `SELECT ${COLUMNS} FROM wallet_debits WHERE key = $1 ORDER BY attempt DESC LIMIT 1`
const HISTORY = `SELECT ${COLUMNS} FROM wallet_debits WHERE key = $1 ORDER BY attempt`
const OPEN = `
  SELECT ${COLUMNS} FROM wallet_debits
  WHERE chain = $1 AND address = $2 AND state = 'open' ORDER BY nonce`
const SINCE = `
  SELECT ${COLUMNS} FROM wallet_debits
  WHERE chain = $1 AND address = $2 AND nonce >= $3 ORDER BY nonce`
const NEXT = `
  SELECT coalesce(max(nonce) + 1, 0) AS next FROM wallet_debits WHERE chain = $1 AND address = $2`
const HOLD = `
  INSERT INTO wallet_accounts (chain, address) VALUES ($1, $2)
  ON CONFLICT (chain, address) DO UPDATE SET chain = excluded.chain`
const PUT = `
  INSERT INTO wallet_debits (key, attempt, content, chain, address, asset, units, fee_units,
    description, since_block, at, nonce, bytes, hash)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`
const END = `
  UPDATE wallet_debits
  SET state = $3, end_hash = $4, end_why = $5, end_block = $6, end_units = $7, end_at = $8
  WHERE key = $1 AND attempt = $2 AND state = 'open'`
const ONE = `SELECT ${COLUMNS} FROM wallet_debits WHERE key = $1 AND attempt = $2`

/** Two asked under one key for different accounts: the second finds the first at its next look. */
const isTaken = ({ sqlState }: Failure): boolean => sqlState === '23505'

export function createDebits({ database, durable, hands }: DebitsOptions): Debits {
  async function latest(queries: Queries, key: IdempotencyKey): Promise<Debit | undefined> {
    const [row] = await queries.query<Row>(LATEST, [key])
    return row && debitOf(row)
  }

  async function signIn(tx: Queries, { wanted, funds, sign }: SignAsk): Promise<SignAnswer> {
    const { chain, address } = wanted.account
    await tx.query(HOLD, [chain, address])
    const key = decideKey(await latest(tx, wanted.key), wanted.content)
    if (key.is !== 'new') return key
    const [first] = await tx.query<{ next: number }>(NEXT, [chain, address])
    const since = await tx.query<Row>(SINCE, [chain, address, funds.count])
    const books = { next: first?.next ?? 0, lines: since.map(debitOf) }
    const decided = decideSigning(wanted, books, funds)
    if (decided.is === 'short') return decided
    const { nonce } = decided
    const debit = { ...wanted, ...(await sign(nonce)), nonce, attempt: key.attempt }
    await tx.query(PUT, paramsOf(debit))
    return { is: 'signed', debit }
  }

  return {
    durable,
    find: (key) => latest(database, key),
    sign: (ask) =>
      retrying(() => database.transaction((tx) => signIn(tx, ask)), hands, { also: isTaken }),
    async open({ chain, address }) {
      return (await database.query<Row>(OPEN, [chain, address])).map(debitOf)
    },
    async end({ key, attempt }, end) {
      const { state, hash, block, at } = end
      const why = end.state === 'failed' ? end.why : null
      const left = end.state === 'confirmed' ? end.balanceUnits.toString() : null
      await database.query(END, [key, attempt, state, hash, why, block, left, at])
      const [row] = await database.query<Row>(ONE, [key, attempt])
      if (row === undefined) throw new Error('a debit that was never kept cannot end')
      return debitOf(row)
    },
    async history(key) {
      return (await database.query<Row>(HISTORY, [key])).map(debitOf)
    },
  }
}

function paramsOf(debit: Debit): readonly Param[] {
  const { key, attempt, content, account, asset, units, feeUnits, description } = debit
  const { sinceBlock, at, nonce, bytes, hash } = debit
  const what = [key, attempt, content, account.chain, account.address, asset]
  const words = [units.toString(), feeUnits.toString(), JSON.stringify(description)]
  return [...what, ...words, sinceBlock, at, nonce, bytes, hash]
}

type Row = {
  readonly key: string
  readonly attempt: number
  readonly content: string
  readonly chain: number
  readonly address: string
  readonly asset: string
  readonly units: string
  readonly fee_units: string
  readonly description: string
  readonly since_block: number
  readonly at: number
  readonly nonce: number
  readonly bytes: string
  readonly hash: string
  readonly state: 'open' | 'confirmed' | 'failed'
  readonly end_hash: string | null
  readonly end_why: string | null
  readonly end_block: number | null
  readonly end_units: string | null
  readonly end_at: number | null
}

function debitOf(row: Row): Debit {
  const end = endOf(row)
  return {
    key: row.key as IdempotencyKey,
    attempt: row.attempt,
    content: row.content as Digest,
    account: { chain: row.chain, address: row.address },
    asset: row.asset,
    units: BigInt(row.units),
    feeUnits: BigInt(row.fee_units),
    description: String(JSON.parse(row.description)),
    sinceBlock: row.since_block,
    at: row.at,
    nonce: row.nonce,
    bytes: row.bytes,
    hash: row.hash,
    ...(end && { end }),
  }
}

function endOf(row: Row): DebitEnd | undefined {
  const { state, end_why: why } = row
  if (state === 'open') return undefined
  const ended = { hash: row.end_hash ?? '', block: row.end_block ?? 0, at: row.end_at ?? 0 }
  if (state === 'confirmed') return { state, ...ended, balanceUnits: BigInt(row.end_units ?? 0) }
  return { state, ...ended, why: why === 'replaced' ? why : 'reverted' }
}
