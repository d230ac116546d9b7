/** What a record becomes by what has happened, and what is read from it. Pure. */
import type { PublishAsked } from '@chimera/dialects/skills/decode'
import { shownOn } from '@chimera/dialects/skills/posting'
import type { Digest, Instant } from '@chimera/domain/ids'
import { namedUuid } from '../named-uuid.ts'
import type { KeptPost, Planned, PlannedRecord } from './keep.ts'
import type { Post } from './platform.ts'

/** A platform that was asked in vain is asked again after so long, then twice that, and so on. */
const FIRST_LOOK_MS = 15_000
const MOST_LOOK_MS = 3_600_000
/** How often a scheduled post is tried that its platform surely does not have: half an hour. */
const MOST_FAILURES = 8

/** One content on one platform. */
export const keyOf = ({ content, platform }: PublishAsked): string =>
  namedUuid('publication', content, platform)

export const isSamePlan = (
  kept: Planned,
  { scheduledAt }: Pick<PublishAsked, 'scheduledAt'>,
  bytes: Digest,
): boolean => kept.bytes === bytes && kept.scheduledAt === scheduledAt

/** Something may be at the platform: other content must not take its place. */
export const isUnderWay = ({ stage }: Planned): boolean =>
  stage === 'sending' || stage === 'unknown'

/** As the platform is given it; with its time where it is handed over before that. */
export function postOf({ key, kept }: PlannedRecord, early: boolean): Post {
  const { platform, content, approval, scheduledAt } = kept
  return {
    key,
    platform,
    ...shownOn(platform, content),
    content,
    approval: { id: approval.id, reviewer: approval.reviewer },
    ...(early && scheduledAt !== undefined && { scheduledAt }),
  }
}

/**
 * The platform surely has nothing. A scheduled one wakes somebody again, and is given up in the
 * end; what was asked for at once waits for its asker. `failedAt`: this try counts as a failure.
 */
export function nothingCame(record: PlannedRecord, failedAt?: Instant): PlannedRecord {
  const kept = letGo(record.kept)
  const failures = kept.failures + (failedAt === undefined ? 0 : 1)
  const over = kept.scheduledAt !== undefined && failures >= MOST_FAILURES
  const wakeAt = failedAt === undefined ? 0 : failedAt + lookMs(failures)
  return {
    key: record.key,
    version: record.version,
    ...(kept.scheduledAt !== undefined && !over && { wakeAt }),
    kept: { ...kept, failures, stage: over ? 'failed' : 'ready' },
  }
}

/** Nobody knows, and somebody looks again: at the time given, or later with each look. */
export function leftOpen(record: PlannedRecord, now: Instant, wakeAt?: Instant): PlannedRecord {
  const kept = letGo(record.kept)
  const failures = kept.failures + 1
  return {
    key: record.key,
    version: record.version,
    wakeAt: wakeAt ?? now + lookMs(failures),
    kept: { ...kept, failures, stage: 'unknown' },
  }
}

export const isOut = ({ key, version, kept }: PlannedRecord, posted: KeptPost): PlannedRecord => ({
  key,
  version,
  kept: { ...letGo(kept), stage: 'posted', posted },
})

function letGo({ holder: _, leaseUntil: __, ...kept }: Planned): Planned {
  return kept
}

const lookMs = (failures: number): number =>
  Math.min(FIRST_LOOK_MS * 2 ** Math.max(0, failures - 1), MOST_LOOK_MS)
