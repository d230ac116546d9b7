/** What several tests of the skills begin with: an agent, its record, and parts of random ones. */
import type { Condition, ConditionName } from '@chimera/domain/agent/condition'
import type { AgentRecord } from '@chimera/domain/agent/record'
import type { AgentId } from '@chimera/domain/ids'
import fc from 'fast-check'

export const NOW = Date.UTC(2026, 1, 11, 14, 15, 9)
export const AGENT = 'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as AgentId
export const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7'
export const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
export const maybe = <Value>(each: fc.Arbitrary<Value>) => fc.option(each, { nil: undefined })

/** Without the members that are undefined. */
export const plain = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value

export const conditionOf = (name: ConditionName): Condition =>
  name === 'error'
    ? { name, since: 0, fault: { code: 'X', message: 'x', lasting: 'permanent' } }
    : { name, since: 0 }

export const workload = (running: number, slotsFree: number, slotsTotal = 5) => ({
  running,
  awaiting: 0,
  slotsTotal,
  slotsFree,
})

export const recordOf = (name: ConditionName, running = 0): AgentRecord => ({
  agent: AGENT,
  version: 7,
  standing: { condition: conditionOf(name), workload: workload(running, 5 - running) },
  pendingTasks: running,
})
