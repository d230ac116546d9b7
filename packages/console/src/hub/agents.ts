/** Everybody on the network, kept up to date by the feed and asked for again from time to time. */
import { useEffect, useState } from 'react'
import {
  type AgentMap,
  type AgentPage,
  type AgentRow,
  applyPost,
  listAgents,
  wantsAnew,
} from '../state/agents.ts'
import type { Asker } from './ask.ts'
import { type Loaded, useAnswer, useLive, useSettled } from './context.tsx'

// Heartbeats are not on the feed; their age is seen by asking.
const REFRESH_MS = 10_000
// After something changed: soon, and not for each of many changes.
const SOON_MS = 700
/** More than can be looked at; whoever has more searches by owner or skill. */
const MOST_PAGES = 10

export function useAgents(): Loaded<AgentMap> {
  const loaded = useAnswer(loadAgents, 'agents', REFRESH_MS)
  const [agents, setAgents] = useState<AgentMap>(() => new Map())
  useEffect(() => {
    if (loaded.data !== undefined) setAgents(listAgents(loaded.data))
  }, [loaded.data])
  const soon = useSettled(loaded.reload, SOON_MS)
  useLive((events) => {
    setAgents((before) => events.reduce(applyPost, before))
    if (events.some(wantsAnew)) soon()
  }, loaded.reload)
  return { ...loaded, data: loaded.data === undefined ? undefined : agents }
}

export async function loadAgents(ask: Asker, signal: AbortSignal): Promise<readonly AgentRow[]> {
  const all: AgentRow[] = []
  let after = ''
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { agents, next_after } = await ask.get<AgentPage>(`/v1/agents${after}`, signal)
    all.push(...agents)
    if (next_after === undefined) return all
    after = `?after=${encodeURIComponent(next_after)}`
  }
  return all
}
