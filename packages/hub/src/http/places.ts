/**
 * What is remembered of each caller, by name, within a bound.
 *
 *   Q1  A caller that can be forgotten makes room for a newcomer; when nobody can, all newcomers
 *       share one place, so that inventing names wins nothing.
 */
import type { Instant } from '@chimera/domain/ids'

export type Places<State> = {
  /** The name itself, or the place that newcomers share. */
  readonly of: (name: string, now: Instant) => string
  readonly read: (place: string) => State
  /** Of somebody who asks: the ones who were silent the longest make room first. */
  readonly write: (place: string, state: State) => void
  /** Changes what is known, where it is known, of somebody who did not ask. */
  readonly amend: (place: string, state: State) => void
  readonly all: () => Iterable<readonly [place: string, state: State]>
  readonly size: () => number
}

export type PlacesOptions<State> = {
  readonly most: number
  readonly unknown: State
  /** Whether nothing is lost when this is forgotten. */
  readonly isIdle: (place: string, state: State, now: Instant) => boolean
}

// No address and no name of a caller is empty, so nobody else is counted here.
const OTHERS = ''

export function createPlaces<State>(options: PlacesOptions<State>): Places<State> {
  const { most, unknown, isIdle } = options
  // In the order of their last request, so the first one is the one that was silent the longest.
  const known = new Map<string, State>()
  let others = unknown

  return {
    of(name, now) {
      if (known.has(name) || known.size < most) return name
      const [oldest] = known
      if (oldest === undefined || !isIdle(...oldest, now)) return OTHERS
      known.delete(oldest[0])
      return name
    },
    read: (place) => (place === OTHERS ? others : (known.get(place) ?? unknown)),
    write(place, state) {
      if (place === OTHERS) others = state
      else {
        known.delete(place)
        known.set(place, state)
      }
    },
    amend(place, state) {
      if (place === OTHERS) others = state
      else if (known.has(place)) known.set(place, state)
    },
    *all() {
      yield [OTHERS, others]
      yield* known
    },
    size: () => known.size,
  }
}
