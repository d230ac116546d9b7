/**
 * Which addresses answer when they are asked directly (AV-6). Kept in memory only: after a restart
 * nothing is held against anybody until it is asked again.
 *
 *   O1  What is probed is a place: a scheme, a host and a port. However many agents name a place,
 *       by whatever paths, it is asked once a period, so that nobody can aim the hub at somebody.
 *   O2  An address is known from the wave on in which it was first listed.
 */
import type { Instant } from '@chimera/domain/ids'
import type { Brake } from '@chimera/domain/presence/eviction'
import {
  applyProbes,
  decideProbes,
  isForgettable,
  type Probe,
  type ProbeBook,
  type ProbeFact,
  probeDueAt,
  unansweredAt,
} from '@chimera/domain/presence/probe'

/** Where to ask: the place, and one of the addresses there. */
export type Due = { readonly place: string; readonly address: string }

export type Probes = {
  /** Takes in who is listed now, and answers which places are due. */
  readonly due: (addresses: Iterable<string>, now: Instant) => readonly Due[]
  readonly note: (
    asked: { readonly ended: readonly Probe[]; readonly brake: Brake },
    now: Instant,
  ) => readonly ProbeFact[]
  /** When this address was asked in vain; absent while nothing is held against it. */
  readonly unansweredAt: (address: string) => Instant | undefined
}

type Listed = { readonly listedSince: Instant; readonly draw: number; readonly address: string }

export function createProbes(fraction: () => number): Probes {
  let book: ProbeBook = new Map()
  let listed = new Map<string, Listed>()
  let places = new Map<string, string>()

  return {
    due(addresses, now) {
      const before = listed
      const knownPlaces = places
      listed = new Map()
      places = new Map()
      for (const address of addresses) {
        // Taking an address apart is slow, and most are listed in every wave.
        const place = knownPlaces.get(address) ?? placeOf(address)
        if (place === undefined) continue
        places.set(address, place)
        if (listed.has(place)) continue
        const known = before.get(place) ?? { listedSince: now, draw: fraction() }
        listed.set(place, { ...known, address })
      }
      book = new Map(
        [...book].filter(([at, probe]) => listed.has(at) || !isForgettable(probe, now)),
      )
      return [...listed].flatMap(([place, entry]) =>
        probeDueAt(book.get(place), entry) <= now ? [{ place, address: entry.address }] : [],
      )
    },

    note(asked, now) {
      const { facts } = decideProbes(book, asked, now)
      book = applyProbes(book, facts)
      return facts
    },

    unansweredAt(address) {
      const place = places.get(address)
      return place === undefined ? undefined : unansweredAt(book, place)
    },
  }
}

function placeOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).origin : undefined
}
