/** The last 24 hours of an agent as a band: when somebody heard from it, and what it said. */

import { useState } from 'react'
import { exactText, spanText } from '../format/time.ts'
import type { Asker } from '../hub/ask.ts'
import { useAnswer, useHub, useLive } from '../hub/context.tsx'
import { type Post, postOf, spansOf } from '../state/presence.ts'
import { Refusal } from './states.tsx'

const DAY_MS = 24 * 60 * 60 * 1_000
const WIDTH = 960
const HEIGHT = 26
const PAGE = 200
/** A day of posts of one instance, and some more. */
const MOST_PAGES = 20
const MOST_NOW = 500

type Events = { readonly events: readonly (Post & { readonly event_id: string })[] }

async function loadPosts(ask: Asker, id: string, signal: AbortSignal): Promise<readonly Post[]> {
  const posts: Post[] = []
  const query = new URLSearchParams({ agent_id: id, limit: String(PAGE) })
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { events } = await ask.get<Events>(`/moltbook/v1/presence-events?${query}`, signal)
    posts.push(...events)
    const last = events.at(-1)
    if (last === undefined || events.length < PAGE) break
    query.set('after', last.event_id)
  }
  return posts
}

export function Presence({ id }: { readonly id: string }) {
  const { now } = useHub()
  const loaded = useAnswer((ask, signal) => loadPosts(ask, id, signal), id)
  const [heardNow, setHeardNow] = useState<readonly Post[]>([])
  useLive((events) => {
    const own = events.filter(({ kind, agent_id }) => kind === 'instance_seen' && agent_id === id)
    if (own.length > 0) setHeardNow((before) => [...before, ...own.map(postOf)].slice(-MOST_NOW))
  }, loaded.reload)
  if (loaded.error) return <Refusal error={loaded.error} retry={loaded.reload} />
  const from = now - DAY_MS
  const x = (at: number) => Math.round(((at - from) / DAY_MS) * WIDTH * 10) / 10
  const spans = spansOf([...(loaded.data ?? []), ...heardNow], { from, until: now })
  const heard = spans.reduce((sum, { begins, ends }) => sum + ends - begins, 0)
  const share = `${spanText(heard)} of the last 24 hours`
  return (
    <div className="pad">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="presence"
        role="img"
        aria-label={`Heard for ${share}`}
      >
        <rect className="base" width={WIDTH} height={HEIGHT} rx="5" />
        {spans.map(({ begins, ends, state }) => (
          <rect
            key={begins}
            className={state}
            x={x(begins)}
            width={Math.max(1.5, x(ends) - x(begins))}
            height={HEIGHT}
          >
            <title>{`${state} from ${exactText(begins)}`}</title>
          </rect>
        ))}
      </svg>
      <p className="muted small">Heard for {share}</p>
    </div>
  )
}
