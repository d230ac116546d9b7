/**
 * How often each caller has asked in the last minute: established ones by their own name, strangers
 * by the address that they come from. This is the count of one hub that is alone; `shared-rate.ts`
 * counts with others.
 *
 *   Q2  Strangers and established callers have memories of their own: the former cannot push the
 *       latter out.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { applyPace, decidePace, isForgotten, NEVER_ASKED } from '@chimera/domain/work/pace'
import { createPlaces } from './places.ts'

/** It is unavailable where nobody could say, not even that there were too many. */
export type Paced = { readonly ok: true } | Refused<'rate_exceeded' | 'service_unavailable'>

export type Rate = {
  /** Whether the caller may ask now, and counts it if so. */
  readonly take: (name: string, now: Instant) => Paced | Promise<Paced>
  /** Whether it might, as far as this hub knows, without counting. */
  readonly look: (name: string, now: Instant) => Paced
  readonly size: () => number
}

export type RateOptions = {
  /** 0 is no limit. */
  readonly perMinute: number
  readonly most?: number
}

export function createRate({ perMinute, most = LIMITS.pacedCallers }: RateOptions) {
  const places = createPlaces({
    most,
    unknown: NEVER_ASKED,
    isIdle: (_, pace, now) => isForgotten(pace, now),
  })

  function look(name: string, now: Instant) {
    const place = places.of(name, now)
    const pace = places.read(place)
    return { place, pace, decision: decidePace(pace, perMinute, now) }
  }

  return {
    take(name, now): Paced {
      const { place, pace, decision } = look(name, now)
      if (!decision.ok) return decision
      // Without a limit there is nothing to remember.
      if (decision.facts.length > 0) places.write(place, decision.facts.reduce(applyPace, pace))
      return { ok: true }
    },
    look(name, now) {
      const { decision } = look(name, now)
      return decision.ok ? { ok: true } : refuse(decision.refusal, decision.particulars)
    },
    size: places.size,
  } satisfies Rate
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
