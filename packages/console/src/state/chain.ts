/**
 * The chain of facts, checked where the hub has no hand in it: in the browser, from the bytes that
 * came (P-10). The rule is the domain's; only the hashing is the browser's.
 */
import {
  GENESIS,
  type Head,
  reconcile,
  type Sealed,
  type Verified,
  verifyChain,
} from '@chimera/domain/audit'
import type { CorrelationId, Digest } from '@chimera/domain/ids'
import type { WholeFact } from './events.ts'

export type Row = Sealed<unknown>
/** SHA-256 of a text's UTF-8 bytes, as hexadecimal digits. */
export type Hash = (text: string) => Promise<string>

/** RFC 8785. Numbers and strings are written as the language itself writes them. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  // By UTF-16 code units, as the document asks: the language's own order.
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`)
  return `{${texts.join(',')}}`
}

export const rowOf = (fact: WholeFact): Row => ({
  seq: fact.seq,
  prev: fact.prev as Digest,
  hash: fact.hash as Digest,
  fact: fact.fact,
  recordedAt: fact.recorded_at,
  correlation: fact.correlation as CorrelationId,
})

/** The rows that follow on a head, each hashed anew. */
export async function verifyRows(
  rows: readonly Row[],
  from: Head = GENESIS,
  hash: Hash = sha256,
): Promise<Verified> {
  const digests = new Map<number, Digest>()
  for (const { hash: _, ...body } of rows) {
    digests.set(body.seq, (await hash(canonicalText(body))) as Digest)
  }
  const digestOf = (value: unknown) => digests.get((value as Row).seq) ?? ('' as Digest)
  return verifyChain(rows, digestOf, { from })
}

export type Sums = {
  readonly minted: number
  readonly accounts: number
  readonly holds: number
  readonly fees: number
  /** Postings that are none, or that took a side below zero. */
  readonly faults: number
}

/** In hundredths, from the postings alone. */
export function sumRows(rows: readonly Pick<Row, 'seq' | 'fact'>[]): Sums {
  const { balances, faults } = reconcile(rows, new Map())
  const sum = (begins: string) =>
    [...balances].reduce((all, [side, cents]) => (side.startsWith(begins) ? all + cents : all), 0)
  return {
    minted: 0 - sum('mint'),
    accounts: sum('owner:'),
    holds: sum('hold:'),
    fees: sum('fees'),
    faults: faults.length,
  }
}

async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Browsers hash only for pages that nobody could have changed on their way. */
export const canHash = (): boolean => globalThis.crypto?.subtle !== undefined
