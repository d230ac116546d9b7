/** What the books of the network say, and whether the trail of facts says the same (P-10). */
import { reconcile, verifyChain } from '@chimera/domain/audit'
import type { AgentId } from '@chimera/domain/ids'
import type { Hub } from '@chimera/hub/act/hub'
import { canonicalDigest } from '@chimera/identity/canonical'

export type BooksSeen = {
  /** By owner, in credits. */
  readonly balances: Readonly<Record<string, number>>
  /** In credits: put aside for work that has not ended. */
  readonly held: number
  /** In credits: all that ever came into being. Balances and holds sum to it. */
  readonly minted: number
  /** How many facts the trail has. */
  readonly facts: number
  /** Chorus scores by the agent's name, 0 to 100. */
  readonly scores: Readonly<Record<string, number>>
}

const OWNER = 'owner:'
const HOLD = 'hold:'
const credits = (cents: number): number => cents / 100

/** Throws where the chain is broken, or where a balance does not follow from the facts. */
export async function readBooks(
  { keep, settle, scores }: Hub,
  agents: readonly { readonly id: string; readonly name: string }[],
): Promise<BooksSeen> {
  await settle()
  const rows = await allFacts(keep.trail)
  const chain = verifyChain(rows, canonicalDigest)
  if (!chain.ok) throw new Error(`the trail is broken at fact ${chain.seq}: ${chain.kind}`)
  const { balances, faults } = reconcile(rows, new Map())
  const [fault] = faults
  if (fault) throw new Error(`fact ${fault.seq} of the trail is ${fault.kind}`)
  const accounts = await keep.money.accounts()
  for (const { owner, balanceCents } of accounts) {
    const derived = balances.get(`${OWNER}${owner}`) ?? 0
    if (derived === balanceCents) continue
    throw new Error(`${owner} has ${balanceCents} cents, and ${derived} by the facts`)
  }
  const heldCents = [...balances].reduce(
    (sum, [side, cents]) => (side.startsWith(HOLD) ? sum + cents : sum),
    0,
  )
  return {
    balances: Object.fromEntries(
      accounts.map(({ owner, balanceCents }) => [owner, credits(balanceCents)]),
    ),
    held: credits(heldCents),
    minted: credits(-(balances.get('mint') ?? 0)),
    facts: rows.length,
    scores: Object.fromEntries(
      agents.map(({ id, name }) => [
        name,
        scores.standingOf(id as AgentId).running.scoreMicro / 1_000_000,
      ]),
    ),
  }
}

async function allFacts(trail: Hub['keep']['trail']) {
  const rows = []
  for (;;) {
    const more = await trail.sealedAfter(rows.length)
    if (more.length === 0) return rows
    rows.push(...more)
  }
}
