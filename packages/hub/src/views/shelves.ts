/**
 * Every agent on the shelves of what it offers: one for each skill by its bare name, and some for
 * what else is asked for, several skills together or certain versions, made when it is first asked
 * for and kept while it is asked for more often than others.
 *
 *   H1  A shelf holds how everybody looks at one moment, the last that was settled. What happens
 *       changes it at once; what time alone changes is due at a moment that is known beforehand,
 *       and is made up for before a search. So after `settle(now)` it holds what is so now (D3).
 *   H2  A clock that was set back lets nothing stand: everybody is looked at again.
 */
import type { Agent } from '@chimera/domain/agent/agent'
import { readSkillRef } from '@chimera/domain/agent/skill-version'
import type { AgentId, Instant } from '@chimera/domain/ids'
import {
  type Candidate,
  isConsidered,
  type Offer,
  priceAll,
  type Search,
} from '@chimera/domain/matching/candidate'
import { mayHaveTurn } from '@chimera/domain/matching/fair'
import { placeOf, type Ranked, rank } from '@chimera/domain/matching/matching'
import { createMoments } from './moments.ts'
import { createShelf, type Lines, type Shelf, type Stand } from './shelf.ts'

export type Shelves = {
  /** Enters an agent or replaces what it offers. */
  readonly enter: (agent: Agent) => void
  readonly leave: (id: AgentId) => void
  /** Something about it has changed, but not what it offers. */
  readonly reconsider: (id: AgentId) => void
  readonly reconsiderAll: () => void
  /** It was heard again, which changes nothing about it but when. */
  readonly hear: (id: AgentId) => void
  /** Makes up for what time alone has changed. */
  readonly settle: (now: Instant) => void
  /** Those who offer all of these and are within the bounds; undefined when nobody does. */
  readonly find: (sought: Sought) => Lines | undefined
  /** How many agents offer each skill, by its bare name. */
  readonly counts: () => ReadonlyMap<string, number>
}

/** All of the skills. */
export type Sought = Pick<Search, 'skills' | 'minScoreMicro' | 'maxCostCents'>

/** How an agent looks to whoever asks for these skills; and until when, if nothing happens. */
export type Look = { readonly candidate: Candidate; readonly steadyUntil: Instant }

export type Looking = {
  readonly look: (agent: Agent, skills: readonly string[], now: Instant) => Look | undefined
  readonly offersOf: (agent: Agent, skills: readonly string[], now: Instant) => readonly Offer[]
}

type Member = {
  readonly agent: Agent
  readonly stands: Stand[]
  /** When one of its versions is removed. */
  pricedUntil: Instant
  steadyUntil: Instant
  /** When it is looked at again at the latest; never once it has left. */
  wakesAt: Instant
}
type Filled = { readonly shelf: Shelf; readonly members: Set<Member> }

const NO_SKILLS: readonly string[] = []
const NEVER = Number.POSITIVE_INFINITY
const LONG_AGO = Number.NEGATIVE_INFINITY

/**
 * Each is made by looking at everybody with its rarest skill, and costs a little with every change
 * of whoever stands there; so many are asked for again and again, rather than once.
 */
const MOST_MADE = 64

