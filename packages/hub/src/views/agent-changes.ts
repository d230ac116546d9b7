/**
 * Agents that were registered, changed or removed at another hub on the same database: here too,
 * from the moment on at which the change is read from the trail.
 *
 *   J1  The agent is read anew rather than changed by the fact, which this hub may have made
 *       itself. Of one that is known as the fact says, nothing is read.
 *   J2  Registering is a sign of life (CH-3), at every hub.
 *   J3  Until all agents have been read once, nothing is done: what the trail says of them by then
 *       is in what is read.
 */
import { presentKey } from '@chimera/domain/agent/keys'
import type { Sealed } from '@chimera/domain/audit'
import type { AgentId, Instant } from '@chimera/domain/ids'
import type { Agents } from '../ports/agents.ts'
import type { Profiles } from '../ports/profiles.ts'
import type { Directory } from './directory.ts'
import type { Observed } from './observed.ts'
import type { Records } from './records.ts'

export type ChangeHands = {
  readonly directory: Directory
  readonly observed: Pick<Observed, 'forget'>
  readonly records: Pick<Records, 'note'>
  readonly load: Agents['load']
  readonly loadRecord: Profiles['load']
}

export type AgentChanges = {
  readonly follow: (sealed: readonly Sealed<unknown>[]) => Promise<void>
  /** All agents have been read. */
  readonly begin: () => void
}

/** What is to be read, and the last time that it registered. */
type Seen = { readonly heardAt?: Instant; readonly record?: true; readonly agent?: true }

export function followAgents(hands: ChangeHands): AgentChanges {
  const { directory, observed, records, load, loadRecord } = hands
  let begun = false

  async function read(id: AgentId, { heardAt, record, agent: changed }: Seen): Promise<void> {
    if (changed) {
      const agent = await load(id)
      if (agent !== undefined) directory.enter(agent, heardAt)
      if (agent?.removedAt !== undefined) observed.forget(id)
    }
    const ordered = record && (await loadRecord(id))
    if (ordered) records.note(ordered)
  }

  function isKnown({ type, id, change }: Shape): boolean {
    if (type !== 'key_changed') return false
    const known = directory.find(id as AgentId)
    const key = change?.key?.id
    // A recovery that was called off names none.
    return known === undefined || (key !== undefined && presentKey(known.keys)?.id === key)
  }

  return {
    begin: () => {
      begun = true
    },
    async follow(sealed) {
      if (!begun) return
      const seen = new Map<AgentId, Seen>()
      for (const { fact, recordedAt } of sealed) {
        const shape = shapeOf(fact)
        const id = shape && agentIn(shape)
        if (shape === undefined || id === undefined || isKnown(shape)) continue
        const before = seen.get(id) ?? {}
        if (shape.type === 'record_updated') seen.set(id, { ...before, record: true })
        else if (!LIFE.has(String(shape.type))) seen.set(id, { ...before, agent: true })
        else seen.set(id, { ...before, agent: true, heardAt: recordedAt })
      }
      for (const [id, each] of seen) await read(id, each)
    },
  }
}

const LIFE: ReadonlySet<string> = new Set(['agent_registered', 'agent_returned', 'profile_changed'])
const OTHERS: ReadonlySet<string> = new Set(['agent_removed', 'alias_claimed', 'key_changed'])

type Shape = {
  readonly type?: unknown
  readonly id?: unknown
  readonly change?: { readonly key?: { readonly id?: unknown } }
  readonly record?: { readonly agent?: unknown }
}

/** Facts come from the database as they were written, by this version or another. */
function shapeOf(fact: unknown): Shape | undefined {
  return typeof fact === 'object' && fact !== null ? fact : undefined
}

function agentIn({ type, id, record }: Shape): AgentId | undefined {
  const word = String(type)
  const named = word === 'record_updated' ? record?.agent : id
  const known = word === 'record_updated' || LIFE.has(word) || OTHERS.has(word)
  return known && typeof named === 'string' ? (named as AgentId) : undefined
}
