/**
 * The one lifecycle of this instance, as it is now. Work tells it the workload, the author and the
 * operator's orders command it, and all voices say what it has become. It decides nothing: the
 * domain does.
 *
 *   L1  Whoever watches is told after a change and never before, each change once and in order; one
 *       that an earlier watcher made comes after the one that it was told of.
 *   L2  A watcher that fails harms neither the change nor the other watchers.
 */
import {
  accepts,
  applyCondition,
  type Condition,
  type ConditionCommand,
  type ConditionFact,
  type ConditionRefusal,
  decideCondition,
  type Standing,
  type Workload,
} from '@chimera/domain/agent/condition'
import type { Decision } from '@chimera/domain/decision'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'

export type Watcher = (standing: Standing, before: Standing) => void

export type Lifecycle = {
  readonly standing: () => Standing
  /** Also how work tells its workload: `update_workload`. */
  readonly order: (command: ConditionCommand) => Decision<ConditionFact, ConditionRefusal>
  /** Returns the way to stop watching. */
  readonly watch: (watcher: Watcher) => () => void
}

export type LifecycleOptions = {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly slots: number
}

/** It begins stopped, with all of its slots free. */
export function createLifecycle({ clock, log, slots }: LifecycleOptions): Lifecycle {
  const workload: Workload = { running: 0, awaiting: 0, slotsTotal: slots, slotsFree: slots }
  let standing: Standing = { condition: { name: 'stopped', since: clock.now() }, workload }
  const watchers = new Set<Watcher>()
  const untold: (readonly [now: Standing, before: Standing])[] = []
  let telling = false

  function tell(): void {
    if (telling) return
    telling = true
    for (let next = untold.shift(); next; next = untold.shift()) {
      for (const watcher of watchers) {
        try {
          watcher(...next)
        } catch (error) {
          log.error({ err: error }, 'a watcher of the lifecycle failed')
        }
      }
    }
    telling = false
  }

  /** What work alone moves, it moves with every piece of it. */
  function note(to: Condition, from: Condition): void {
    if (to.name === from.name) return
    const level = accepts(to) && accepts(from) ? 'debug' : 'info'
    log[level]({ from: from.name, to: to.name }, 'the condition has changed')
  }

  return {
    standing: () => standing,
    order: (command) => {
      const decision = decideCondition(standing, command, clock.now())
      if (!decision.ok || decision.facts.length === 0) return decision
      const before = standing
      standing = decision.facts.reduce(applyCondition, standing)
      note(standing.condition, before.condition)
      untold.push([standing, before])
      tell()
      return decision
    },
    watch: (watcher) => {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
  }
}
