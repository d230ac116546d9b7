/**
 * Keys that were changed at another hub on the same database: what the old one signs is not
 * believed here either, from the moment on at which the change is read from the trail.
 *
 *   J1  The agent is read anew rather than changed by the fact, which this hub may have made itself.
 */
import { presentKey } from '@chimera/domain/agent/keys'
import type { Sealed } from '@chimera/domain/audit'
import type { AgentId } from '@chimera/domain/ids'
import type { Agents } from '../ports/agents.ts'
import type { Directory } from './directory.ts'

export function followKeys(
  directory: Directory,
  load: Agents['load'],
): (sealed: readonly Sealed<unknown>[]) => Promise<void> {
  return async (sealed) => {
    for (const { fact } of sealed) {
      const changed = keyIn(fact)
      const known = changed && directory.find(changed.agent)
      if (known === undefined || presentKey(known.keys)?.id === changed?.key) continue
      const agent = await load(known.id)
      if (agent !== undefined) directory.enter(agent)
    }
  }
}

type Shape = {
  readonly type?: unknown
  readonly id?: unknown
  readonly change?: { readonly key?: { readonly id?: unknown } }
}

/** Facts come from the database as they were written, by this version or another. */
function keyIn(fact: unknown): { readonly agent: AgentId; readonly key: string } | undefined {
  if (typeof fact !== 'object' || fact === null) return undefined
  const { type, id, change }: Shape = fact
  const key = change?.key?.id
  if (type !== 'key_changed' || typeof id !== 'string' || typeof key !== 'string') return undefined
  return { agent: id as AgentId, key }
}
