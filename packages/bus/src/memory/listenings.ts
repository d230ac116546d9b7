/**
 * Who listens to a subject. Most listen to exactly one, and are found without looking at the
 * others: a network in one process has thousands.
 */
import type { Listening } from '../link.ts'
import { isSubject, matches } from '../subjects.ts'

export type Listenings = {
  readonly add: (listening: Listening) => void
  readonly delete: (listening: Listening) => void
  /** Those to exactly this subject first, each kind in the order of adding. */
  readonly to: (subject: string) => readonly Listening[]
}

export function createListenings(): Listenings {
  const exact = new Map<string, Set<Listening>>()
  const wild = new Set<Listening>()

  return {
    add: (listening) => {
      const { pattern } = listening
      if (!isSubject(pattern)) wild.add(listening)
      else exact.set(pattern, (exact.get(pattern) ?? new Set<Listening>()).add(listening))
    },
    delete: (listening) => {
      wild.delete(listening)
      const others = exact.get(listening.pattern)
      others?.delete(listening)
      if (others?.size === 0) exact.delete(listening.pattern)
    },
    to: (subject) => [
      ...(exact.get(subject) ?? []),
      ...[...wild].filter(({ pattern }) => matches(pattern, subject)),
    ],
  }
}
