/**
 * `approve_spend`: the CFO Judge's only skill. It looks at a campaign's budget before money is
 * spent, and says no to what exceeds it. It keeps nothing: what was spent is in the question, and
 * the hub holds the campaign to its hold whatever anybody says (P-9).
 */
import { Credits, centsOf, textUpTo, Uuid, writeCents } from '@chimera/dialects/wire'
import { LIMITS } from '@chimera/domain/limits'
import { defineSkill } from '@chimera/skill/define'
import { type Static, Type } from 'typebox'

export const ApproveSpendInput = Type.Object(
  {
    campaign_id: Uuid,
    budget: Credits,
    spent: Credits,
    wanted: { ...Credits, description: 'The most that the next step may cost' },
    what: textUpTo(LIMITS.nameChars),
  },
  { title: 'approve_spend input' },
)
export type ApproveSpendInput = Static<typeof ApproveSpendInput>

const ApproveSpendOutput = Type.Object(
  {
    approved: Type.Boolean(),
    left: { ...Credits, description: 'After the step, at its dearest' },
    reason: textUpTo(LIMITS.descriptionChars),
  },
  { title: 'approve_spend output' },
)
type ApproveSpendOutput = Static<typeof ApproveSpendOutput>

/** Never a loan: what a step may cost must be there before it begins. */
export function judgeSpend(asked: ApproveSpendInput): ApproveSpendOutput {
  const leftCents = centsOf(asked.budget) - centsOf(asked.spent)
  const afterCents = leftCents - centsOf(asked.wanted)
  if (afterCents >= 0) {
    const reason = `${writeCents(afterCents)} credits of ${asked.budget} are left after it`
    return { approved: true, left: writeCents(afterCents), reason }
  }
  const left = writeCents(Math.max(0, leftCents))
  const reason =
    `${asked.what} may cost ${asked.wanted} credits, ` +
    `and only ${left} of ${asked.budget} are left`
  return { approved: false, left, reason }
}

export function approveSpend() {
  return defineSkill({
    name: 'approve_spend',
    version: '1.0',
    description: 'Says whether the next step of a campaign is within its budget',
    input: ApproveSpendInput,
    output: ApproveSpendOutput,
    timeout: '5s',
    run: (asked) => judgeSpend(asked),
  })
}
