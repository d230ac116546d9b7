/**
 * Debits without a database: in memory, or in a file whose lines are on the disk before they count
 * (the journal of `@chimera/skill`). One process at a time has the file.
 */
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import {
  type Debit,
  type DebitEnd,
  decideKey,
  decideSigning,
  type WalletAccount,
} from '@chimera/domain/wallet/debit'
import { lock } from '@chimera/skill/file-answers'
import { openJournal } from '@chimera/skill/journal'
import type { DebitKeep } from './debit-keep.ts'

export type FileDebits = DebitKeep & { readonly close: () => Promise<void> }

/** Gone with its process: good for tests, and refused by a wallet on a real chain. */
export function createMemoryDebits(): DebitKeep {
  return keepOn({ entries: new Map(), write: async () => undefined, durable: false })
}

export async function openFileDebits({ path }: { readonly path: string }): Promise<FileDebits> {
  const unlock = await lock(`${path}.lock`)
  try {
    const journal = await openJournal<Written>({
      path,
      read: (line) => (readDebit(line) === undefined ? undefined : Object(line)),
      nameOf: (line) => nameOf({ key: String(line.key), attempt: Number(line.attempt) }),
      isOver: () => false,
      unusable: (why, message) => new DebitsUnusable(why, message),
    })
    const entries = new Map<string, Debit>()
    for (const [name, line] of journal.first) {
      const debit = readDebit(line)
      if (debit !== undefined) entries.set(name, debit)
    }
    journal.holds(() => Array.from(entries.values(), writable))
    const write = (debit: Debit) => journal.write(writable(debit))
    return {
      ...keepOn({ entries, write, durable: true }),
      async close() {
        await journal.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

/** The file cannot be used; `code` says why. */
export class DebitsUnusable extends Error {
  override readonly name = 'DebitsUnusable'
  readonly code: 'damaged' | 'closed'

  constructor(code: DebitsUnusable['code'], message: string) {
    super(message)
    this.code = code
  }
}

type Shelf = {
  readonly entries: Map<string, Debit>
  /** Called before an entry counts; rejects when it cannot be kept. */
  readonly write: (debit: Debit) => Promise<void>
  readonly durable: boolean
}

const nameOf = ({ key, attempt }: { readonly key: string; readonly attempt: number }): string =>
  `${key} ${attempt}`

function keepOn({ entries, write, durable }: Shelf): DebitKeep {
  let turn: Promise<unknown> = Promise.resolve()
  /** K2: one after another. */
  function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const mine = turn.then(run, run)
    turn = mine.catch(() => undefined)
    return mine
  }

  function history(key: IdempotencyKey): readonly Debit[] {
    const own: Debit[] = []
    for (let attempt = 1; ; attempt += 1) {
      const debit = entries.get(nameOf({ key, attempt }))
      if (debit === undefined) return own
      own.push(debit)
    }
  }

  async function put(debit: Debit): Promise<Debit> {
    await write(debit)
    entries.set(nameOf(debit), debit)
    return debit
  }

  const of = ({ chain, address }: WalletAccount): readonly Debit[] =>
    [...entries.values()].filter(
      ({ account }) => account.chain === chain && account.address === address,
    )

  return {
    durable,
    find: async (key) => history(key).at(-1),
    history: async (key) => history(key),
    open: async (account) =>
      of(account)
        .filter(({ end }) => end === undefined)
        .sort((one, other) => one.nonce - other.nonce),
    sign: ({ wanted, funds, sign }) =>
      inTurn(async () => {
        const key = decideKey(history(wanted.key).at(-1), wanted.content)
        if (key.is !== 'new') return key
        const lines = of(wanted.account)
        const next = lines.reduce((most, { nonce }) => Math.max(most, nonce + 1), 0)
        const decided = decideSigning(wanted, { next, lines }, funds)
        if (decided.is === 'short') return decided
        const { nonce } = decided
        const signed = await sign(nonce)
        const debit = await put({ ...wanted, ...signed, nonce, attempt: key.attempt })
        return { is: 'signed', debit }
      }),
    end: ({ key, attempt }, end) =>
      inTurn(async () => {
        const known = entries.get(nameOf({ key, attempt }))
        if (known === undefined) throw new Error('a debit that was never kept cannot end')
        return known.end === undefined ? put({ ...known, end }) : known
      }),
  }
}

/** As JSON holds it. */
type Written = Readonly<Partial<Record<keyof Debit, unknown>>>

/** JSON has no numbers of this size, so units are written as texts. */
function writable({ units, feeUnits, end, ...rest }: Debit): Written {
  const written = { ...rest, units: units.toString(), feeUnits: feeUnits.toString() }
  if (end === undefined) return written
  if (end.state === 'failed') return { ...written, end }
  return { ...written, end: { ...end, balanceUnits: end.balanceUnits.toString() } }
}

function readDebit(line: unknown): Debit | undefined {
  const { key, content, account, asset, units, feeUnits, end, ...rest }: Written = Object(line)
  const { description, sinceBlock, at, attempt, nonce, bytes, hash } = rest
  const { chain, address }: Partial<Record<keyof WalletAccount, unknown>> = Object(account)
  const texts = [key, content, address, asset, units, feeUnits, description, bytes, hash]
  const numbers = [chain, sinceBlock, at, attempt, nonce]
  if (!texts.every((each) => typeof each === 'string')) return undefined
  if (!numbers.every((each) => Number.isSafeInteger(each))) return undefined
  const ended = end === undefined ? undefined : readEnd(end)
  if (end !== undefined && ended === undefined) return undefined
  return {
    key: String(key) as IdempotencyKey,
    content: String(content) as Digest,
    account: { chain: Number(chain), address: String(address) },
    asset: String(asset),
    units: BigInt(String(units)),
    feeUnits: BigInt(String(feeUnits)),
    description: String(description),
    sinceBlock: Number(sinceBlock),
    at: Number(at),
    attempt: Number(attempt),
    nonce: Number(nonce),
    bytes: String(bytes),
    hash: String(hash),
    ...(ended && { end: ended }),
  }
}

function readEnd(line: unknown): DebitEnd | undefined {
  const { state, why, hash, block, balanceUnits, at } = Object(line)
  if (typeof hash !== 'string' || !Number.isSafeInteger(block) || !Number.isSafeInteger(at)) {
    return undefined
  }
  const ended = { hash, block: Number(block), at: Number(at) }
  if (state === 'confirmed' && typeof balanceUnits === 'string') {
    return { state, ...ended, balanceUnits: BigInt(balanceUnits) }
  }
  const known = why === 'reverted' || why === 'replaced'
  return state === 'failed' && known ? { state, why, ...ended } : undefined
}
