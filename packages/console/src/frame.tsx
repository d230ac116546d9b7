/**
 * The frame around every screen: where one can go, whether what is shown is live, who is asking.
 * It follows the live feed once for all screens.
 */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { sentence } from './format/text.ts'
import type { Asker } from './hub/ask.ts'
import type { HubInfo, HubLink, Listener } from './hub/context.tsx'
import { type Follower, followHub, type LinkState } from './hub/follow.ts'
import { HubGiven, WaitingCount } from './hub/reviews.tsx'
import { Keys } from './keys.tsx'
import { LinkStatus, LostBar } from './link.tsx'
import { Link, Name } from './parts/shown.tsx'
import { AgentScreen } from './screens/agent.tsx'
import { AuditScreen } from './screens/audit.tsx'
import { CampaignsScreen } from './screens/campaigns.tsx'
import { MoneyScreen } from './screens/money.tsx'
import { NetworkScreen } from './screens/network.tsx'
import { OperateScreen } from './screens/operate.tsx'
import { ReviewScreen } from './screens/review.tsx'
import { WorkScreen } from './screens/work.tsx'
import { roleOf, screensFor } from './state/role.ts'
import { isNamed, type Route, readRoute, type Screen, writeRoute } from './state/route.ts'

type FrameProps = {
  readonly ask: Asker
  readonly info: HubInfo
  readonly skewMs: number
  readonly look: () => Promise<void>
  readonly signOut: () => void
}

const TICK_MS = 1_000

export function Frame({ ask, info, skewMs, look, signOut }: FrameProps) {
  const { route, go } = useRoute(info)
  const { link, retryNow, subscribe } = useFollower(ask, look)
  const now = useNow(skewMs)
  const main = useRef<HTMLElement>(null)
  const shown = writeRoute({
    screen: route.screen,
    ...(route.id !== undefined && { id: route.id }),
  })

  // Whoever listens is told that the screen has changed; the first one is not a change.
  const before = useRef(shown)
  useEffect(() => {
    document.title = `${sentence(route.screen)} · Chimera`
    if (before.current !== shown) main.current?.focus()
    before.current = shown
  }, [route.screen, shown])

  const hub = useMemo<HubLink>(
    () => ({ ask, info, link, retryNow, subscribe, route, go, now }),
    [ask, info, link, retryNow, subscribe, route, go, now],
  )
  return (
    <HubGiven hub={hub}>
      <a className="skip" href="#main">
        Skip to what is shown
      </a>
      <div className="frame">
        <header className="side">
          <Link to={{ screen: 'network' }} className="wordmark">
            <Mark /> Chimera
          </Link>
          <nav aria-label="Screens">
            {screensFor(info).map((screen) => (
              <Link key={screen} to={{ screen }} current={route.screen === screen}>
                <Icon screen={screen} />
                <span>{sentence(screen)}</span>
                {screen === 'review' && <WaitingCount />}
              </Link>
            ))}
          </nav>
          <div className="who">
            <LinkStatus />
            <p>
              <You info={info} />
            </p>
            <p className="hint">
              <kbd>?</kbd> shows the keys
            </p>
            {!info.open && (
              <button type="button" className="quiet" onClick={signOut}>
                Sign out
              </button>
            )}
          </div>
        </header>
        <main id="main" ref={main} tabIndex={-1}>
          <LostBar />
          <Shown route={route} />
        </main>
      </div>
      <Keys />
    </HubGiven>
  )
}

function Shown({ route: { screen, id } }: { readonly route: Route }) {
  if (screen === 'work') return <WorkScreen />
  if (screen === 'campaigns') return <CampaignsScreen />
  if (screen === 'review') return <ReviewScreen />
  if (screen === 'money') return <MoneyScreen />
  if (screen === 'audit') return <AuditScreen />
  if (screen === 'operate') return <OperateScreen />
  return id === undefined ? <NetworkScreen /> : <AgentScreen key={id} id={id} />
}

function You({ info: { open, you } }: { readonly info: HubInfo }) {
  if (open) return <span title="Whoever reaches this hub may use it">Open hub, no sign-in</span>
  if (you.kind === 'operator') return <span>Operator</span>
  return (
    <span>
      {roleOf({ you }) === 'reviewer' ? 'Reviewer for' : 'Owner'} <Name text={you.owner_id ?? ''} />
    </span>
  )
}

