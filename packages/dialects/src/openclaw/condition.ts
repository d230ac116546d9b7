/**
 * The lifecycle in OpenClaw's four words, and back. What comes back is what somebody stated
 * of itself: an observation to set beside what is known, never in its place.
 */

import { type Fault, type Standing, tasksOf } from '@chimera/domain/agent/condition'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Rhythm } from '@chimera/domain/voice/cadence'
import { instantOf, writeInstant } from '../wire.ts'
import { clip } from './names.ts'
import type { Status, StatusDetails, StatusWord } from './schema.ts'

export type Stated = 'idle' | 'working' | 'maintenance' | 'error'

export type StatedDetails = {
  readonly tasks?: number
  readonly fault?: Fault
  readonly until?: Instant
  readonly reason?: string
}

/** What an agent said of its condition, and from when on. */
export type StatedCondition = {
  readonly stated: Stated
  readonly details: StatedDetails
  readonly at: Instant
}

const HOUR_MS = 3_600_000
/** An unknown end is announced an hour ahead and renewed; who has stopped renews nothing. */
const OPEN_END_MS = HOUR_MS
const STOPPED_MS = 24 * HOUR_MS
/** An identity need not say whether its error will pass; we assume that it will not. */
const UNSAID_LASTING: Fault['lasting'] = 'permanent'

export function statusWord({ condition, workload }: Standing): StatusWord {
  switch (condition.name) {
    case 'idle':
      return 'idle'
    case 'working':
    case 'human_review':
      return 'busy'
    case 'draining':
      return tasksOf(workload) > 0 ? 'busy' : 'maintenance'
    case 'paused':
    case 'maintenance':
    case 'stopped':
      return 'maintenance'
    case 'error':
      return 'error'
  }
}

// biome-ignore format: a table is read by its columns
const RHYTHMS: Record<StatusWord, Rhythm> = {
  idle: 'steady', busy: 'steady', maintenance: 'slow', error: 'silent',
}

/** How often a status is repeated (OC-4); the announced end of a maintenance is renewed in time. */
export function rhythmOf(word: StatusWord): Rhythm {
  return RHYTHMS[word]
}

export function encodeStatus(standing: Standing, now: Instant): Status {
  const { condition, workload } = standing
  const word = statusWord(standing)
  const tasks = tasksOf(workload)
  const details: StatusDetails = {
    ...((word === 'busy' || tasks > 0) && { active_tasks: tasks }),
    ...(condition.name === 'error' && encodeFault(condition.fault)),
  }
  if (word !== 'maintenance') {
    const empty = Object.keys(details).length === 0
    return stated(word, Math.min(condition.since, now), empty ? undefined : details)
  }
  const known = condition.name === 'maintenance' ? condition.until : undefined
  const reason = condition.name === 'maintenance' ? condition.reason : undefined
  // An end that has passed is no longer known. Renewing an open end is a change of the status.
  const open = known === undefined || known <= now
  const at = open ? now : Math.min(condition.since, now)
  const until = open ? at + (condition.name === 'stopped' ? STOPPED_MS : OPEN_END_MS) : known
  return stated(word, at, {
    ...details,
    maintenance_until: writeInstant(until),
    ...(reason !== undefined && { maintenance_reason: clip(reason, LIMITS.descriptionChars) }),
  })
}

const WORDS = { idle: 'idle', busy: 'working', maintenance: 'maintenance', error: 'error' } as const

export function decodeWord(word: StatusWord): Stated {
  return WORDS[word]
}

export function decodeStatus(status: Status): StatedCondition {
  const { current_status: word, status_details: details = {} } = status
  const { active_tasks, maintenance_until, maintenance_reason } = details
  const inMaintenance = word === 'maintenance'
  return {
    stated: WORDS[word],
    details: {
      ...(active_tasks !== undefined && { tasks: active_tasks }),
      ...(word === 'error' && { fault: decodeFault(details) }),
      ...(inMaintenance &&
        maintenance_until !== undefined && { until: instantOf(maintenance_until) }),
      ...(inMaintenance && maintenance_reason !== undefined && { reason: maintenance_reason }),
    },
    at: instantOf(status.status_timestamp),
  }
}

function stated(word: StatusWord, at: Instant, details: StatusDetails | undefined): Status {
  return {
    current_status: word,
    status_timestamp: writeInstant(at),
    ...(details && { status_details: details }),
  }
}

function encodeFault({ code, message, lasting }: Fault): StatusDetails {
  return {
    error_code: clip(code, LIMITS.skillChars),
    error_message: clip(message, LIMITS.descriptionChars),
    error_type: lasting,
  }
}

function decodeFault(details: StatusDetails): Fault {
  return {
    code: details.error_code ?? '',
    message: details.error_message ?? '',
    lasting: details.error_type ?? UNSAID_LASTING,
  }
}
