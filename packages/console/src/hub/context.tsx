/**
 * What every screen is given: the hub to ask, what it says of itself, the live feed, the present
 * moment, and where in the page we are.
 */
import type { encodeHub } from '@chimera/dialects/chimera'
import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react'
import type { Told } from '../state/events.ts'
import type { Route } from '../state/route.ts'
import { type Asker, HubRefused } from './ask.ts'
import type { LinkState } from './follow.ts'

export type HubInfo = ReturnType<typeof encodeHub>

export type Listener = {
  readonly events: (events: readonly Told[]) => void
  readonly gap: () => void
}

export type HubLink = {
  readonly ask: Asker
  readonly info: HubInfo
  readonly link: LinkState
  readonly retryNow: () => void
  readonly subscribe: (listener: Listener) => () => void
  readonly route: Route
  readonly go: (to: Pick<Route, 'screen'> & Partial<Route>, replace?: boolean) => void
  /** By the hub's clock, so that ages are right on a machine whose own is wrong. */
  readonly now: number
}

export const HubContext = createContext<HubLink | undefined>(undefined)

export function useHub(): HubLink {
  const hub = useContext(HubContext)
  if (hub === undefined) throw new Error('no hub above')
  return hub
}

/** Whether everything is shown to the caller: an operator, or anybody on an open hub. */
export const isOperator = ({ you }: HubInfo): boolean =>
  you.kind === 'operator' || you.kind === 'anybody'

export function useLive(events: Listener['events'], gap: Listener['gap']): void {
  const { subscribe } = useHub()
  const onEvents = useEffectEvent(events)
  const onGap = useEffectEvent(gap)
  useEffect(() => subscribe({ events: (all) => onEvents(all), gap: () => onGap() }), [subscribe])
}

export type Loaded<Answer> = {
  readonly data: Answer | undefined
  readonly error: HubRefused | undefined
  readonly loading: boolean
  readonly reload: () => void
}

/** What was there stays while it is asked for again, and when that fails. */
export function useAnswer<Answer>(
  load: ((ask: Asker, signal: AbortSignal) => Promise<Answer>) | undefined,
  key: string,
  everyMs?: number,
): Loaded<Answer> {
  const { ask, link } = useHub()
  const [state, setState] = useState<{
    readonly key: string
    readonly data?: Answer
    readonly error?: HubRefused
    readonly loading: boolean
  }>({ key, loading: true })
  const [turn, setTurn] = useState(0)
  const busy = useRef(false)
  const onLoad = useEffectEvent((signal: AbortSignal) => load?.(ask, signal))
  const wanted = load !== undefined

  // biome-ignore lint/correctness/useExhaustiveDependencies: the turn is what asks for it anew
  useEffect(() => {
    if (!wanted) return
    const leaving = new AbortController()
    const run = async () => {
      if (busy.current) return
      busy.current = true
      try {
        const data = await onLoad(leaving.signal)
        if (leaving.signal.aborted) return
        setState({ key, loading: false, ...(data !== undefined && { data }) })
      } catch (error) {
        if (leaving.signal.aborted) return
        const refused = error instanceof HubRefused ? error : undefined
        setState((before) => ({
          ...(before.key === key ? before : { key }),
          loading: false,
          ...(refused && { error: refused }),
        }))
      } finally {
        busy.current = false
      }
    }
    void run()
    const timer = everyMs === undefined ? undefined : setInterval(() => void run(), everyMs)
    return () => {
      leaving.abort()
      busy.current = false
      clearInterval(timer)
    }
  }, [key, turn, everyMs, wanted])

  const reload = useCallback(() => setTurn((each) => each + 1), [])
  const isLive = link.is === 'live'
  const onBack = useEffectEvent(() => {
    if (state.error?.status === 0) reload()
  })
  // What could not be asked while the hub was away is asked when it is back.
  useEffect(() => {
    if (isLive) onBack()
  }, [isLive])
  const own = state.key === key
  return {
    data: own ? state.data : undefined,
    error: own ? state.error : undefined,
    loading: wanted && (!own || state.loading),
    reload,
  }
}

/** Calls at most once in so long a time, and once more behind the last call. */
export function useSettled(act: () => void, ms: number): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const onAct = useEffectEvent(act)
  useEffect(() => () => clearTimeout(timer.current), [])
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      onAct()
    }, ms)
  }, [ms])
}
