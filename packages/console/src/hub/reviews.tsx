/**
 * What waits for a person, asked for once for all who show it: the count in the frame and the list
 * on its screen. Reviews are not on the live feed, so they are asked for again and again, as long
 * as somebody looks.
 */
import type { encodeReviews } from '@chimera/dialects/chimera'
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react'
import {
  HubContext,
  type HubInfo,
  type HubLink,
  type Loaded,
  useAnswer,
  useHub,
} from './context.tsx'
import { NameKept } from './reviewer.tsx'

export type ReviewPage = ReturnType<typeof encodeReviews>

const EVERY_MS = 4_000

const WaitingContext = createContext<Loaded<ReviewPage> | undefined>(undefined)

/** The hub for whatever is inside, with what waits there. */
export function HubGiven({
  hub,
  children,
}: {
  readonly hub: HubLink
  readonly children: ReactNode
}) {
  return (
    <HubContext value={hub}>
      <Kept>
        <NameKept>{children}</NameKept>
      </Kept>
    </HubContext>
  )
}

function Kept({ children }: { readonly children: ReactNode }) {
  const { info } = useHub()
  const waiting = useWatched<ReviewPage>(
    ownsSomething(info) ? '/v1/reviews?limit=50' : undefined,
    'reviews',
  )
  return <WaitingContext value={waiting}>{children}</WaitingContext>
}

export function useWaiting(): Loaded<ReviewPage> {
  const waiting = useContext(WaitingContext)
  if (waiting === undefined) throw new Error('no hub above')
  return waiting
}

/** Campaigns and reviews are an owner's; an operator has none, nor has whoever is nobody. */
export const ownsSomething = ({ you }: HubInfo): boolean => you.owner_id !== undefined

/** An answer that is asked for anew as long as the page is seen. */
export function useWatched<Answer>(path: string | undefined, key: string): Loaded<Answer> {
  const seen = useSyncExternalStore(onSeen, isSeen)
  return useAnswer(
    path === undefined ? undefined : (ask, signal) => ask.get<Answer>(path, signal),
    path ?? key,
    seen ? EVERY_MS : undefined,
  )
}

const isSeen = (): boolean => document.visibilityState === 'visible'

function onSeen(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed)
  return () => document.removeEventListener('visibilitychange', changed)
}

export function WaitingCount() {
  const { data } = useWaiting()
  const count = data?.reviews.length ?? 0
  if (count === 0) return null
  return (
    <span className="count">
      {count}
      {data?.next_after !== undefined && '+'}
      <span className="unseen"> waiting</span>
    </span>
  )
}
