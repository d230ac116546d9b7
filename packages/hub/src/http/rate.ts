/**
 * How often each caller has asked in the last minute: established ones by their own name, strangers
 * by the address that they come from.
 *
 *   Q1  The memory is bounded. A caller that was silent for a minute makes room; when nobody was,
 *       all newcomers share one count, so that inventing names wins nothing.
 *   Q2  Strangers and established callers have memories of their own: the former cannot push the
 *       latter out.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  applyPace,
  decidePace,
  isForgotten,
  NEVER_ASKED,
  type Pace,
} from '@chimera/domain/work/pace'

export type Paced = { readonly ok: true } | Refused<'rate_exceeded'>

export type Rate = {
  /** Whether the caller may ask now, and counts it if so. */
  readonly take: (name: string, now: Instant) => Paced
  /** Whether it might, without counting. */
  readonly look: (name: string, now: Instant) => Paced
  readonly size: () => number
}

export type RateOptions = {
  /** 0 is no limit. */
  readonly perMinute: number
  readonly most?: number
}

// No address and no name of a caller is empty, so nobody else is counted here.
const OTHERS = ''

export function createRate({ perMinute, most = LIMITS.pacedCallers }: RateOptions): Rate {
  // In the order of their last request, so the first one is the one that was silent the longest.
  const paces = new Map<string, Pace>()
  let others: Pace = NEVER_ASKED

  function placeOf(name: string, now: Instant): string {
    if (paces.has(name) || paces.size < most) return name
    const [oldest] = paces
    if (oldest === undefined || !isForgotten(oldest[1], now)) return OTHERS
    paces.delete(oldest[0])
    return name
  }

  function look(name: string, now: Instant) {
    const place = placeOf(name, now)
    const pace = place === OTHERS ? others : (paces.get(place) ?? NEVER_ASKED)
    return { place, pace, decision: decidePace(pace, perMinute, now) }
  }

  return {
    take(name, now) {
      const { place, pace, decision } = look(name, now)
      if (!decision.ok) return decision
      // Without a limit there is nothing to remember.
      if (decision.facts.length === 0) return { ok: true }
      const next = decision.facts.reduce(applyPace, pace)
      if (place === OTHERS) others = next
      else {
        paces.delete(place)
        paces.set(place, next)
      }
      return { ok: true }
    },
    look(name, now) {
      const { decision } = look(name, now)
      return decision.ok ? { ok: true } : refuse(decision.refusal, decision.particulars)
    },
    size: () => paces.size,
  }
}

/**
 * The name of where a stranger comes from. A network gives each of its machines a whole /64 of
 * IPv6, so the addresses in one are one caller.
 */
export function originOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail = ''] = plain.replace(/%.*$/, '').split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0')
  const groups = plain.includes('::') ? [...front, ...zeros, ...back] : front
  return `${groups
    .slice(0, 4)
    .map((each) => each.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