export function createShelves({ look, offersOf }: Looking): Shelves {
  const members = new Map<AgentId, Member>()
  const bare = new Map<string, Filled>()
  /** The one that was asked for last is the last. */
  const made = new Map<string, Filled>()
  const moments = createMoments<Member>()
  let settledAt: Instant = LONG_AGO

  function price(member: Member, stand: Stand): void {
    const { skills } = stand.shelf
    stand.price = priceAll(skills, offersOf(member.agent, skills, settledAt))
  }

  function priceAgain(member: Member): void {
    for (const stand of member.stands) price(member, stand)
    member.pricedUntil = nextRemoval(member.agent, settledAt)
  }

  function arrange(member: Member, stands: readonly Stand[] = member.stands): void {
    const { agent } = member
    const seen = look(agent, NO_SKILLS, settledAt)
    if (seen === undefined) return
    const { candidate, steadyUntil } = seen
    if (settledAt >= member.pricedUntil) priceAgain(member)
    const isFound = agent.endpoint !== undefined && isConsidered(candidate)
    const isNewcomer = isFound && mayHaveTurn(candidate)
    for (const stand of stands) {
      const placing = isFound && stand.price ? placeOf(candidate, stand.price) : undefined
      stand.shelf.move(stand, placing, isNewcomer)
    }
    member.steadyUntil = Math.min(steadyUntil, member.pricedUntil)
    wake(member)
  }

  function show({ agent, shelf: { skills } }: Stand): Ranked | undefined {
    const seen = look(agent, skills, settledAt)
    return seen && rank({ skills, match: 'all' }, [seen.candidate], settledAt)[0]
  }

  function wake(member: Member): void {
    if (member.steadyUntil >= member.wakesAt) return
    member.wakesAt = member.steadyUntil
    moments.add(member.wakesAt, member)
  }

  function put(member: Member, { shelf, members: all }: Filled): Stand {
    const { agent } = member
    const stand: Stand = { agent, shelf, price: undefined, spot: undefined, ranked: undefined }
    price(member, stand)
    member.stands.push(stand)
    all.add(member)
    return stand
  }

  function shelfNamed(name: string): Filled {
    const known = bare.get(name)
    if (known !== undefined) return known
    const filled = { shelf: createShelf([name]), members: new Set<Member>() }
    bare.set(name, filled)
    return filled
  }

  function leave(id: AgentId): void {
    const member = members.get(id)
    if (member === undefined) return
    members.delete(id)
    member.wakesAt = NEVER
    for (const stand of member.stands) stand.shelf.move(stand, undefined, false)
    for (const name of namesOf(member.agent)) {
      const filled = bare.get(name)
      filled?.members.delete(member)
      if (filled?.members.size === 0) bare.delete(name)
    }
    for (const filled of made.values()) filled.members.delete(member)
  }

  function drop({ shelf, members: all }: Filled): void {
    for (const { stands } of all) {
      const at = stands.findIndex((stand) => stand.shelf === shelf)
      if (at >= 0) stands.splice(at, 1)
    }
  }

  function make(skills: readonly string[]): Filled | undefined {
    const shelf = createShelf(skills)
    let rarest: Filled | undefined
    for (const name of shelf.names) {
      const filled = bare.get(name)
      if (filled === undefined) return undefined
      if (rarest === undefined || filled.members.size < rarest.members.size) rarest = filled
    }
    const filled = { shelf, members: new Set<Member>() }
    for (const member of rarest?.members ?? []) {
      if (offersAll(namesOf(member.agent), shelf)) arrange(member, [put(member, filled)])
    }
    return filled
  }

  return {
    enter(agent) {
      leave(agent.id)
      const stands: Stand[] = []
      const pricedUntil = nextRemoval(agent, settledAt)
      const member: Member = { agent, stands, pricedUntil, steadyUntil: NEVER, wakesAt: NEVER }
      members.set(agent.id, member)
      const names = namesOf(agent)
      for (const name of names) put(member, shelfNamed(name))
      for (const filled of made.values()) if (offersAll(names, filled.shelf)) put(member, filled)
      arrange(member)
    },
    leave,

    reconsider(id) {
      const member = members.get(id)
      if (member !== undefined) arrange(member)
    },
    hear(id) {
      // Until when it is steady is found when the moment comes that was known before (H1).
      for (const stand of members.get(id)?.stands ?? []) stand.ranked = undefined
    },
    reconsiderAll() {
      for (const member of members.values()) arrange(member)
    },

    settle(now) {
      const isBack = now < settledAt
      settledAt = now
      if (isBack) {
        for (const member of members.values()) {
          member.pricedUntil = LONG_AGO
          arrange(member)
        }
      }
      for (;;) {
        const due = moments.takeDue(now)
        if (due === undefined) return
        const member = due.item
        // It has left, or was looked at when an earlier moment had come.
        if (due.at !== member.wakesAt) continue
        member.wakesAt = NEVER
        if (member.steadyUntil <= now) arrange(member)
        else wake(member)
      }
    },

    find: ({ skills, ...bounds }) => shelfFor(skills)?.lines(bounds, show),

    counts: () => new Map([...bare].map(([name, { members: all }]) => [name, all.size])),
  }

  function shelfFor(skills: readonly string[]): Shelf | undefined {
    const asked = [...new Set(skills)]
    const [first] = asked
    if (asked.length === 1 && first !== undefined && bare.has(first)) return bare.get(first)?.shelf
    const refs = asked.map(readSkillRef)
    if (refs.length === 0 || refs.includes(undefined)) return undefined
    if (refs.length === 1 && refs[0]?.major === undefined) return undefined
    const key = asked.join(' ')
    const filled = made.get(key) ?? make(asked)
    if (filled === undefined) return undefined
    made.delete(key)
    made.set(key, filled)
    if (made.size > MOST_MADE) {
      const [oldest] = made
      if (oldest !== undefined) drop(oldest[1])
      if (oldest !== undefined) made.delete(oldest[0])
    }
    return filled.shelf
  }
}

function namesOf({ skills }: Agent): ReadonlySet<string> {
  return new Set(skills.map(({ name }) => name))
}

function offersAll(names: ReadonlySet<string>, { names: asked }: Shelf): boolean {
  return asked.every((name) => names.has(name))
}

/** When the next of its versions is removed. */
function nextRemoval({ skills }: Agent, now: Instant): Instant {
  let next = NEVER
  for (const { deprecation } of skills) {
    if (deprecation !== undefined && deprecation.removedAt > now) {
      next = Math.min(next, deprecation.removedAt)
    }
  }
  return next
}
