/** The records of agents under a version (SK-12), and how long an agent was there. */
import type { Standing } from '@chimera/domain/agent/condition'
import type { AgentRecord, RecordUpdate, RecordUpdated } from '@chimera/domain/agent/record'
import type { Decision } from '@chimera/domain/decision'
import type { AgentId, Instant } from '@chimera/domain/ids'
import type { Availability } from '@chimera/domain/presence/presence'
import type { Refusal } from '@chimera/domain/refusals'
import type { Target } from './agents.ts'

export type RecordOutcome = {
  readonly decision: Decision<RecordUpdated, Refusal>
  /** As it is afterwards. */
  readonly record?: AgentRecord
}

export type Profiles = {
  /** Decided and kept with its fact, one after another for each agent. */
  readonly update: (target: Target, update: RecordUpdate, seen: Standing) => Promise<RecordOutcome>
  /** Absent until somebody has written one. */
  readonly load: (agent: AgentId) => Promise<AgentRecord | undefined>
  readonly loadAll: () => AsyncIterable<readonly AgentRecord[]>
  readonly upMs: (
    agent: AgentId,
    span: { readonly since: Instant; readonly until: Instant },
  ) => Promise<number>
  /** When its instances were there, and what they said of themselves. */
  readonly spans: (
    agent: AgentId,
    span: { readonly since: Instant; readonly until: Instant },
  ) => Promise<
    readonly {
      readonly state: Exclude<Availability, 'offline'>
      readonly begins: Instant
      readonly ends: Instant
    }[]
  >
}
