/**
 * What another hub of the same database has told, taken into this one's views. The other has proven
 * and kept it, so nothing is judged here but its place in time.
 */
import * as moltbook from '@chimera/dialects/moltbook'
import * as openclaw from '@chimera/dialects/openclaw'
import type { Hub } from './act/hub.ts'
import type { Notice, Told } from './notice.ts'
import type { Observation } from './views/observed.ts'

export function hearNotice(hub: Hub, { told, beats }: Notice): void {
  const now = hub.now()
  for (const each of told) {
    take(hub, each)
    hub.publish(each.topic, each.message)
  }
  for (const [agent, at] of beats) {
    // Its clock may be ahead of ours, and another sign of life may have come since.
    const heardAt = hub.directory.heardAt(agent)
    if (heardAt === undefined || at > heardAt) hub.directory.beat(agent, Math.min(at, now))
  }
}

function take(hub: Hub, { topic, at, message }: Told): void {
  const now = hub.now()
  if (topic === 'presence') {
    const read = moltbook.readPresence(message)
    if (!read.ok) return
    const { announcement } = read.value
    hub.presence.restore({ announcement, at: Math.min(at, now) }, now)
  }
  if (topic === 'capability') {
    const read = moltbook.readCapability(message)
    if (!read.ok) return
    const { type: _, correlation: __, ...declaration } = read.value
    hub.presence.restoreDeclaration(declaration)
  }
  if (topic === 'identity') note(hub, openclaw.readIdentity(message))
  if (topic === 'status') note(hub, openclaw.readStatusUpdate(message))
}

type Read = { readonly ok: true; readonly value: Observation } | { readonly ok: false }

function note(hub: Hub, read: Read): void {
  if (!read.ok || hub.directory.find(read.value.agent) === undefined) return
  const weighed = hub.observed.weigh(read.value, hub.now())
  if (weighed.ok) weighed.news.forEach(hub.observed.enter)
}
