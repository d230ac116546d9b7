/**
 * A directory that a planner keeps itself, for those who want no hub in the path (AV-6, AV-7): it
 * hears presence wherever it is said, verifies what it hears, and ranks by the rules of the hub's.
 *
 *   L1  Nothing enters that its agent's key has not signed, or whose time is not now. Each instance
 *       shows what became of the last message under its name.
 *   L2  Who falls silent leaves, by the clock and not by a sweep; when many do at once, it is
 *       presumably this process that hears nobody, and they stay as suspects (P-13).
 *   L3  Whoever cannot be reached directly is offered nothing, however much it posts. Each place is
 *       asked once in five minutes, if a way to ask is handed in.
 *   L4  Of all that is heard so many instances are kept; the rest is not listed.
 */
import {
  type CapabilitiesDeclared,
  readCapability,
  readPresence,
  type Verdict,
} from '@chimera/dialects/moltbook'
import type { AgentId, InstanceId, Instant, OwnerId, PublicKey } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Candidate } from '@chimera/domain/matching/candidate'
import { type Need, type PlannerHit, rankForPlanner } from '@chimera/domain/matching/planner-rank'
import {
  type Declaration,
  decideDeclaration,
  declaredAvailability,
  latestWord,
} from '@chimera/domain/presence/declaration'
import {
  applyBrake,
  BRAKE_OFF,
  type Brake,
  decideEvictions,
} from '@chimera/domain/presence/eviction'
import {
  type Announcement,
  type Availability,
  applyLost,
  applyPresence,
  decidePresence,
  forgetsAt,
  type Liveness,
  livenessOf,
  pulsesOf,
  type Sighting,
} from '@chimera/domain/presence/presence'
import {
  applyProbes,
  decideProbes,
  type Probe,
  type ProbeBook,
  probeDueAt,
  unansweredAt,
} from '@chimera/domain/presence/probe'
import { NO_RUNNING } from '@chimera/domain/trust/running-score'
import type { Chance } from '@chimera/host/chance'
import type { Clock, Timer } from '@chimera/host/clock'
import { createKeyring } from '@chimera/identity/keyring'
import { verifyMessage } from '@chimera/identity/message'
import { readMessage } from '@chimera/identity/received'

export type DirectoryOptions = {
  readonly clock: Clock
  readonly chance: Chance
  /**
   * The key that is bound to an agent: pinned, or as the hub says. `fresh` is asked for when a
   * signature does not fit what was said before, since keys rotate.
   */
  readonly keyOf: (agent: AgentId, fresh: boolean) => MaybeKey | Promise<MaybeKey>
  /** Whether anybody answers there. Without it nobody is asked directly. */
  readonly probe?: (place: string) => Promise<boolean>
  /** In hundredths; what nobody knows a price of counts as free. */
  readonly priceOf?: (agent: AgentId, skill: string) => number
  /** Default: 10 000, about 20 MB. */
  readonly mostInstances?: number
}
type MaybeKey = PublicKey | undefined

export type Heard = Verdict | 'malformed' | 'crowded'

export type DirectoryEntry = {
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly availability: Availability
  readonly liveness: Liveness
  readonly seenAt: Instant
  /** Of the last message under this name, believed or not. */
  readonly verdict: Heard
  /** Where it takes offers. */
  readonly callback?: string
  readonly publicKey?: PublicKey
}

export type DirectoryHit = PlannerHit & { readonly entry: DirectoryEntry }

export type Directory = {
  /** A presence post or a declaration, as bytes or parsed; says what became of it. */
  readonly hear: (message: unknown) => Promise<Heard>
  /** Who could do it now, the best first (AV-7). */
  readonly find: (need: Need) => readonly DirectoryHit[]
  readonly entries: () => readonly DirectoryEntry[]
  readonly close: () => void
}

type Entry = {
  readonly agent: AgentId
  readonly seen?: Sighting
  readonly declared?: Declaration
  readonly verdict: Heard
}
type Judged = { readonly verdict: Heard; readonly key?: PublicKey }
type Place = { readonly listedSince: Instant; readonly draw: number }

const MOST_INSTANCES = 10_000
const NOBODY = '' as OwnerId

