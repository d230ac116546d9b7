/** The latest of what others have said, so that the views which show it survive a restart (A3). */
import type { IdentityObserved, ScoreObserved, StatedCondition } from '@chimera/dialects/openclaw'
import type { ProfileObserved } from '@chimera/dialects/skills'
import type { Holder } from '@chimera/domain/agent/alias'
import type { Instant } from '@chimera/domain/ids'
import type { Declaration } from '@chimera/domain/presence/declaration'
import type { StatusReport } from '@chimera/domain/presence/ingest'

/** What is kept of each kind. The subject is an instance, an agent, or a name in the feed. */
export type Bodies = {
  readonly declaration: Declaration
  readonly identity: IdentityObserved
  readonly condition: StatedCondition
  readonly score: ScoreObserved
  /** The profile that the agent signed last. */
  readonly profile: ProfileObserved
  /** Under a name that belongs to somebody. */
  readonly status: { readonly report: StatusReport; readonly holder: Holder }
  /** Under a name of nobody's; apart, so that it never stands in the way of its later holder. */
  readonly rumour: { readonly report: StatusReport }
}
export type ObservationKind = keyof Bodies

export type Kept<Kind extends ObservationKind = ObservationKind> = {
  [Each in Kind]: {
    readonly kind: Each
    readonly subject: string
    /** Whom it counts for: what is bounded and forgotten together. */
    readonly about: string
    /** By the sender's clock. */
    readonly at: Instant
    readonly heardAt: Instant
    readonly body: Bodies[Each]
  }
}[Kind]

export type Observations = {
  /**
   * Kept when it answers, if nothing newer is; answers with what is kept afterwards, which another
   * hub may have heard.
   */
  readonly put: <Put extends Kept>(observation: Put) => Promise<Put>
  /** The longest unheard first. */
  readonly loadAll: <Kind extends ObservationKind>(
    kind: Kind,
  ) => AsyncIterable<readonly Kept<Kind>[]>
  readonly load: <Kind extends ObservationKind>(
    names: readonly { readonly kind: Kind; readonly subject: string }[],
  ) => Promise<readonly Kept<Kind>[]>
  readonly forget: (about: string) => Promise<void>
  /** Keeps so many of a kind about each, those heard last. */
  readonly prune: (kind: ObservationKind, most: number) => Promise<number>
}
