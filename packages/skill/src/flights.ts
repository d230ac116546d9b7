/**
 * One flight for callers that ask the same at once.
 *
 *   G1  While a flight is under way nobody begins another under its key.
 *   G2  Who leaves gets no answer and takes nobody with it. When the last one leaves, the flight is
 *       aborted, and whoever asks then begins a new one.
 *   G3  A flight may take as long as its most patient member.
 */
import type { Instant } from '@chimera/domain/ids'
import type { Progress } from './contract.ts'
import { createLeaver, type Leaver, type Leaving } from './leaving.ts'

export type Member = {
  readonly leaving: Leaving
  /** Absent: as long as it takes. */
  readonly deadline: () => Instant | undefined
  readonly onProgress: (progress: Progress) => void
}

export type Landed<Answer> =
  | { readonly is: 'landed'; readonly answer: Answer; readonly joined: boolean }
  | { readonly is: 'left' }

export type Flights<Answer> = {
  /** `begin` is called at once, or not at all. */
  readonly join: (
    key: string,
    member: Member,
    begin: (flight: Member) => Promise<Answer>,
  ) => Promise<Landed<Answer>>
  /** When all that are under way now have ended, those that were left too. */
  readonly idle: () => Promise<void>
}

type Flight<Answer> = {
  readonly members: Set<Member>
  readonly leaver: Leaver
  readonly answer: Promise<Answer>
}

export function createFlights<Answer>(): Flights<Answer> {
  const flights = new Map<string, Flight<Answer>>()
  const underWay = new Set<Promise<unknown>>()

  function launch(key: string, begin: (flight: Member) => Promise<Answer>): Flight<Answer> {
    const members = new Set<Member>()
    const leaver = createLeaver()
    const answer = Promise.resolve().then(() =>
      begin({
        leaving: leaver,
        deadline: () => latestOf(members),
        onProgress: (progress) => {
          for (const each of members) each.onProgress(progress)
        },
      }),
    )
    const flight = { members, leaver, answer }
    flights.set(key, flight)
    const ended = answer
      .catch(() => undefined)
      .finally(() => {
        underWay.delete(ended)
        remove(key, flight)
      })
    underWay.add(ended)
    return flight
  }

  const remove = (key: string, flight: Flight<Answer>): void => {
    if (flights.get(key) === flight) flights.delete(key)
  }

  return {
    async join(key, member, begin) {
      if (member.leaving.hasLeft()) return { is: 'left' }
      const known = flights.get(key)
      const flight = known ?? launch(key, begin)
      flight.members.add(member)
      let stay: () => void = () => undefined
      const left = new Promise<Landed<Answer>>((resolve) => {
        stay = member.leaving.onLeave(() => resolve({ is: 'left' }))
      })
      const landed = flight.answer.then(
        (answer): Landed<Answer> => ({ is: 'landed', answer, joined: known !== undefined }),
      )
      try {
        return await Promise.race([left, landed])
      } finally {
        stay()
        flight.members.delete(member)
        if (member.leaving.hasLeft() && flight.members.size === 0) {
          remove(key, flight)
          flight.leaver.leave(member.leaving.why())
        }
      }
    },
    async idle() {
      await Promise.all(underWay)
    },
  }
}

function latestOf(members: ReadonlySet<Member>): Instant | undefined {
  const deadlines = [...members].map((each) => each.deadline())
  if (deadlines.length === 0 || deadlines.includes(undefined)) return undefined
  return Math.max(...deadlines.map((each) => each ?? 0))
}
