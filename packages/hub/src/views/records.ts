/**
 * What was ordered of agents by their records, in memory, so that whoever lists agents touches no
 * database. Rebuilt from the store at start.
 *
 *   B1  Only of agents that are registered, so it is bounded as they are.
 *   B2  The highest version is kept: two changes may be heard of in the wrong order.
 */
import { accepts, type Standing } from '@chimera/domain/agent/condition'
import { type AgentRecord, firstRecord, presentRecord } from '@chimera/domain/agent/record'
import type { AgentId } from '@chimera/domain/ids'
import type { Candidate } from '@chimera/domain/matching/candidate'
import type { Keep } from '../ports/keep.ts'

export type Records = {
  readonly note: (record: AgentRecord) => void
  /** How the agent stands, given how it is seen. */
  readonly standingOf: (agent: AgentId, seen: Standing) => Standing
  /** Whether it was ordered to take nothing on. */
  readonly isClosed: (agent: AgentId) => boolean
  /** The same candidates; who was ordered to take nothing on accepts nothing. */
  readonly restrain: (candidates: Iterable<Candidate>) => Iterable<Candidate>
  /** From now on, whoever's record changes is told to this one. */
  readonly follow: (changed: (agent: AgentId) => void) => void
}

export function createRecords(): Records {
  const records = new Map<AgentId, AgentRecord>()
  let changed: (agent: AgentId) => void = () => undefined
  const isClosed = (agent: AgentId): boolean => {
    const record = records.get(agent)
    return record !== undefined && !accepts(record.standing.condition)
  }
  return {
    note(record) {
      const known = records.get(record.agent)
      if (known !== undefined && known.version > record.version) return
      records.set(record.agent, record)
      changed(record.agent)
    },
    standingOf: (agent, seen) =>
      presentRecord(records.get(agent) ?? firstRecord(agent, seen), seen).standing,
    isClosed,
    *restrain(candidates) {
      for (const each of candidates)
        yield isClosed(each.agent) ? { ...each, accepting: false } : each
    },
    follow(listener) {
      changed = listener
    },
  }
}

export async function recallRecords(
  { profiles }: Pick<Keep, 'profiles'>,
  records: Records,
): Promise<void> {
  for await (const page of profiles.loadAll()) page.forEach(records.note)
}
