/**
 * Whether hubs of one database agree on what they show: who is on the network and how, what was
 * said by whom, and how far the scores have followed. Looked at in real time, whatever time the
 * hubs keep.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Agent } from '@chimera/domain/agent/agent'
import type { RunningHub } from '../src/start.ts'

// Each notes for itself when it heard of something.
const APART_MS = 1_000

/** Undefined once they do; else what still differs when the time is over. */
export async function agreed(
  hubs: readonly RunningHub[],
  withinMs: number,
  { whole }: { readonly whole: boolean },
): Promise<string | undefined> {
  const until = performance.now() + withinMs
  for (;;) {
    const difference = followedApart(hubs) ?? (whole ? differenceOf(hubs) : undefined)
    if (difference === undefined || performance.now() > until) return difference
    // A test's clock jumps over the moment at which each would have let go of the silent.
    for (const { hub } of hubs) hub.directory.sweep(hub.now())
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** Quick to see, and mostly where they differ. */
function followedApart(hubs: readonly RunningHub[]): string | undefined {
  const seqs = new Set(hubs.map(({ hub }) => hub.scores.seq()))
  return seqs.size > 1 ? `facts followed: ${[...seqs].join(' and ')}` : undefined
}

function differenceOf([first, ...others]: readonly RunningHub[]): string | undefined {
  if (first === undefined) return undefined
  // P-13: a hub that brakes keeps those that others let go; who is heard is heard at all.
  const braked = [first, ...others].some(({ hub }) => hub.presence.brake().on)
  const known = [first, ...others].map((each) => instancesOf(each))
  // When the lost are forgotten counts from when each hub let go of them, which a clock that jumps
  // sets apart: one that is offline may be gone at some. Where all have it they say the same of it.
  const isKept = ({ liveness, last }: InstanceSeen): boolean =>
    liveness !== 'offline' ||
    known.every((list) => list.some((other) => other.last.instance === last.instance))
  const seen = viewOf(first, braked, isKept)
  for (const each of others) {
    const view = viewOf(each, braked, isKept)
    for (const [name, part] of Object.entries(seen.parts)) {
      const other = view.parts[name as keyof typeof view.parts]
      const at = part.findIndex((one, place) => !isDeepStrictEqual(one, other[place]))
      if (at >= 0) return `${name}: ${shown(part[at])} and ${shown(other[at])}`
      if (other.length > part.length) return `${name}: ${shown(other[part.length])}, at one only`
    }
    for (const [agent, at] of seen.heardAt) {
      const apart = Math.abs(at - (view.heardAt.get(agent) ?? Number.NEGATIVE_INFINITY))
      if (apart > APART_MS) return `${agent} was heard ${apart} ms apart`
    }
  }
  return undefined
}

const shown = (part: unknown): string => JSON.stringify(part ?? 'nothing')

const instancesOf = ({ hub }: RunningHub) =>
  [...hub.directory.instances(hub.now())].map(({ shown: { seen, ...rest } }) => ({
    last: seen.last,
    liveness: rest.liveness,
    availability: rest.availability,
    declared: rest.declared,
  }))
type InstanceSeen = ReturnType<typeof instancesOf>[number]

function viewOf(running: RunningHub, braked: boolean, isKept: (one: InstanceSeen) => boolean) {
  const { hub } = running
  const now = hub.now()
  const agents = [...hub.directory.all()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const livenessOf = ({ id }: Agent) => {
    const liveness = hub.directory.livenessOf(id, now)
    return braked && liveness !== 'online' ? 'silent' : liveness
  }
  const compared = instancesOf(running).filter((one) =>
    braked ? one.liveness === 'online' : isKept(one),
  )
  const parts = {
    agents: plain(agents),
    liveness: agents.map(livenessOf),
    closed: agents.map(({ id }) => hub.records.isClosed(id)),
    said: plain(
      agents.map(({ id }) => {
        const { condition, ...said } = hub.observed.of(id)
        if (condition === undefined) return said
        const { heardAt: _, ...stated } = condition
        return { ...said, condition: stated }
      }),
    ),
    instances: plain(compared.toSorted((a, b) => (a.last.instance < b.last.instance ? -1 : 1))),
    feed: plain(
      [...hub.feed.all()]
        .map(([alias, { holder, last }]) => ({ alias, holder, report: last?.report }))
        .toSorted((a, b) => (a.alias < b.alias ? -1 : 1)),
    ),
  }
  const heardAt = new Map(
    agents.flatMap((agent) => {
      const at = hub.directory.heardAt(agent.id)
      return at === undefined || livenessOf(agent) !== 'online' ? [] : [[agent.id, at] as const]
    }),
  )
  return { parts, heardAt }
}

/** As it would go over a wire: what is not there and what is undefined are the same. */
const plain = (list: readonly unknown[]): readonly unknown[] => JSON.parse(JSON.stringify(list))
