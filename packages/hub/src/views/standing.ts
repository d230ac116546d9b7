/**
 * How an agent stands, as far as a hub can know: by its instances where they post, else by what it
 * said of itself while that is fresh, else by its beats alone.
 *
 *   H1  Who is offline has stopped, whatever it said before.
 *   H2  Slots in use count as running work; only the agent knows of more.
 */
import {
  type Condition,
  nameByWork,
  type Standing,
  type Workload,
} from '@chimera/domain/agent/condition'
import type { Instant } from '@chimera/domain/ids'
import { feedAgesAt } from '@chimera/domain/presence/liveness'
import type { Liveness } from '@chimera/domain/presence/presence'
import type { Shown } from './candidates.ts'
import type { Said } from './observed.ts'

export type Known = {
  readonly liveness: Liveness
  readonly instances: readonly Shown[]
  readonly said: Said
  /** Its last sign of life. */
  readonly heardAt: Instant
}

const NO_WORK: Workload = { running: 0, awaiting: 0, slotsTotal: 0, slotsFree: 0 }

export function standingFrom(
  { liveness, instances, said, heardAt }: Known,
  now: Instant,
): Standing {
  if (liveness === 'offline') {
    return { condition: { name: 'stopped', since: heardAt }, workload: NO_WORK }
  }
  const there = instances.filter(({ availability }) => availability !== 'offline')
  if (there.length > 0) return standingByPosts(there)
  const stated = said.condition
  if (stated !== undefined && isFresh(stated, now)) return standingAsStated(stated)
  return { condition: { name: 'idle', since: heardAt }, workload: NO_WORK }
}

function standingByPosts(instances: readonly Shown[]): Standing {
  const workload = instances.reduce<Workload>((sum, { seen: { last } }) => {
    return {
      running: sum.running + last.slotsTotal - last.slotsFree,
      awaiting: 0,
      slotsTotal: sum.slotsTotal + last.slotsTotal,
      slotsFree: sum.slotsFree + last.slotsFree,
    }
  }, NO_WORK)
  const accepting = instances.some(({ availability }) => availability !== 'draining')
  const since = Math.max(...instances.map(({ seen }) => seen.seenAt))
  return { condition: { name: accepting ? nameByWork(workload) : 'draining', since }, workload }
}

type Stated = NonNullable<Said['condition']>

/** Idle and busy are repeated every minute; the others hold until something else is said. */
function isFresh({ stated, heardAt }: Stated, now: Instant): boolean {
  const ends = feedAgesAt({ heardAt, repeats: stated === 'idle' || stated === 'working' })
  return ends === undefined || now < ends
}

function standingAsStated({ stated, details, at: since }: Stated): Standing {
  const running = details.tasks ?? 0
  const workload = { ...NO_WORK, running }
  return { condition: conditionOf(stated, details, since), workload }
}

function conditionOf(
  stated: Stated['stated'],
  { until, reason, fault }: Stated['details'],
  since: Instant,
): Condition {
  if (stated === 'maintenance') {
    const known = { ...(until !== undefined && { until }), ...(reason !== undefined && { reason }) }
    return { name: 'maintenance', since, ...known }
  }
  if (stated === 'error' && fault !== undefined) return { name: 'error', since, fault }
  return { name: stated === 'working' ? 'working' : 'idle', since }
}
