/**
 * Agents on this machine alone, for whoever has no hub: in memory, or in a file. It decides as a
 * hub does, by the same rules of the domain, and says in each answer that nobody else sees it.
 *
 *   M1  What an update changes is written before it is answered; with it the change itself, which
 *       is the audit (SK-12) where there is no trail.
 *   M2  It computes nothing that takes a network: score and uptime stay what the profile claims.
 */

import { checkAgentProfile } from '@chimera/dialects/skills/checks'
import { decodeStateUpdate } from '@chimera/dialects/skills/decode'
import { encodeCondition } from '@chimera/dialects/skills/encode'
import type { AgentProfile } from '@chimera/dialects/skills/profile'
import { SKILL_CODES } from '@chimera/dialects/skills/refusals'
import { type AgentRecord, decideUpdate, firstRecord } from '@chimera/domain/agent/record'
import type { AgentId, Instant } from '@chimera/domain/ids'
import { lock } from '@chimera/skill/file-answers'
import { openJournal } from '@chimera/skill/journal'
import { type AgentRegistry, RegistryFailure, type Shown } from './registry.ts'

export type EmbeddedRegistryOptions = {
  readonly now: () => Instant
  /** Where it is kept; absent: in memory. One process at a time. */
  readonly path?: string
}

/** An agent, and what was changed last with its reason. */
type Entry = {
  readonly profile: AgentProfile
  readonly record: AgentRecord
  readonly at: Instant
  readonly change: string
}

const WARNING = [
  'No hub is configured: the profile is kept on this machine, and nobody else sees it.',
  'Name a hub in the providers to register it there.',
].join(' ')

export async function openEmbeddedRegistry(
  options: EmbeddedRegistryOptions,
): Promise<AgentRegistry> {
  const { now, path } = options
  const file = path === undefined ? undefined : await openFile(path)
  const agents = new Map<string, Entry>(file?.journal.first)
  file?.journal.holds(() => agents.values())

  function find(agent: string): Entry {
    const entry = agents.get(agent.toLowerCase())
    if (entry === undefined) throw new RegistryFailure('AGENT_NOT_FOUND', 'not on this machine')
    return entry
  }

  async function keep(entry: Entry): Promise<Entry> {
    agents.set(entry.profile.agent_id, entry)
    await file?.journal.write(entry)
    return entry
  }

  return {
    name: 'this machine alone',
    show: async (agent) => shown(find(agent)),

    async update(asked) {
      const { agent, update } = decodeStateUpdate(asked)
      const before = find(agent)
      const decision = decideUpdate(before.record, update, now())
      if (!decision.ok) {
        const code = SKILL_CODES[decision.refusal]
        throw new RegistryFailure(code, `at version ${before.record.version}`)
      }
      const [fact] = decision.facts
      const change = JSON.stringify(asked.state_updates)
      const after =
        fact === undefined
          ? before
          : await keep({ ...before, record: fact.record, at: now(), change })
      const profile = shown(after)
      return {
        success: true,
        updated_profile: profile,
        new_version: profile.version,
        embedded: true,
      }
    },

    async register(profile) {
      const id = profile.agent_id.toLowerCase() as AgentId
      const known = agents.get(id)
      const { signature: _, ...stated } = { ...profile, agent_id: id }
      const record = known?.record ?? firstRecord(id, idleSince(now()))
      await keep({ profile: stated, record, at: now(), change: 'registered' })
      return { registered: false, warning: WARNING }
    },

    close: async () => file?.close(),
  }
}

async function openFile(path: string) {
  const unlock = await lock(`${path}.lock`)
  try {
    const journal = await openJournal<Entry>({
      path,
      read: readEntry,
      nameOf: ({ profile }) => profile.agent_id,
      isOver: () => false,
      unusable: (_, message) => new RegistryFailure('UNAVAILABLE', message),
    })
    return {
      journal,
      async close(): Promise<void> {
        await journal.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

const idleSince = (since: Instant) => ({
  condition: { name: 'idle', since } as const,
  workload: { running: 0, awaiting: 0, slotsTotal: 0, slotsFree: 0 },
})

/** What was said at registering, with the state as it was decided here since. */
function shown({ profile, record }: Entry): Shown {
  const { lastExecutionAt, walletBalance } = record
  return {
    ...profile,
    ...encodeCondition(record.standing),
    pending_tasks: record.pendingTasks,
    ...(lastExecutionAt !== undefined && {
      last_execution: new Date(lastExecutionAt).toISOString(),
    }),
    ...(walletBalance !== undefined && { wallet_balance: walletBalance }),
    version: record.version,
    embedded: true,
  }
}

/** The file is this machine's own, so its record is believed; a line of another make is not. */
function readEntry(line: unknown): Entry | undefined {
  const { profile, record }: Partial<Record<keyof Entry, unknown>> = Object(line)
  const isRecord = typeof record === 'object' && record !== null && 'standing' in record
  return checkAgentProfile(profile).ok && isRecord ? (line as Entry) : undefined
}
