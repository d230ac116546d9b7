/**
 * The embedded wallet's money in a file: pretended as ever, and there after a restart. Every debit
 * is a line on the disk before it counts; one process at a time has the file.
 */
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import { lock } from '@chimera/skill/file-answers'
import { openJournal } from '@chimera/skill/journal'
import type { PurseDebit, Purses } from '../wallet/debit-keep.ts'

export type FilePurses = Purses & { readonly close: () => Promise<void> }

type Line = Omit<PurseDebit, 'units' | 'balanceUnits'> & {
  readonly units: string
  readonly balanceUnits: string
}

export async function openFilePurses({ path }: { readonly path: string }): Promise<FilePurses> {
  const unlock = await lock(`${path}.lock`)
  try {
    const journal = await openJournal<Line>({
      path,
      read: readLine,
      nameOf: ({ key }) => key,
      isOver: () => false,
      unusable: (_, message) => new Error(message),
    })
    const lines = new Map(journal.first)
    journal.holds(() => lines.values())
    const spent = new Map<string, bigint>()
    const nameOf = ({ wallet, currency }: Pick<PurseDebit, 'wallet' | 'currency'>): string =>
      `${currency} ${wallet}`
    const spend = (debit: Line): void => {
      const name = nameOf(debit)
      spent.set(name, (spent.get(name) ?? 0n) + BigInt(debit.units))
    }
    for (const line of lines.values()) spend(line)
    // One after another: of two debits that would both fit, the second sees the first.
    let turn: Promise<unknown> = Promise.resolve()
    const inTurn = <Value>(run: () => Promise<Value>): Promise<Value> => {
      const next = turn.then(run)
      turn = next.catch(() => undefined)
      return next
    }
    return {
      durable: true,
      balance: async (wallet, currency, startUnits) => {
        const left = startUnits - (spent.get(nameOf({ wallet, currency })) ?? 0n)
        return left < 0n ? 0n : left
      },
      debit: ({ startUnits, ...ask }) =>
        inTurn(async () => {
          const known = lines.get(ask.key)
          if (known !== undefined) {
            if (known.content !== ask.content) return { is: 'conflict' }
            return { is: 'known', debit: debitOf(known) }
          }
          const balanceUnits = startUnits - (spent.get(nameOf(ask)) ?? 0n) - ask.units
          if (balanceUnits < 0n) return { is: 'short' }
          const line = { ...ask, units: String(ask.units), balanceUnits: String(balanceUnits) }
          await journal.write(line)
          lines.set(ask.key, line)
          spend(line)
          return { is: 'debited', debit: debitOf(line) }
        }),
      find: async (key) => {
        const line = lines.get(key)
        return line && debitOf(line)
      },
      async close() {
        await turn
        await journal.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

const debitOf = ({ units, balanceUnits, ...rest }: Line): PurseDebit => ({
  ...rest,
  units: BigInt(units),
  balanceUnits: BigInt(balanceUnits),
})

const DIGITS = /^\d{1,40}$/

function readLine(line: unknown): Line | undefined {
  const {
    key,
    content,
    wallet,
    currency,
    units,
    balanceUnits,
    description,
    at,
  }: Partial<Record<keyof Line, unknown>> = Object(line)
  const texts = [key, content, wallet, currency, description]
  const isWhole = texts.every((text) => typeof text === 'string') && typeof at === 'number'
  if (!isWhole || !DIGITS.test(String(units)) || !DIGITS.test(String(balanceUnits)))
    return undefined
  return {
    key: String(key) as IdempotencyKey,
    content: String(content) as Digest,
    wallet: String(wallet),
    currency: String(currency),
    description: String(description),
    at,
    units: String(units),
    balanceUnits: String(balanceUnits),
  }
}
