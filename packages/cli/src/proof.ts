/**
 * Proves an export without the hub that wrote it (P-10): the chain, every balance and every score.
 *
 *   R1  The chain comes first. Facts that are not those that were sealed prove nothing.
 *   R2  What is claimed is compared both ways: a balance or score that is missing from the claims
 *       is a difference too.
 */
import {
  type BreakKind,
  type Difference,
  type Head,
  type PostingFault,
  reconcile,
  verifyChain,
} from '@chimera/domain/audit'
import { type Score, type Scores, scoresOf } from '@chimera/domain/claims'
import type { AgentId } from '@chimera/domain/ids'
import type { Side } from '@chimera/domain/money/ledger'
import type { Outcome } from '@chimera/domain/trust/outcome'
import { openMemory, readOutcome, type TrustFact } from '@chimera/domain/trust/trail'
import { recomputeScores } from '@chimera/domain/trust/trust'
import { canonicalDigest } from '@chimera/identity/canonical'
import { readClaims, readFacts } from './audit-file.ts'
import { Trouble } from './trouble.ts'

export type ScoreDifference = {
  readonly agent: AgentId
  readonly derived?: Score
  readonly claimed?: Score
}

export type Break =
  | { readonly seq: number; readonly kind: BreakKind }
  /** The chain holds, but goes further than the export claims. */
  | { readonly seq: number; readonly kind: 'unclaimed' }

export type Proof = {
  readonly ok: boolean
  readonly count: number
  readonly head?: Head
  /** The first place at which the chain does not hold; then nothing else was looked at. */
  readonly broken?: Break
  readonly balances: ReadonlyMap<Side, number>
  readonly differences: readonly Difference[]
  readonly faults: readonly PostingFault[]
  readonly scores: Scores
  readonly scoreDifferences: readonly ScoreDifference[]
}

const NOTHING = {
  count: 0,
  balances: new Map(),
  differences: [],
  faults: [],
  scores: new Map(),
  scoreDifferences: [],
} as const

/** `until` is a head that somebody kept; the export must still hold it. */
export function proveFile(path: string, until?: Head): Proof {
  const claims = readClaims(path)
  const heads = [claims.head, ...(until === undefined ? [] : [until])]
  let proven: { readonly head: Head; readonly count: number } | undefined
  for (const known of heads) {
    const verified = verifyChain(readFacts(path), canonicalDigest, { until: known })
    if (!verified.ok) {
      const { seq, kind } = verified
      return { ...NOTHING, ok: false, broken: { seq, kind } }
    }
    proven = verified
  }
  if (proven === undefined || proven.head.seq !== claims.head.seq) {
    return { ...NOTHING, ok: false, broken: { seq: claims.head.seq + 1, kind: 'unclaimed' } }
  }

  const money = reconcile(readFacts(path), claims.balances)
  const scores = scoresOf(recomputeScores(outcomesIn(path)).standings)
  const scoreDifferences = [...differencesOf(scores, claims.scores)]
  return {
    ok: money.ok && scoreDifferences.length === 0,
    head: proven.head,
    count: proven.count,
    balances: money.balances,
    differences: money.differences,
    faults: money.faults,
    scores,
    scoreDifferences,
  }
}

function* outcomesIn(path: string): Generator<Outcome> {
  const memory = openMemory()
  for (const { seq, fact } of readFacts(path)) {
    const outcome = outcomeAt(memory, { seq, fact })
    if (outcome !== undefined) yield outcome
  }
}

/** A chain can be sealed by anybody, so a fact may be of a known name and of no known shape. */
function outcomeAt(
  memory: ReturnType<typeof openMemory>,
  { seq, fact }: { readonly seq: number; readonly fact: unknown },
): Outcome | undefined {
  try {
    return readOutcome(memory, fact as TrustFact)
  } catch {
    throw new Trouble(`Broken at fact ${seq}: it is not of the shape that its type asks for.`)
  }
}

function* differencesOf(derived: Scores, claimed: Scores): Iterable<ScoreDifference> {
  for (const agent of new Set([...derived.keys(), ...claimed.keys()])) {
    const mine = derived.get(agent)
    const theirs = claimed.get(agent)
    const same =
      mine?.runningMicro === theirs?.runningMicro && mine?.windowMicro === theirs?.windowMicro
    if (same) continue
    yield { agent, ...(mine && { derived: mine }), ...(theirs && { claimed: theirs }) }
  }
}