function useRoute(info: HubInfo) {
  const read = () => {
    const asked = readRoute(location.pathname, location.search)
    // Who came to no screen in particular begins where it is waited for.
    const [first = asked.screen] = screensFor(info)
    return isNamed(location.pathname) ? asked : { ...asked, screen: first }
  }
  const [route, setRoute] = useState(read)
  useEffect(() => {
    const onPop = () => setRoute(readRoute(location.pathname, location.search))
    addEventListener('popstate', onPop)
    return () => removeEventListener('popstate', onPop)
  }, [])
  const go = useCallback<HubLink['go']>((to, replace = false) => {
    const next = { query: {}, ...to }
    if (replace) history.replaceState(null, '', writeRoute(next))
    else history.pushState(null, '', writeRoute(next))
    setRoute(next)
    if (!replace) scrollTo(0, 0)
  }, [])
  return { route, go }
}

function useFollower(ask: Asker, look: () => Promise<void>) {
  const [link, setLink] = useState<LinkState>({ is: 'connecting' })
  const listeners = useRef(new Set<Listener>())
  const follower = useRef<Follower>(undefined)
  useEffect(() => {
    let wasLost = false
    follower.current = followHub({
      headers: ask.headers,
      onEvents: (events) => {
        for (const each of listeners.current) each.events(events)
      },
      onGap: () => {
        for (const each of listeners.current) each.gap()
      },
      onState: (state) => {
        setLink(state)
        // The hub may be another one now, or no longer know us.
        if (state.is === 'refused' || (state.is === 'live' && wasLost)) void look()
        wasLost = state.is === 'lost'
      },
    })
    const retry = () => follower.current?.retryNow()
    addEventListener('online', retry)
    return () => {
      removeEventListener('online', retry)
      follower.current?.close()
    }
  }, [ask, look])
  const subscribe = useCallback<HubLink['subscribe']>((listener) => {
    listeners.current.add(listener)
    return () => listeners.current.delete(listener)
  }, [])
  const retryNow = useCallback(() => follower.current?.retryNow(), [])
  return { link, retryNow, subscribe }
}

function useNow(skewMs: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now + skewMs
}

function Mark() {
  return (
    <svg viewBox="0 0 24 24" className="mark" aria-hidden="true">
      <path d="M12 5 5 18.5M12 5l7 13.5M5 18.5h14" />
      <circle cx="12" cy="5" r="3" />
      <circle cx="5" cy="18.5" r="3" />
      <circle cx="19" cy="18.5" r="3" />
    </svg>
  )
}

const ICONS: Readonly<Record<Screen, string>> = {
  network:
    'M12 3.5a2 2 0 1 0 0 4 2 2 0 1 0 0-4M5.5 16a2 2 0 1 0 0 4 2 2 0 1 0 0-4' +
    'M18.5 16a2 2 0 1 0 0 4 2 2 0 1 0 0-4M11 7.4 6.5 16M13 7.4l4.5 8.6M7.6 18h8.8',
  work: 'M4 6h10M4 12h16M4 18h7',
  campaigns: 'M4 5h4v14H4zM10 5h4v9h-4zM16 5h4v11h-4z',
  review: 'M5 4h14v11H11l-4 4v-4H5zM9 9.5l2 2 4-4',
  money:
    'M12 4a8 8 0 1 0 0 16 8 8 0 1 0 0-16M14.6 9.4c-.6-.7-1.5-1-2.5-1' +
    '-1.9 0-3.2 1.6-3.2 3.6s1.3 3.6 3.2 3.6c1 0 1.9-.3 2.5-1',
  audit: 'M5 12.5 9.5 17 19 7',
  operate: 'M4 18v-4m5.3 4V9m5.4 9v-6M20 18V6',
}

function Icon({ screen }: { readonly screen: Screen }) {
  return (
    <svg viewBox="0 0 24 24" className="icon" aria-hidden="true">
      <path d={ICONS[screen]} />
    </svg>
  )
}
