/**
 * The audit trail proves itself: each fact is sealed to the one before, and whoever has an export
 * can walk the chain and add up the balances without asking the hub (P-10).
 *
 *   U1  Sequence numbers start at 1 and have no gap.
 *   U2  A seal covers everything in its row but itself: number, link, time, correlation and fact.
 *   U3  Nothing can be changed, taken out, put in or moved without breaking the chain at or after
 *       that place. A chain that was rewritten to its end, or cut off there, is found out by
 *       whoever kept its head; without one, nobody can tell.
 *   U4  Balances follow from the postings alone, and no side but the mint is ever below zero.
 */

import type { CorrelationId, Digest, Instant } from './ids.ts'
import { isAmount } from './money/amount.ts'
import type { Posting, Side } from './money/ledger.ts'

/** The digest of a value's canonical form. May throw for what has none. */
export type DigestOf = (value: unknown) => Digest

export type Recorded<Fact> = {
  readonly fact: Fact
  readonly recordedAt: Instant
  readonly correlation: CorrelationId
}
export type Sealed<Fact> = Recorded<Fact> & {
  readonly seq: number
  /** The hash of the fact before. */
  readonly prev: Digest
  readonly hash: Digest
}

/** How far a chain goes: the number and hash of its last fact. */
export type Head = { readonly seq: number; readonly hash: Digest }

/** Before the first fact. No text is known whose digest is all zeros. */
export const GENESIS: Head = { seq: 0, hash: '0'.repeat(64) as Digest }

export function sealFacts<Fact>(
  head: Head,
  recorded: Iterable<Recorded<Fact>>,
  digestOf: DigestOf,
): { readonly sealed: readonly Sealed<Fact>[]; readonly head: Head } {
  const sealed: Sealed<Fact>[] = []
  let last = head
  for (const { fact, recordedAt, correlation } of recorded) {
    const [seq, prev] = [last.seq + 1, last.hash]
    const hash = digestOf({ seq, prev, fact, recordedAt, correlation })
    const seal = { seq, prev, fact, recordedAt, correlation, hash }
    sealed.push(seal)
    last = { seq: seal.seq, hash: seal.hash }
  }
  return { sealed, head: last }
}

/**
 * gap        the fact that belongs here is missing
 * reordered  it is there, but elsewhere; or one that was read already comes again
 * altered    the row is not what was sealed
 * unlinked   the row does not follow on the one before: that one was replaced, or this one put in
 * truncated  the chain ends before the head that is known
 * rewritten  the chain is whole, but not the one that the known head belongs to
 */
export type BreakKind = 'gap' | 'reordered' | 'altered' | 'unlinked' | 'truncated' | 'rewritten'

export type Verified =
  | { readonly ok: true; readonly head: Head; readonly count: number }
  /** `seq` is the first place at which the chain does not hold. */
  | { readonly ok: false; readonly seq: number; readonly kind: BreakKind }

export type Known = {
  /** Where to start: the rows are those after this head. */
  readonly from?: Head
  /** A head that was once seen and must still be part of the chain. */
  readonly until?: Head
}

export function verifyChain(
  rows: Iterable<Sealed<unknown>>,
  digestOf: DigestOf,
  { from = GENESIS, until }: Known = {},
): Verified {
  if (isRewritten(from, until)) return { ok: false, seq: from.seq, kind: 'rewritten' }
  let head = from
  let missing: number | undefined
  for (const row of rows) {
    // A gap is only known to be one when the missing fact turns up nowhere behind it.
    if (missing !== undefined) {
      if (row.seq === missing) return { ok: false, seq: missing, kind: 'reordered' }
      continue
    }
    const seq = head.seq + 1
    const kind = breakAt(row, head, digestOf)
    if (kind === 'gap') {
      missing = seq
      continue
    }
    if (kind !== undefined) return { ok: false, seq, kind }
    head = { seq, hash: row.hash }
    if (isRewritten(head, until)) return { ok: false, seq, kind: 'rewritten' }
  }
  if (missing !== undefined) return { ok: false, seq: missing, kind: 'gap' }
  if (until !== undefined && head.seq < until.seq) {
    return { ok: false, seq: head.seq + 1, kind: 'truncated' }
  }
  return { ok: true, head, count: head.seq - from.seq }
}

