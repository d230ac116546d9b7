/**
 * What each hire has cost, from the facts alone: the one that came from outside, and all that was
 * hired for it. What the campaigns say of themselves is held against it.
 *
 *   Y1  A hold that is cut out of another belongs to the first of its chain (P-9).
 */
import type { HoldId, TaskId } from '@chimera/domain/ids'
import type { MoneyFact } from '@chimera/domain/money/ledger'

export type Hire = {
  readonly task: TaskId
  readonly stage: 'open' | 'captured' | 'released'
  /** What it has cost its payer. */
  readonly costCents: number
  /** What of it went to others who were hired for it. */
  readonly othersCents: number
  /** Holds of its chain that have not ended. */
  readonly open: number
}

export function tallyHires(facts: Iterable<MoneyFact>): ReadonlyMap<TaskId, Hire> {
  const hires = new Map<TaskId, Hire>()
  const rootOf = new Map<HoldId, { readonly root: HoldId; readonly task: TaskId }>()
  const change = (hold: HoldId, to: (hire: Hire, isRoot: boolean) => Hire): void => {
    const chain = rootOf.get(hold)
    const hire = chain && hires.get(chain.task)
    if (chain && hire) hires.set(chain.task, to(hire, chain.root === hold))
  }
  for (const fact of facts) {
    switch (fact.type) {
      case 'credits_held': {
        const { id, parent, task } = fact.hold
        const above = parent === undefined ? undefined : rootOf.get(parent)
        rootOf.set(id, above ?? { root: id, task })
        if (above === undefined) {
          const before = hires.get(task) ?? { costCents: 0, othersCents: 0, open: 0 }
          hires.set(task, { ...before, task, stage: 'open', open: before.open + 1 })
        } else change(id, (hire) => ({ ...hire, open: hire.open + 1 }))
        break
      }
      case 'hold_captured': {
        const { amountCents, paidCents } = fact.payment
        change(fact.hold, (hire, isRoot) => ({
          ...hire,
          open: hire.open - 1,
          ...(isRoot
            ? { stage: 'captured', costCents: amountCents }
            : { othersCents: hire.othersCents + paidCents }),
        }))
        break
      }
      case 'hold_released':
      case 'hold_lapsed':
        change(fact.hold, (hire, isRoot) => ({
          ...hire,
          open: hire.open - 1,
          ...(isRoot && { stage: 'released', costCents: hire.othersCents }),
        }))
        break
      default:
    }
  }
  return hires
}
