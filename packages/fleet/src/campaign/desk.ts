/**
 * Where campaigns are kept and people asked: a port. The hub is the one that others can look at;
 * see hub-desk.ts.
 */
import type { CampaignRecord, ReviewSeen, ReviewWanted } from '@chimera/dialects/chimera'

export type Kept = {
  readonly record: CampaignRecord
  /** What a person wants of it. */
  readonly wish?: 'pause' | 'resume'
}

export type CampaignDesk = {
  /** Undefined: never heard of. */
  readonly load: (id: string, signal: AbortSignal) => Promise<Kept | undefined>
  /** Refused where another has told a later one: then somebody else runs the campaign. */
  readonly save: (record: CampaignRecord, signal: AbortSignal) => Promise<void>
  /** Shows it to a person; shown again, it is the same review. */
  readonly open: (review: ReviewWanted, signal: AbortSignal) => Promise<void>
  readonly review: (id: string, signal: AbortSignal) => Promise<ReviewSeen | undefined>
}
