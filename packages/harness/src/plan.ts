/**
 * What is to befall the requests that come: always the same, one after the other by a script, by
 * share under a seed, or as a function says.
 *
 *   F1  One seed gives one sequence of chances, in the order in which requests come.
 *   F2  After the end of a script everything is as usual.
 */
import { createSeededChance } from '@chimera/host/chance'

/** A request, as far as a plan may look at it. */
export type Asked = {
  readonly method: string
  readonly path: string
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** `[0.1, 503]`: one in ten. What is left is as usual. */
export type Mix<What> = {
  readonly shares: readonly (readonly [share: number, what: What])[]
  /** Default: 1. */
  readonly seed?: number | string
}

export type Plan<What> = What | readonly What[] | Mix<What> | ((asked: Asked) => What | undefined)

export type Planned<What> = (asked: Asked) => What

export function readPlan<What extends string | number | object>(
  plan: Plan<What>,
  usual: What,
): Planned<What> {
  if (typeof plan === 'function') return (asked) => plan(asked) ?? usual
  if (isScript(plan)) {
    const left = [...plan]
    return () => left.shift() ?? usual
  }
  if (isMix(plan)) return mixed(plan, usual)
  return () => plan
}

function mixed<What>({ shares, seed = 1 }: Mix<What>, usual: What): Planned<What> {
  const sum = shares.reduce((all, [share]) => all + share, 0)
  if (!shares.every(([share]) => share >= 0) || sum > 1) {
    throw new RangeError('shares: each 0 or more, together at most 1')
  }
  const { fraction } = createSeededChance(seed)
  return () => {
    let left = fraction()
    for (const [share, what] of shares) {
      if (left < share) return what
      left -= share
    }
    return usual
  }
}

const isScript = <What>(plan: Plan<What>): plan is readonly What[] => Array.isArray(plan)
const isMix = <What>(plan: Plan<What>): plan is Mix<What> =>
  typeof plan === 'object' && plan !== null && 'shares' in plan
