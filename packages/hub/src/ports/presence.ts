/** Presence posts as they were received (AV-10). */
import type { AgentId, InstanceId, Instant } from '@chimera/domain/ids'
import type { Announcement, Availability } from '@chimera/domain/presence/presence'

/** A presence post as it was received, and what came of it. */
export type PresenceEvent = {
  readonly id: string
  readonly announcement: Announcement
  readonly receivedAt: Instant
  /** `verified`, or the refusal that the post met. */
  readonly verification: string
  readonly signature: string
  readonly raw: string
}

export type PresenceQuery = {
  readonly agent?: AgentId
  readonly instance?: InstanceId
  readonly state?: Availability
  /** The last 24 hours if nothing is said. */
  readonly since?: Instant
  readonly until?: Instant
  readonly after?: { readonly receivedAt: Instant; readonly id: string }
  readonly first: 'oldest'
  readonly limit: number
}

export type PresenceEvents = {
  /** Answers when it is kept. */
  readonly append: (event: PresenceEvent) => Promise<void>
  readonly find: (query: PresenceQuery) => Promise<readonly PresenceEvent[]>
  /** Makes room for the coming day and lets go of those that are over, 24 hours aside. */
  readonly turnDays: () => Promise<void>
}
