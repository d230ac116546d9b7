/** Sealed facts and presence posts as one sequence, the same for every reader of every hub. */
import type { LiveEntry, LivePlace } from '@chimera/domain/live'

export type LiveLog = {
  readonly span: () => Promise<{
    /** Everything that can be read now lies before it. */
    readonly now: LivePlace
    /** The last transaction of which posts are no longer kept; below 0 for none. */
    readonly droppedTx: number
  }>
  readonly after: (
    place: LivePlace,
    wanted: { readonly posts: boolean; readonly limit?: number },
  ) => Promise<LivePage>
}

export type LivePage = {
  readonly entries: readonly LiveEntry[]
  /** How far it was read; where the next page begins. */
  readonly through: LivePlace
  /** There is more, now or as soon as what is being written is. */
  readonly more: boolean
}
