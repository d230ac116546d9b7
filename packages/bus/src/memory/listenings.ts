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
  // By what comes before the first wildcard, which rules out nearly all.
  const wild = new Map<Listening, string>()

  return {
    add: (listening) => {
      const { pattern } = listening
      if (!isSubject(pattern)) wild.set(listening, pattern.replace(/[*>].*$/, ''))
      else exact.set(pattern, (exact.get(pattern) ?? new Set<Listening>()).add(listening))
    },
    delete: (listening) => {
      wild.delete(listening)
      const others = exact.get(listening.pattern)
      others?.delete(listening)
      if (others?.size === 0) exact.delete(listening.pattern)
    },
    to: (subject) => {
      const found = [...(exact.get(subject) ?? [])]
      for (const [listening, prefix] of wild) {
        if (!subject.startsWith(prefix)) continue
        if (matches(listening.pattern, subject)) found.push(listening)
      }
      return found
    },
  }
}
