/**
 * Direct probes (AV-6): whether whoever posts can also be reached, and what that proves.
 *
 *   B1  An address is probed once a period at most, whoever names it. When it is first probed is
 *       left to chance, so that the probes of many are spread over the period.
 *   B2  Any answer is one. Who does not answer is offered no work until it does, however much it
 *       posts; who answers is not there by that, since only its own post says so.
 *   B3  When of the latest probes nearly all failed, it is the hub that reaches nobody: none of
 *       these failures counts (P-13), nor any since the last answer. The same holds while the hub
 *       does not hear most of those that it lists (eviction.ts).
 *   B4  What could not be sent, or was not meant to be dialled, proves nothing and counts nowhere.
 */
import { type Accepted, accept } from '../decision.ts'
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import type { Brake } from './eviction.ts'

/** `disregarded`: not answered, and not held against the address (B3). */
export type ProbeResult = 'answered' | 'unanswered' | 'disregarded' | 'skipped'

/** The last probe of one address: where it was sent, not who was meant. */
export type Probe = {
  readonly address: string
  readonly sentAt: Instant
  readonly result: ProbeResult
}
export type ProbeBook = ReadonlyMap<string, Probe>

export type ProbeFact =
  | { readonly type: 'address_probed'; readonly probe: Probe }
  /** It was presumably the hub itself. */
  | {
      readonly type: 'probes_disregarded'
      readonly addresses: readonly string[]
      readonly at: Instant
    }

export function decideProbes(
  book: ProbeBook,
  { ended, brake }: { readonly ended: readonly Probe[]; readonly brake: Brake },
  now: Instant,
): Accepted<ProbeFact> {
  const facts = ended.map((probe): ProbeFact => ({ type: 'address_probed', probe }))
  if (!ended.some(isFailure)) return accept(...facts)

  const latest = latestFirst(applyProbes(book, facts))
  const judged = judgedTogether(latest, now)
  const answered = judged.filter(({ result }) => result === 'answered').length
  const deaf = brake.on && brake.hearingSince === undefined
  if (!deaf && answered >= judged.length * LIMITS.probeReachShare) return accept(...facts)
  // What failed since the last answer did so in the same cut, though it may be longer ago.
  const lastAnswer = latest.findIndex(({ result }) => result === 'answered')
  const sinceThen = lastAnswer < 0 ? latest : latest.slice(0, Math.max(lastAnswer, judged.length))
  const addresses = sinceThen.filter(isFailure).map(({ address }) => address)
  return accept<ProbeFact>(...facts, { type: 'probes_disregarded', addresses, at: now })
}

/** All at once: a book of ten thousand is not copied for each of them. */
export function applyProbes(book: ProbeBook, facts: readonly ProbeFact[]): ProbeBook {
  const next = new Map(book)
  for (const fact of facts) {
    if (fact.type === 'address_probed') next.set(fact.probe.address, fact.probe)
    else {
      for (const address of fact.addresses) {
        const probe = next.get(address)
        if (probe !== undefined) next.set(address, { ...probe, result: 'disregarded' })
      }
    }
  }
  return next
}

/** Since when this address is known not to answer; absent while nothing is held against it. */
export function unansweredAt(book: ProbeBook, address: string): Instant | undefined {
  const probe = book.get(address)
  return probe?.result === 'unanswered' ? probe.sentAt : undefined
}

/** `draw` is between 0 and 1, drawn once for each address. */
export function probeDueAt(
  probe: Probe | undefined,
  { listedSince, draw }: { readonly listedSince: Instant; readonly draw: number },
): Instant {
  return probe === undefined ? listedSince + draw * LIMITS.probeMs : probe.sentAt + LIMITS.probeMs
}

/** Whether nothing depends on it any longer: it could be probed again at once. */
export function isForgettable(probe: Probe, now: Instant): boolean {
  return now >= probe.sentAt + LIMITS.probeMs
}

function latestFirst(book: ProbeBook): readonly Probe[] {
  return [...book.values()]
    .filter(({ result }) => result !== 'skipped')
    .sort((one, other) => other.sentAt - one.sentAt)
}

/** Those of the last minute, or the last few where there were not as many. */
function judgedTogether(latest: readonly Probe[], now: Instant): readonly Probe[] {
  const recent = latest.filter(({ sentAt }) => sentAt > now - LIMITS.probeWindowMs)
  return recent.length < LIMITS.brakeInstances ? latest.slice(0, LIMITS.brakeInstances) : recent
}

const isFailure = ({ result }: Probe): boolean => result === 'unanswered'
