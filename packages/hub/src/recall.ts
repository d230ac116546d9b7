/**
 * What the views knew before the hub stopped, read back from what is kept (A3). What is about an
 * agent that is gone is let go.
 */
import type { AgentId } from '@chimera/domain/ids'
import { restoreStatus } from './act/feed.ts'
import type { Hub } from './act/hub.ts'

/** Once all agents are in the directory. */
export async function recallObservations(
  hub: Pick<Hub, 'keep' | 'directory' | 'presence' | 'observed' | 'feed'>,
): Promise<void> {
  const { observations } = hub.keep
  const gone = new Set<string>()
  const isThere = (about: string): boolean => {
    const there = hub.directory.find(about as AgentId) !== undefined
    if (!there) gone.add(about)
    return there
  }
  for await (const page of observations.loadAll('declaration')) {
    for (const { about, body } of page) if (isThere(about)) hub.presence.restoreDeclaration(body)
  }
  for (const kind of ['identity', 'condition', 'score'] as const) {
    for await (const page of observations.loadAll(kind)) {
      for (const each of page) if (isThere(each.about)) hub.observed.enter(each)
    }
  }
  for (const kind of ['rumour', 'status'] as const) {
    for await (const page of observations.loadAll(kind)) {
      for (const each of page) restoreStatus(hub, each)
    }
  }
  for (const about of gone) {
    // Another hub may have registered it a moment ago.
    const agent = await hub.keep.agents.load(about as AgentId)
    if (agent === undefined || agent.removedAt !== undefined) await observations.forget(about)
  }
}