export function createDirectory(options: DirectoryOptions): Directory {
  const { clock, chance, keyOf, probe, priceOf = () => 0 } = options
  const { mostInstances = MOST_INSTANCES } = options
  const keyring = createKeyring()
  const entries = new Map<InstanceId, Entry>()
  const places = new Map<string, Place>()
  let book: ProbeBook = new Map()
  let brake: Brake = BRAKE_OFF
  let closed = false
  let waking: Timer = clock.after(LIMITS.probeWaveMs, wake)

  /** L2, L3: once a cadence; in between the clock alone says who is there. */
  function wake(): void {
    sweep()
    void probeDue().finally(() => {
      if (!closed) waking = clock.after(LIMITS.probeWaveMs, wake)
    })
  }

  function sweep(): void {
    const now = clock.now()
    const unanswered = new Map<InstanceId, Instant>()
    const sightings: Sighting[] = []
    for (const [id, { seen, declared }] of entries) {
      if (seen !== undefined) sightings.push(seen)
      const at = unansweredBy(declared)
      if (at !== undefined) unanswered.set(id, at)
    }
    const { facts } = decideEvictions({ pulses: pulsesOf(sightings), unanswered }, brake, now)
    for (const fact of facts) {
      brake = applyBrake(brake, fact)
      const entry = fact.type === 'pulse_lost' ? entries.get(fact.who) : undefined
      if (fact.type !== 'pulse_lost' || entry?.seen === undefined) continue
      entries.set(fact.who, { ...entry, seen: applyLost(entry.seen, fact) })
    }
    for (const [id, entry] of entries) if (isForgettable(entry, now)) entries.delete(id)
  }

  const unansweredBy = (declared: Declaration | undefined): Instant | undefined => {
    const place = placeOf(declared?.callback)
    return place === undefined ? undefined : unansweredAt(book, place)
  }

  async function probeDue(): Promise<void> {
    if (probe === undefined) return
    const now = clock.now()
    const listed = new Set<string>()
    for (const { declared } of entries.values()) {
      const place = placeOf(declared?.callback)
      if (place !== undefined) listed.add(place)
    }
    for (const place of places.keys()) if (!listed.has(place)) places.delete(place)
    for (const place of listed) {
      if (!places.has(place)) places.set(place, { listedSince: now, draw: chance.fraction() })
    }
    const due = [...places].filter(([place, known]) => probeDueAt(book.get(place), known) <= now)
    const asked = due.slice(0, LIMITS.probesAtOnce).map(async ([address]): Promise<Probe> => {
      const answered = await probe(address).catch(() => false)
      return { address, sentAt: now, result: answered ? 'answered' : 'unanswered' }
    })
    const ended = await Promise.all(asked)
    const { facts } = decideProbes(book, { ended, brake }, clock.now())
    const known = applyProbes(book, facts)
    book = new Map([...known].filter(([place]) => places.has(place)))
  }

  /** L1: under an agent that is known, by the key that is bound to it. */
  async function judge(agent: AgentId, message: object): Promise<Judged> {
    for (const fresh of [false, true]) {
      const key = await keyOf(agent, fresh)
      if (key === undefined) return { verdict: 'agent_unknown' }
      if (verifyMessage(message, key, keyring).ok) return { verdict: 'verified', key }
    }
    return { verdict: 'signature_invalid' }
  }

  async function hearPost(announcement: Announcement, message: object): Promise<Heard> {
    const { agent, instance } = announcement
    const { verdict } = await judge(agent, message)
    if (verdict !== 'verified') return note(instance, agent, verdict)
    const entry = entries.get(instance)
    if (entry === undefined && entries.size >= mostInstances) return 'crowded'
    const decision = decidePresence(entry?.seen, announcement, clock.now())
    if (!decision.ok) return note(instance, agent, decision.refusal)
    if (entry !== undefined && entry.agent !== agent) return 'caller_forbidden'
    const seen = decision.facts.reduce<Sighting | undefined>(applyPresence, entry?.seen)
    entries.set(instance, { ...entry, agent, verdict, ...(seen && { seen }) })
    return verdict
  }

  async function hearDeclared(declared: CapabilitiesDeclared, message: object): Promise<Heard> {
    const { agent, instance, claimedKey } = declared
    const { verdict, key } = await judge(agent, message)
    if (verdict !== 'verified') return note(instance, agent, verdict)
    if (key !== claimedKey) return note(instance, agent, 'key_mismatch')
    const entry = entries.get(instance)
    if (entry === undefined && entries.size >= mostInstances) return 'crowded'
    const known = { declared: entry?.declared, seen: entry?.seen }
    const decision = decideDeclaration(known, declared, clock.now())
    if (!decision.ok) return note(instance, agent, decision.refusal)
    entries.set(instance, { ...entry, agent, verdict, declared })
    return verdict
  }

  /** Of an instance that is listed; others leave no trace, or inventing names would fill this. */
  function note(instance: InstanceId, agent: AgentId, verdict: Heard): Heard {
    const entry = entries.get(instance)
    if (entry?.agent === agent) entries.set(instance, { ...entry, verdict })
    return verdict
  }

  function show(instance: InstanceId, entry: Entry, now: Instant): DirectoryEntry | undefined {
    const { agent, seen, declared, verdict } = entry
    if (seen === undefined) return undefined
    return {
      agent,
      instance,
      availability: declaredAvailability({ seen, declared }, now, brake),
      liveness: livenessOf(seen, now, brake),
      seenAt: seen.seenAt,
      verdict,
      ...(declared?.callback !== undefined && { callback: declared.callback }),
      ...(declared && { publicKey: declared.claimedKey }),
    }
  }

  function candidateOf(seen: Sighting, entry: Entry, shown: DirectoryEntry): Candidate {
    const { slotsFree, slotsTotal, load } = seen.last
    const { agent, declared } = entry
    const takes = shown.availability === 'available' || shown.availability === 'busy'
    return {
      agent,
      instance: shown.instance,
      // Whose it is and how it did before, the hub knows; here all are newcomers.
      owner: NOBODY,
      ...NO_RUNNING,
      settledCount: 0,
      offers: latestWord(seen, declared).capabilities.map((skill) => ({
        skill,
        costCents: priceOf(agent, skill),
      })),
      slotsFree,
      slotsTotal,
      load,
      seenAt: seen.seenAt,
      online: shown.liveness !== 'offline',
      accepting: takes && unansweredBy(declared) === undefined,
    }
  }

  return {
    async hear(message) {
      const parsed = message instanceof Uint8Array ? parse(message) : message
      if (typeof parsed !== 'object' || parsed === null) return 'malformed'
      const post = readPresence(parsed)
      if (post.ok) return hearPost(post.value.announcement, parsed)
      const declared = readCapability(parsed)
      return declared.ok ? hearDeclared(declared.value, parsed) : 'malformed'
    },
    find(need) {
      const now = clock.now()
      const shown = new Map<InstanceId, DirectoryEntry>()
      const candidates: Candidate[] = []
      for (const [id, entry] of entries) {
        const each = show(id, entry, now)
        if (each === undefined || entry.seen === undefined) continue
        shown.set(id, each)
        candidates.push(candidateOf(entry.seen, entry, each))
      }
      return rankForPlanner(need, candidates, now).flatMap((hit) => {
        const entry = hit.candidate.instance && shown.get(hit.candidate.instance)
        return entry ? [{ ...hit, entry }] : []
      })
    },
    entries() {
      const now = clock.now()
      return [...entries].flatMap(([id, entry]) => show(id, entry, now) ?? [])
    },
    close() {
      closed = true
      waking.cancel()
    },
  }
}

function parse(bytes: Uint8Array): unknown {
  const read = readMessage(bytes)
  return read.ok ? read.message : undefined
}

/** What is asked is a place, so that many who name one host do not make us knock there often. */
function placeOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : undefined
}

/** Nothing that was said by it could still be played again (D5 in the domain). */
function isForgettable({ seen, declared }: Entry, now: Instant): boolean {
  if (declared !== undefined && now < declared.expiresAt) return false
  const at = seen === undefined ? now : forgetsAt(seen)
  return at !== undefined && now >= at
}
