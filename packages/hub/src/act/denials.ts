/**
 * Denied authorisation, on the trail.
 *
 *   N1  One fact per caller and minute at each hub; whoever proved nothing shares one name with all
 *       such. So strangers cannot grow the trail.
 *   N2  At most so many callers are remembered in a minute; the others share a name too.
 */
import type { Instant } from '@chimera/domain/ids'

export type AccessDenied = {
  readonly type: 'access_denied'
  readonly at: Instant
  readonly by: string
  /** Who it is was not established, or it was and may not. */
  readonly how: 'unproven' | 'forbidden'
}

export type Denials = {
  /** The fact to record, if this is the caller's first denial in its minute. */
  readonly note: (by: string, how: AccessDenied['how'], now: Instant) => AccessDenied | undefined
}

const MINUTE_MS = 60_000
// More callers than this denied in one minute are an attack, and one line says so.
const MOST_NAMES = 100
const OTHERS = 'others'

export function createDenials(most: number = MOST_NAMES): Denials {
  const named = new Set<string>()
  let minute = Number.NaN

  return {
    note(by, how, now) {
      const current = Math.floor(now / MINUTE_MS)
      if (current !== minute) named.clear()
      minute = current
      const name = named.has(by) || named.size < most ? by : OTHERS
      if (named.has(name)) return undefined
      named.add(name)
      return { type: 'access_denied', at: now, by: name, how }
    },
  }
}
