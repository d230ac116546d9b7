/**
 * The page: asks the hub who it is and who is asking, then shows the frame, or the door where a
 * token is asked for.
 */
import { useCallback, useEffect, useState } from 'react'
import { Frame } from './frame.tsx'
import { type Asker, HubRefused } from './hub/ask.ts'
import type { HubInfo } from './hub/context.tsx'
import type { Session } from './hub/session.ts'
import { Refusal, Waiting } from './parts/states.tsx'
import { SignIn } from './screens/sign-in.tsx'

type AppProps = { readonly session: Session; readonly ask: Asker }

type Found =
  | { readonly is: 'asking' }
  | { readonly is: 'stranger'; readonly error?: HubRefused }
  | { readonly is: 'failed'; readonly error: HubRefused }
  | { readonly is: 'known'; readonly info: HubInfo; readonly skewMs: number }

// How often the frame asks again for what the hub says of itself.
const REFRESH_MS = 30_000

export function App({ session, ask }: AppProps) {
  const [found, setFound] = useState<Found>({ is: 'asking' })

  const look = useCallback(async () => {
    try {
      const info = await ask.get<HubInfo>('/v1/hub')
      setFound({ is: 'known', info, skewMs: Date.parse(info.now) - Date.now() })
    } catch (error) {
      if (!(error instanceof HubRefused)) throw error
      setFound((before) => judge(before, error, session.token() !== undefined))
    }
  }, [ask, session])

  useEffect(() => {
    void look()
    const timer = setInterval(() => void look(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [look])

  const signOut = useCallback(() => {
    session.signOut()
    setFound({ is: 'stranger' })
  }, [session])

  if (found.is === 'known') {
    return <Frame {...{ ask, info: found.info, skewMs: found.skewMs, look, signOut }} />
  }
  if (found.is === 'stranger') {
    return (
      <SignIn
        error={found.error}
        signIn={(token, kept) => {
          session.signIn(token, kept)
          return look()
        }}
      />
    )
  }
  return (
    <main className="door">
      {found.is === 'failed' ? (
        <Refusal error={found.error} retry={() => void look()} />
      ) : (
        <Waiting />
      )}
    </main>
  )
}

/** A hub that is away for a while does not sign anybody out. */
function judge(before: Found, error: HubRefused, tried: boolean): Found {
  if (error.status === 401 || error.status === 403) {
    return tried ? { is: 'stranger', error } : { is: 'stranger' }
  }
  return before.is === 'known' ? before : { is: 'failed', error }
}
