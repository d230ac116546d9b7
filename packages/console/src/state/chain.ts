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
import { type Claims, claimsValue, type Score, type Scores, scoresOf } from '@chimera/domain/claims'
import type { AgentId, CorrelationId, Digest } from '@chimera/domain/ids'
import type { Outcome } from '@chimera/domain/trust/outcome'
import { shownHundredths } from '@chimera/domain/trust/running-score'
import { openMemory, readOutcome, type TrustFact } from '@chimera/domain/trust/trail'
import { NEWCOMER, recomputeScores } from '@chimera/domain/trust/trust'
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

/** Both scores of every agent, from the outcomes that the facts tell (P-2). */
export function scoresIn(rows: readonly Pick<Row, 'seq' | 'fact'>[]): ScoresFound {
  const memory = openMemory()
  const outcomes: Outcome[] = []
  for (const { seq, fact } of rows) {
    try {
      const outcome = readOutcome(memory, fact as TrustFact)
      if (outcome !== undefined) outcomes.push(outcome)
    } catch {
      // A chain can be sealed by anybody: a fact may be of a known name and of no known shape.
      return { ok: false, seq }
    }
  }
  return { ok: true, scores: scoresOf(recomputeScores(outcomes).standings) }
}

type ScoresFound =
  | { readonly ok: true; readonly scores: Scores }
  | { readonly ok: false; readonly seq: number }

type ScoreShown = {
  readonly agent_id: string
  readonly window_score: number
  readonly running_score: number
}

/** Whose scores the hub shows otherwise than the facts say. */
export function differing(scores: Scores, shown: readonly ScoreShown[]): readonly string[] {
  return shown.flatMap(({ agent_id, window_score, running_score }) => {
    const own = scores.get(agent_id as AgentId) ?? NEWCOMERS
    const isSame =
      shownHundredths(own.runningMicro) === Math.round(running_score * 100) &&
      own.windowMicro === Math.round(window_score * 1_000_000)
    return isSame ? [] : [agent_id]
  })
}

const [NEWCOMERS] = [...scoresOf(new Map([['' as AgentId, NEWCOMER]])).values()] as [Score]

/** An export as `chimera audit export` writes it: what is claimed, then a line for each fact. */
export function exportLines(
  rows: readonly Row[],
  { head, scores }: Pick<Claims, 'head' | 'scores'>,
): readonly string[] {
  const { balances } = reconcile(rows, new Map())
  const claims = claimsValue({ head, balances, scores })
  return [claims, ...rows].map((line) => `${canonicalText(line)}\n`)
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
