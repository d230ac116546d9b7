/**
 * What another hub of the same database has told, taken into this one's views. The other has proven
 * and kept it, so nothing is judged here but its place in time.
 */
import * as moltbook from '@chimera/dialects/moltbook'
import * as openclaw from '@chimera/dialects/openclaw'
import type { AgentId } from '@chimera/domain/ids'
import { restoreStatus } from './act/feed.ts'
import type { Hub } from './act/hub.ts'
import type { Notice, Told } from './notice.ts'
import type { Noted } from './ports/carrier.ts'
import type { Observation } from './views/observed.ts'

type Words = Pick<Notice, 'told' | 'beats'>

/** Answers with what is of agents that are not known here yet. */
export function hearNotice(hub: Hub, { told, beats }: Words): Words {
  const now = hub.now()
  const early = told.filter((each) => {
    if (take(hub, each) === 'early') return true
    hub.publish(each.topic, each.message)
    return false
  })
  const beatsEarly = beats.filter(([agent, at]) => {
    if (hub.directory.find(agent) === undefined) return true
    // Its clock may be ahead of ours, and another sign of life may have come since.
    const heardAt = hub.directory.heardAt(agent)
    if (heardAt === undefined || at > heardAt) hub.directory.beat(agent, Math.min(at, now))
    return false
  })
  return { told: early, beats: beatsEarly }
}

/** What was kept anew, read from where it is kept. */
export async function hearNoted(hub: Hub, names: readonly Noted[]): Promise<void> {
  for (const each of await hub.keep.observations.load(names)) {
    if (each.kind !== 'score') restoreStatus(hub, each)
    else if (hub.directory.find(each.subject as AgentId) !== undefined) hub.observed.enter(each)
  }
}

function take(hub: Hub, { topic, at, message }: Told): 'early' | undefined {
  const now = hub.now()
  if (topic === 'presence') {
    const read = moltbook.readPresence(message)
    if (!read.ok) return undefined
    const { announcement } = read.value
    hub.presence.restore({ announcement, at: Math.min(at, now) }, now)
  }
  if (topic === 'capability') {
    const read = moltbook.readCapability(message)
    if (!read.ok) return undefined
    const { type: _, correlation: __, ...declaration } = read.value
    hub.presence.restoreDeclaration(declaration)
  }
  if (topic === 'identity') return note(hub, openclaw.readIdentity(message))
  if (topic === 'status') return note(hub, openclaw.readStatusUpdate(message))
  return undefined
}

type Read = { readonly ok: true; readonly value: Observation } | { readonly ok: false }

function note(hub: Hub, read: Read): 'early' | undefined {
  if (!read.ok) return undefined
  if (hub.directory.find(read.value.agent) === undefined) return 'early'
  const weighed = hub.observed.weigh(read.value, hub.now())
  if (weighed.ok) weighed.news.forEach(hub.observed.enter)
  return undefined
}
