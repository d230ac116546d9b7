/**
 * A breaker for each provider (domain/skill/breaker decides). Skills that name the same provider
 * share its breaker; at most so many are kept, and the one that was asked least lately goes.
 */
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  applyVerdict,
  type Breaker,
  CLOSED,
  decidePass,
  type Pass,
  type Verdict,
} from '@chimera/domain/skill/breaker'
import type { Chance, Clock } from './clock.ts'

export type Asked =
  | { readonly ok: true; readonly pass: Pass }
  | {
      readonly ok: false
      readonly retryAt: Instant
      /** What its last failure was called. */
      readonly code: string | undefined
    }

export type Breakers = {
  readonly ask: (provider: string) => Asked
  readonly tell: (provider: string, returned: Returned) => void
  readonly states: () => ReadonlyMap<string, Breaker['is']>
}

export type Returned = { readonly pass: Pass; readonly verdict: Verdict; readonly code?: string }
export type BreakerChange = { readonly provider: string; readonly to: Breaker['is'] }

type Kept = { breaker: Breaker; code?: string }

export function createBreakers(
  { clock, chance }: { readonly clock: Clock; readonly chance: Chance },
  onChange: (change: BreakerChange) => void,
): Breakers {
  const kept = new Map<string, Kept>()

  function of(provider: string): Kept {
    const known = kept.get(provider) ?? { breaker: CLOSED }
    kept.delete(provider)
    kept.set(provider, known)
    const [oldest] = kept.keys()
    if (kept.size > LIMITS.breakers && oldest !== undefined) kept.delete(oldest)
    return known
  }

  function move(provider: string, known: Kept, next: Breaker): void {
    const before = known.breaker.is
    known.breaker = next
    if (before !== next.is) onChange({ provider, to: next.is })
  }

  return {
    ask(provider) {
      const known = of(provider)
      const passed = decidePass(known.breaker, clock.now())
      move(provider, known, passed.breaker)
      if (passed.ok) return { ok: true, pass: passed.pass }
      return { ok: false, retryAt: passed.retryAt, code: known.code }
    },
    tell(provider, { pass, verdict, code }) {
      const known = of(provider)
      if (verdict === 'fails' && code !== undefined) known.code = code
      const returned = { pass, verdict, chance: chance.fraction() }
      move(provider, known, applyVerdict(known.breaker, returned, clock.now()))
    },
    states: () => new Map([...kept].map(([provider, { breaker }]) => [provider, breaker.is])),
  }
}
