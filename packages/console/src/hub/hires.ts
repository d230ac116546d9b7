/** The hires of late, from the past of the feed and kept up to date by it. */
import { useEffect, useMemo, useState } from 'react'
import { type FactPage, isWhole, type Told } from '../state/events.ts'
import { applyHires, HIRE_KINDS, type Hires } from '../state/hires.ts'
import type { HubRefused } from './ask.ts'
import { useAnswer, useLive } from './context.tsx'

const PAGE = 500

export type HiresLoaded = {
  readonly hires: Hires
  readonly ready: boolean
  readonly error: HubRefused | undefined
  /** Before this one there may be more. */
  readonly before: number | undefined
  readonly older: () => void
}

export function useHires(filter: Readonly<Record<string, string>> = {}): HiresLoaded {
  const query = new URLSearchParams({
    topics: 'work,ledger,trust',
    kinds: HIRE_KINDS.join(','),
    limit: String(PAGE),
    ...filter,
  }).toString()
  const [from, setFrom] = useState<number>()
  const path = `/v1/facts?${query}${from === undefined ? '' : `&before=${from}`}`
  const page = useAnswer((ask, signal) => ask.get<FactPage>(path, signal), path)
  const [hires, setHires] = useState<Hires>(() => new Map())
  const [ready, setReady] = useState(false)

  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is another list
  useEffect(() => {
    setHires(new Map())
    setFrom(undefined)
  }, [query])
  useEffect(() => {
    if (page.data === undefined) return
    const told = page.data.facts.filter((row): row is Told => !isWhole(row))
    setHires((before) => applyHires(before, told))
    setReady(true)
  }, [page.data])

  const { agent_id: agent, task_id: task } = filter
  useLive((events) => {
    const own = events.filter(
      (each) =>
        (agent === undefined || each.agent_id === agent || each.planner_id === agent) &&
        (task === undefined || each.task_id === task),
    )
    if (own.length > 0) setHires((before) => applyHires(before, own))
  }, page.reload)

  const next = page.data?.next_before
  return useMemo(
    () => ({ hires, ready, error: page.error, before: next, older: () => setFrom(next) }),
    [hires, ready, page.error, next],
  )
}