/** Something in a fact that no rule of ours writes. */
export type PostingFault = {
  readonly seq: number
  readonly kind: 'posting_invalid' | 'overdrawn'
}
export type Difference = {
  readonly side: Side
  readonly derivedCents: number
  /** Absent where the balance is not known to those who claim to know them all. */
  readonly claimedCents?: number
}
export type Reconciled = {
  readonly ok: boolean
  readonly balances: ReadonlyMap<Side, number>
  readonly differences: readonly Difference[]
  readonly faults: readonly PostingFault[]
}

/**
 * Adds up a whole chain's postings and compares with the balances that are claimed. The mint may be
 * left out of the claims: it is what all the others sum to, with the sign turned.
 */
export function reconcile(
  rows: Iterable<Pick<Sealed<unknown>, 'seq' | 'fact'>>,
  claimed: ReadonlyMap<Side, number>,
): Reconciled {
  const balances = new Map<Side, number>()
  const faults: PostingFault[] = []
  const add = (side: Side, cents: number) => {
    const sum = (balances.get(side) ?? 0) + cents
    balances.set(side, sum)
    return sum
  }
  for (const { seq, fact } of rows) {
    for (const posting of postingsOf(fact)) {
      if (!isPosting(posting)) {
        faults.push({ seq, kind: 'posting_invalid' })
        continue
      }
      const left = add(posting.from, -posting.amountCents)
      add(posting.to, posting.amountCents)
      if (left < 0 && posting.from !== 'mint') faults.push({ seq, kind: 'overdrawn' })
    }
  }
  const differences = [...differencesOf(balances, claimed)]
  const ok = differences.length === 0 && faults.length === 0
  return { ok, balances, differences, faults }
}

function breakAt(row: Sealed<unknown>, head: Head, digestOf: DigestOf): BreakKind | undefined {
  const seq = head.seq + 1
  if (!Number.isSafeInteger(row.seq)) return 'altered'
  if (row.seq > seq) return 'gap'
  if (row.seq < seq) return 'reordered'
  if (row.prev !== head.hash) return 'unlinked'
  const { hash, ...body } = row
  try {
    return digestOf(body) === hash ? undefined : 'altered'
  } catch {
    // What has no canonical form was never sealed.
    return 'altered'
  }
}

const isRewritten = (head: Head, until: Head | undefined) =>
  until !== undefined && head.seq === until.seq && head.hash !== until.hash

function* differencesOf(
  derived: ReadonlyMap<Side, number>,
  claimed: ReadonlyMap<Side, number>,
): Iterable<Difference> {
  for (const side of new Set([...derived.keys(), ...claimed.keys()])) {
    const derivedCents = derived.get(side) ?? 0
    const claimedCents = claimed.get(side)
    if (claimedCents === derivedCents) continue
    if (claimedCents !== undefined) yield { side, derivedCents, claimedCents }
    else if (derivedCents !== 0 && side !== 'mint') yield { side, derivedCents }
  }
}

/** Facts of every kind stand in one chain; those about money are known by their postings. */
function postingsOf(fact: unknown): readonly unknown[] {
  if (typeof fact !== 'object' || fact === null || !('postings' in fact)) return []
  return Array.isArray(fact.postings) ? fact.postings : [fact.postings]
}

function isPosting(value: unknown): value is Posting {
  if (typeof value !== 'object' || value === null) return false
  if (!('from' in value && 'to' in value && 'amountCents' in value)) return false
  const { from, to, amountCents } = value
  return (
    isSide(from) &&
    isSide(to) &&
    from !== to &&
    typeof amountCents === 'number' &&
    isAmount(amountCents)
  )
}

function isSide(value: unknown): value is Side {
  if (typeof value !== 'string') return false
  return value === 'mint' || value === 'fees' || /^(owner|hold):./s.test(value)
}
