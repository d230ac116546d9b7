/** The keys that the hub itself has signed with, each with its period (P-15). */
import type { Key, KeyFact, KeyHistory } from '@chimera/domain/agent/keys'
import type { Decision } from '@chimera/domain/decision'
import type { CorrelationId } from '@chimera/domain/ids'

export type HubKeys = {
  /** Takes up the key that the hub is started with, unless it was replaced before. */
  readonly adopt: (key: Key, correlation: CorrelationId) => Promise<Decision<KeyFact, 'key_reused'>>
  readonly history: () => Promise<KeyHistory>
}
